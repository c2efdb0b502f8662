"""The gate as a whole: it never raises, it fails closed, and what was rejected stays rejected."""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gitmem.model.judgement import Change, Decision, Facts, Neighbour, Resolution
from gitmem.model.nouns import (
    EVIDENCE_CLASSES,
    Alternative,
    Config,
    HumanRef,
    Link,
    Memory,
    MemoryRef,
    Scope,
    Span,
    Step,
    Tombstone,
    TombstoneEntry,
    TranscriptRef,
    Valid,
)
from gitmem.model.vocabulary import AUDIENCES, CHANNELS, KINDS, LINK_TYPES, OPS, ORIGIN_RANK, ROLES, STATUSES
from gitmem.policy.codes import CODES
from gitmem.policy.gate import RULES_VERSION, decide
from gitmem.policy.near import NEAR
from gitmem.policy.texts import WITHDRAWING, texts
from tests.policy.builders import (
    CONFIG,
    ID,
    NOW,
    OTHER,
    SHA,
    THIRD,
    create,
    facts,
    file_ref,
    memory,
    move,
    neighbour,
    tombstone,
    verified,
)
from tests.policy.code_cases import FAKE_TOKEN


def codes(change: Change, config: Config | None = CONFIG, **given: Any) -> list[str]:
    return [found.code for found in decide(change, facts(change, **given), config).reasons]


# Any record, any facts.

# Words of closed lists and of what is stored already; the texts of a new record may hold a secret as well.
STORED = st.text(max_size=12) | st.sampled_from(
    [ID, OTHER, SHA, "1" * 40, "2026-03-02", "0001-01-01T00:00+14:00", "a/b"]
)
WORD = STORED | st.just(FAKE_TOKEN)
# A whole record with its facts takes minutes to shrink, and the first example says enough.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
LEAF = WORD | st.integers() | st.booleans() | st.none() | st.floats()
NESTED = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORD, inner, max_size=2), max_leaves=4
)
EXTRA = st.dictionaries(WORD, NESTED, max_size=2)


def few(items: Any) -> Any:
    return st.lists(items, max_size=2).map(tuple)


def word(*known: Any) -> Any:
    return st.sampled_from(known) | STORED


def built(cls: type[Any], **given: Any) -> Any:
    """Instances of a noun: words for its strings, the given strategies for the rest."""
    hints = typing.get_type_hints(cls)
    made = {
        field.name: st.none() | WORD if hints[field.name] == (str | None) else WORD
        for field in dataclasses.fields(cls)
        if hints[field.name] in (str, str | None)
    }
    if "extra" in hints:
        made["extra"] = EXTRA
    return st.builds(cls, **{**made, **given})


VALID = st.builds(Valid, st.none() | WORD, st.none() | WORD, EXTRA)
SCOPE = st.builds(Scope, word("shop-k3x9qd"), word(*AUDIENCES), EXTRA)
SPAN = st.builds(Span, st.integers(), st.integers(), st.integers())
REFS = st.one_of(
    [
        built(
            cls,
            role=word(*ROLES),
            **({"span": SPAN} if cls is TranscriptRef else {}),
            **({"outcome": word("passed", "failed")} if name == "test" else {}),
        )
        for name, cls in EVIDENCE_CLASSES.items()
    ]
)
MEMORIES = built(
    Memory,
    id=word(ID, OTHER),
    kind=word(*KINDS),
    status=word(*STATUSES),
    scope=SCOPE,
    origin=word(*ORIGIN_RANK),
    aliases=few(WORD),
    alternatives=few(built(Alternative)),
    steps=few(built(Step)),
    claims=few(WORD),
    groundings=few(WORD),
    applies_to=few(WORD),
    tags=few(WORD),
    valid=VALID,
    links=few(st.builds(Link, word(*LINK_TYPES), word(ID, OTHER), st.none() | WORD)),
    evidence=few(REFS),
    format=st.integers(-1, 3),
)
RESOLUTIONS = st.builds(
    Resolution,
    REFS,
    word("verified", "changed", "missing", "unobservable"),
    STORED,
    STORED,
    st.none() | st.booleans(),
    st.booleans(),
)
TOMBSTONES = st.builds(
    Tombstone, WORD, WORD, WORD, few(st.builds(TombstoneEntry, word("reject", "lift"), STORED, STORED, STORED, STORED))
)
CHANGES = st.builds(Change, word(*OPS), MEMORIES, st.none() | MEMORIES, WORD)


@st.composite
def judged(draw: Any) -> tuple[Change, Facts, Config | None]:
    change = draw(CHANGES)
    looked_at = tuple(verified(ref) for ref in change.after.evidence)
    known = draw(
        st.builds(
            Facts,
            st.just(NOW),
            word(*CHANNELS),
            st.just(looked_at) | few(RESOLUTIONS),
            few(built(Neighbour, similarity=st.floats(0, 1), status=word(*STATUSES), where=word("main", "tombstone"))),
            st.none() | TOMBSTONES,
            st.none() | MEMORIES,
            st.dictionaries(word(ID, OTHER), MEMORIES, max_size=2),
            few(WORD),
            few(WORD),
        )
    )
    config = st.builds(
        Config, st.just("shop-k3x9qd"), few(WORD), unobservable=word("hold", "refuse"),
        evidence=st.dictionaries(word(*KINDS), few(STORED), max_size=2),
    )  # fmt: skip
    return change, known, draw(st.none() | config)


@settings(deadline=None, max_examples=60, phases=PHASES, suppress_health_check=list(HealthCheck))
@given(judged())
def test_it_never_raises_and_the_verdict_follows_from_the_reasons(case: tuple[Change, Facts, Config | None]) -> None:
    decision = decide(*case)
    verdicts = {CODES[found.code].verdict for found in decision.reasons}
    assert (decision.verdict == "refuse") == ("refuse" in verdicts)
    assert (decision.verdict == "hold") == (verdicts == {"hold"})
    assert (decision.verdict == "admit") == (not decision.reasons)
    assert decide(*case) == decision
    order = list(CODES)
    assert [order.index(r.code) for r in decision.reasons] == sorted(order.index(r.code) for r in decision.reasons)
    assert all(FAKE_TOKEN not in f"{found}" for found in decision.reasons)
    if case[2] is None:
        assert decision.verdict == "refuse"


def test_a_plain_change_is_admitted() -> None:
    change = create()
    assert decide(change, facts(change), CONFIG) == Decision("admit", (), "human")
    assert RULES_VERSION == 1


# Texts: nothing is overlooked.


def test_every_string_of_a_record_is_walked() -> None:
    record = memory(
        body="body", links=(Link("relates_to", OTHER, "why"),), evidence=(file_ref(quote="quote"),),
        alternatives=(Alternative("title", "because"),), extra={"deep": [{"key": ["leaf"]}], FAKE_TOKEN: 1},
    )  # fmt: skip
    found = {text.value: text.where for text in texts(record)}
    assert found["quote"] == "evidence[0].quote"
    assert found["why"] == "links[0].why"
    assert found["leaf"] == "extra.deep[0].key[0]"
    assert found[FAKE_TOKEN] == "extra"
    assert not any(FAKE_TOKEN in where for where in found.values())


@pytest.mark.parametrize(
    "fields",
    [
        {"title": f"Use {FAKE_TOKEN}"},
        {"body": FAKE_TOKEN},
        {"aliases": (FAKE_TOKEN,)},
        {"tags": (FAKE_TOKEN,)},
        {"cue": FAKE_TOKEN},
        {"claims": (FAKE_TOKEN,)},
        {"groundings": (FAKE_TOKEN,)},
        {"steps": (Step(FAKE_TOKEN),)},
        {"alternatives": (Alternative("Size 50", FAKE_TOKEN),)},
        {"links": (Link("relates_to", OTHER, FAKE_TOKEN),)},
        {"evidence": (file_ref(quote=FAKE_TOKEN),)},
        {"evidence": (file_ref(path=f"src/{FAKE_TOKEN}"),)},
        {"scope": Scope("shop-k3x9qd", extra={"note": [FAKE_TOKEN]})},
        {"scope": Scope("shop-k3x9qd", extra={FAKE_TOKEN: "note"})},
        {"scope": Scope("shop-k3x9qd", extra={"db_password": "Zq7" + "vT3mK9"})},
        {"title": "The staging database pass" + "word", "body": "Zq7" + "vT3mK9#"},
    ],
)
def test_a_secret_in_any_field_is_refused(fields: dict[str, Any]) -> None:
    linked = {OTHER: memory(id=OTHER)}
    assert set(codes(create(**fields), linked=linked)) == {"secret"}
    assert codes(create(), linked=linked) == []


def test_secrets_in_the_reason_the_names_and_exact_values_are_refused() -> None:
    change = move("retract", "active", "archived")
    assert codes(change, names=("retract the pool size",)) == []
    assert codes(change, names=(f"memory {FAKE_TOKEN}",)) == ["secret"]
    assert codes(replace(change, reason=FAKE_TOKEN)) == ["secret"]
    assert codes(create(body="call it swordfish"), exact_secrets=("swordfish",)) == ["secret"]


def test_a_record_that_slipped_in_bad_can_be_withdrawn_but_not_believed() -> None:
    bad = memory(title="", body=FAKE_TOKEN + "\u200b", evidence=(), tags=("",))
    for op, to in (("reject", "wrong"), ("retract", "archived"), ("dispute", "disputed")):
        assert codes(Change(op, replace(bad, status=to), bad, "it is bad")) == [], op
    believed = codes(Change("restore", bad, replace(bad, status="archived"), "it is good"))
    assert {"title.empty", "secret", "text.characters", "evidence.missing"} <= set(believed)
    assert {"reject", "retract", "dispute"} <= WITHDRAWING


# Evidence.


def test_only_new_evidence_of_a_withdrawal_is_judged() -> None:
    change = move("dispute", "active", "disputed", evidence=(file_ref(), file_ref(lines="9", role="contradicts")))
    old, new = change.after.evidence
    gone = (verified(old, state="changed"), verified(new))
    assert codes(change, resolutions=gone) == []
    assert codes(change, resolutions=(verified(old), verified(new, state="changed"))) == ["evidence.changed"]


def test_resolutions_belong_to_their_reference() -> None:
    change = create(evidence=(file_ref(), file_ref(lines="9")))
    first, second = (verified(ref) for ref in change.after.evidence)
    assert codes(change, resolutions=(first, second)) == []
    assert codes(change, resolutions=(second, first)) == ["evidence.unresolved"] * 2
    assert codes(change, resolutions=(first,)) == ["evidence.unresolved"]


def test_all_faulty_references_are_named() -> None:
    change = create(evidence=(file_ref(), file_ref(lines="9"), file_ref(lines="10")))
    a, b, c = change.after.evidence
    reasons = decide(
        change,
        facts(change, resolutions=(verified(a), verified(b, state="missing"), verified(c, state="changed"))),
        CONFIG,
    ).reasons
    assert [(r.code, r.where) for r in reasons] == [
        ("evidence.changed", "evidence[2]"),
        ("evidence.gone", "evidence[1]"),
    ]


def test_the_assistants_words_are_not_the_persons() -> None:
    said = TranscriptRef("s", "r", Span(0, 10, 40), SHA, "human", "retries should be 7")
    assert codes(create(status="candidate", evidence=(said,)), channel="agent") == ["human.unproven"]
    own = (verified(said, human=True),)
    assert codes(create(status="candidate", evidence=(said,)), channel="agent", resolutions=own) == []
    printed = replace(said, speaker="tool")
    assert codes(create(status="candidate", evidence=(printed,)), channel="agent") == []
    assert codes(create(evidence=(said,))) == ["human.unproven"]
    assert codes(create(evidence=(HumanRef("the pool has twenty", SHA),))) == []


def test_a_private_memory_may_cite_what_is_private_and_a_team_memory_may_not() -> None:
    private = {OTHER: memory(id=OTHER, scope=Scope("shop-k3x9qd", "private"))}
    cites = (file_ref(), MemoryRef(OTHER, SHA))
    assert codes(create(evidence=cites), linked=private) == ["memory.withheld"]
    own = create(evidence=cites, scope=Scope("shop-k3x9qd", "private"))
    assert codes(own, linked=private, private_store=True) == []


def test_a_test_that_failed_supports_no_solution_alone() -> None:
    from gitmem.model.nouns import TestRef

    linked = {OTHER: memory(id=OTHER, kind="problem")}
    solves = {"kind": "solution", "links": (Link("solves", OTHER),)}
    failed = TestRef("report.xml", "test_pool", "failed", SHA)
    assert codes(create(**solves, evidence=(failed,)), linked=linked) == ["test.failed"]
    assert codes(create(**solves, evidence=(failed, file_ref())), linked=linked) == []
    tactic = {"kind": "failed_tactic", "links": (Link("tried_for", OTHER),)}
    assert codes(create(**tactic, evidence=(failed,)), linked=linked) == []


# Likeness.


def test_what_was_rejected_does_not_come_back_by_any_door() -> None:
    """The laundering sequence: again, restated, as another kind, by import, by edit, by replacement, by acceptance."""
    near = (neighbour(status="wrong", similarity=NEAR),)
    stone = (neighbour(status="wrong", where="tombstone"),)
    linked = {OTHER: memory(id=OTHER, status="wrong"), THIRD: memory(id=THIRD)}
    differs = (Link("differs_from", OTHER, "it is another pool"),)
    edited = move("edit", "active", "active", body="so it was said")
    doors: list[tuple[Change, str]] = [
        (create(), "terminal"),
        (create(kind="convention"), "terminal"),
        (create(status="candidate"), "agent"),
        (Change("import", memory(status="candidate")), "import"),
        (edited, "terminal"),
        (create(links=(Link("supersedes", THIRD),)), "terminal"),
        (create(links=differs), "terminal"),
        (move("accept", "candidate", "active"), "terminal"),
        (move("restore", "archived", "active"), "terminal"),
        (replace(move("merge", "active", "active"), before=None), "terminal"),
    ]
    for change, channel in doors:
        given: dict[str, Any] = {"channel": channel, "linked": linked}
        assert codes(change, **given) == [], change.op
        for way in (
            {"tombstone": tombstone("reject")},
            {"neighbours": near},
            {"neighbours": stone},
            {"tombstone": tombstone("lift", "reject"), "neighbours": near},
        ):
            assert codes(change, **given, **way) == ["tombstoned"], (change.op, way)


def test_a_rejection_is_named_with_its_reason_and_the_way_back() -> None:
    change = create()
    (reason,) = decide(change, facts(change, tombstone=tombstone("reject")), CONFIG).reasons
    assert OTHER in reason.message and "thinking aloud" in reason.message
    assert reason.hint == f'gitmem lift {OTHER} --because "…"'


def test_a_rejection_names_the_field_the_title_and_the_reason_and_gives_a_program_no_way_back() -> None:
    change = create(status="candidate", aliases=("Pool size is thirty",))
    near = neighbour(status="wrong", title="The pool size is thirty", matched="aliases", reason="thinking aloud")
    for channel in ("terminal", "agent", "tool"):
        (reason,) = decide(change, facts(change, neighbours=(near,), channel=channel), CONFIG).reasons
        assert reason.where == "aliases" and "its aliases says nearly" in reason.message
        assert "“The pool size is thirty”" in reason.message and "thinking aloud" in reason.message
        assert ("gitmem lift" in reason.hint) == (channel == "terminal")
        assert ("do not propose it again" in reason.hint) == (channel != "terminal")
    # A record may have been rejected for the secret in it.
    near = replace(near, title=f"The token is {FAKE_TOKEN}", reason=FAKE_TOKEN)
    (reason,) = decide(change, facts(change, neighbours=(near,)), CONFIG).reasons
    assert reason.code == "tombstoned" and FAKE_TOKEN not in str(reason)


def test_what_lands_outside_of_the_clone_names_nothing_of_its_inbox() -> None:
    there = {OTHER: memory(id=OTHER, status="candidate")}
    change = create(links=(Link("relates_to", OTHER),))
    assert codes(change, linked=there) == []
    (reason,) = decide(change, facts(change, linked=there, waiting=frozenset({OTHER})), CONFIG).reasons
    assert reason.code == "link.missing" and reason.hint.startswith(f"gitmem accept {OTHER} first")
    gone = {OTHER: memory(id=OTHER, status="archived")}
    (reason,) = decide(change, facts(change, linked=gone, waiting=frozenset({OTHER})), CONFIG).reasons
    assert reason.code == "link.missing" and "accept" not in reason.hint
    # What it named before, and only withdraws now, is not judged again.
    put_away = move("archive", "active", "archived", links=(Link("relates_to", OTHER),))
    before = replace(put_away.before or put_away.after, links=put_away.after.links)
    assert codes(replace(put_away, before=before), linked=there, waiting=frozenset({OTHER})) == []


def test_lift_and_reject_pass_the_tombstone() -> None:
    assert codes(move("lift", "wrong", "active"), tombstone=tombstone("reject")) == []
    assert codes(move("reject", "active", "wrong"), tombstone=tombstone("reject")) == []
    assert codes(move("lift", "wrong", "active"), neighbours=(neighbour(),)) == ["duplicate"]


def test_a_merge_may_carry_a_rejection() -> None:
    assert codes(move("merge", "active", "wrong"), tombstone=tombstone("reject")) == []
    assert codes(move("merge", "active", "active"), tombstone=tombstone("reject")) == ["tombstoned"]


def test_a_duplicate_is_answered_by_edit_supersede_or_saying_why() -> None:
    twin = {"neighbours": (neighbour(similarity=NEAR),), "linked": {OTHER: memory(id=OTHER)}}
    change = create()
    (reason,) = decide(change, facts(change, **twin), CONFIG).reasons
    assert reason.code == "duplicate"
    for command in (f"gitmem edit {OTHER}", f"gitmem supersede {OTHER}", f'--distinct-from {OTHER} --because "…"'):
        assert command in reason.hint
    assert codes(create(links=(Link("supersedes", OTHER),)), **twin) == []
    assert codes(create(links=(Link("differs_from", OTHER, "another pool"),)), **twin) == []
    assert codes(create(links=(Link("differs_from", OTHER, " "),)), **twin) == ["link.why", "duplicate"]
    assert codes(create(links=(Link("relates_to", OTHER),)), **twin) == ["duplicate"]


@pytest.mark.parametrize("status", STATUSES)
def test_which_neighbours_stand_in_the_way(status: str) -> None:
    twin = (neighbour(status=status),)
    live = status in ("active", "maybe_stale", "stale", "candidate", "disputed", "superseded")
    assert codes(create(), neighbours=twin) == (["duplicate"] if live else ["tombstoned"] if status == "wrong" else [])
    # what was replaced may come back in the place of its replacement
    back = create(links=(Link("supersedes", OTHER),))
    replaced = {"neighbours": (replace(twin[0], id=THIRD),), "linked": {OTHER: memory(id=OTHER)}}
    if status == "superseded":
        assert codes(back, **replaced) == []
    accepted = codes(move("accept", "candidate", "active"), neighbours=twin)
    assert accepted == ([] if status == "candidate" else codes(create(), neighbours=twin))


def test_a_neighbour_just_below_near_or_the_record_itself_is_no_duplicate() -> None:
    assert codes(create(), neighbours=(neighbour(similarity=NEAR),)) == ["duplicate"]
    assert codes(create(), neighbours=(neighbour(similarity=NEAR - 0.001), neighbour(id=ID))) == []


def test_an_edit_that_leaves_the_claim_is_not_compared_again() -> None:
    tagged = move("edit", "active", "active", tags=("redis",))
    said_anew = move("edit", "active", "active", title="The size of the pool is 20")
    for twin in (neighbour(), neighbour(status="wrong")):
        assert codes(tagged, neighbours=(twin,)) == []
        assert codes(said_anew, neighbours=(twin,)) != []


def test_a_key_is_free_once_its_holder_is_superseded() -> None:
    linked = {OTHER: memory(id=OTHER, key="pool.size")}
    change = create(key="pool.size", title="Pool size is 50")
    assert codes(change, key_holder=linked[OTHER], linked=linked) == ["key.taken"]
    replacing = replace(change, after=replace(change.after, links=(Link("supersedes", OTHER),)))
    assert codes(replacing, key_holder=linked[OTHER], linked=linked) == []


# Standing.


@pytest.mark.parametrize("channel", ["agent", "tool", "capture", "import"])
def test_a_program_decides_nothing(channel: str) -> None:
    for change in (
        move("accept", "candidate", "active"),
        move("reject", "active", "wrong"),
        move("lift", "wrong", "active"),
        move("restore", "archived", "active"),
        move("redact", "active", "active"),
    ):
        found = codes(change, channel=channel)
        assert "channel.authority" in found, change.op
        assert codes(change) == [], change.op
    withdrawn = move("retract", "candidate", "archived")
    assert codes(withdrawn, channel=channel) == []


def test_a_person_may_be_heard_privately_and_sharing_is_a_proposal() -> None:
    private = create(scope=Scope("shop-k3x9qd", "private"))
    assert codes(private, channel="capture", private_store=True) == []
    assert codes(private, channel="capture") == ["audience.store"]
    assert codes(create(), channel="capture") == ["channel.authority"]
    assert codes(private, channel="agent", private_store=True) == ["channel.authority"]
    shared = move("edit", "active", "active", scope=Scope("shop-k3x9qd", "team"))
    assert shared.before is not None
    shared = replace(shared, before=replace(shared.before, scope=Scope("shop-k3x9qd", "private"), origin="inferred"))
    shared = replace(shared, after=replace(shared.after, origin="inferred"))
    assert codes(shared, channel="agent") == codes(shared) == ["audience.fixed"]


@pytest.mark.parametrize(
    ("name", "value"), [("id", OTHER), ("kind", "convention"), ("key", "pool.size"), ("origin", "observed")]
)
def test_an_edit_changes_no_fixed_field(name: str, value: Any) -> None:
    assert codes(move("edit", "active", "active", body="said better")) == []
    assert codes(move("edit", "active", "active", body="said better", **{name: value})) == ["field.immutable"]


def test_an_edit_may_take_the_derived_origin() -> None:
    before = memory(origin="inferred")
    edit = Change("edit", replace(before, body="said by a person", origin="human"), before, "clearer")
    assert codes(edit) == []
    assert codes(replace(edit, after=replace(edit.after, origin="observed"))) == ["field.immutable"]


def test_the_project_of_a_record_is_fixed() -> None:
    config = replace(CONFIG, aliases=("shop-000000",))
    edit = move("edit", "active", "active", scope=Scope("shop-000000"))
    assert codes(edit, config) == ["field.immutable"]
    assert codes(create(scope=Scope("shop-000000")), config) == []


def test_inference_replaces_nothing_that_a_person_said_unless_a_person_lets_it() -> None:
    old = {OTHER: memory(id=OTHER)}
    links = (Link("supersedes", OTHER),)
    assert codes(create(links=links), channel="ci", linked=old) == ["origin.lower"]
    assert codes(create(links=links), linked=old) == []
    assert codes(create(status="candidate", links=links), channel="agent", linked=old) == []  # it only proposes
    inferred = {OTHER: memory(id=OTHER, origin="inferred")}
    assert codes(create(links=links), channel="ci", linked=inferred) == []
    gone = move("supersede", "active", "superseded", links=(Link("superseded_by", OTHER),))
    assert codes(gone, channel="ci", linked=inferred) == ["origin.lower"]
    assert codes(gone, channel="ci", linked=old) == []
    assert codes(gone, linked=inferred) == []  # a person accepted the replacement


def test_a_field_of_a_newer_minor_version_survives() -> None:
    before = memory(extra={"mood": "calm"})
    edit = Change("edit", replace(before, body="said better"), before, "clearer")
    assert codes(edit) == []
    assert codes(replace(edit, after=replace(edit.after, extra={"mood": "wild"}))) == ["field.unknown"]
    assert codes(replace(edit, after=replace(edit.after, extra={"mood": "wild"})), channel="ci") == ["origin.lower"]
    assert codes(Change("import", memory(status="candidate", extra={"mood": "calm"})), channel="import") == []
