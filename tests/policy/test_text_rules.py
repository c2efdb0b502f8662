"""One look at all texts of a change finds whatever a look at each of them finds."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.model.judgement import Change
from gitmem.model.nouns import Alternative, Link, Scope, Step, Valid
from gitmem.policy import text_rules
from gitmem.policy.patterns import compiled
from gitmem.policy.secret_rules import RULES
from gitmem.policy.texts import strings, texts
from tests.policy.builders import OTHER, create, facts, file_ref, memory
from tests.policy.instruction_lines import ADDRESSED, PLAIN
from tests.policy.test_secrets import HARMLESS, LABELLED, TOKENS

PLANTED = [*TOKENS.values(), *(text for text, _ in LABELLED.values()), *ADDRESSED]
PLANTED += [base64.b64encode(text.encode("utf-8", "surrogatepass")).decode() for text in PLANTED[:8]]
PLANTED += ["\x07", "\u200b", "a\u2028b", "%67%68p_", "\\u0067", "user:ok", "Assistant:ok"]
WORDS = st.sampled_from(["", "\n", " ", ": ", "ſystem", "pass", "word", "token", "key", "you must", "=", "é", "\u0301"])
PIECE = st.one_of(st.sampled_from(PLANTED), st.sampled_from([*PLAIN, *HARMLESS]), WORDS, st.text(max_size=8))
# Cut anywhere: one half may stand at the end of a field and the other at the start of the next.
CUT = st.tuples(PIECE, st.integers(0, 40), st.integers(0, 80)).map(lambda cut: cut[0][cut[1] : cut[1] + cut[2]])
TEXT = st.lists(st.one_of(PIECE, CUT), max_size=3).map("".join)
EXTRA = st.dictionaries(TEXT, st.one_of(TEXT, st.lists(TEXT, max_size=2)), max_size=1)
CHANGE = st.builds(
    lambda title, body, many, one, extra, reason: Change(
        "import",
        memory(
            title=title,
            body=body,
            aliases=tuple(many),
            tags=tuple(reversed(many)),
            cue=one,
            alternatives=(Alternative(one, title),),
            steps=(Step(body),),
            links=(Link("relates_to", OTHER, one),),
            valid=Valid(one, None),
            scope=Scope("shop-k3x9qd", extra=extra),
            evidence=(file_ref(quote=one, path=title),),
        ),
        reason=reason,
    ),
    TEXT,
    TEXT,
    st.lists(TEXT, max_size=2),
    TEXT,
    EXTRA,
    TEXT,
)


def found(change: Change, names: tuple[str, ...]) -> list[Any]:
    return list(text_rules.fit_to_be_read(change, facts(change, channel="agent", names=names), None))


@settings(deadline=None, max_examples=400, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(CHANGE, TEXT)
def test_the_look_at_all_texts_misses_nothing(change: Change, name: str) -> None:
    quick = found(change, (name,))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_rules, "_suspicious", lambda *_: True)
        assert found(change, (name,)) == quick


@settings(deadline=None, max_examples=400, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(CHANGE, TEXT)
def test_a_plain_record_breaks_no_rule_and_is_looked_at_no_more(change: Change, name: str) -> None:
    before = facts(change, channel="agent", names=(name,))
    told = list(text_rules.fit_to_be_read(change, before, None))
    if text_rules.is_plain(change.after):
        assert {reason.where for reason in told} <= {"reason", "names[0]"}
        assert list(text_rules.fit_to_be_read(change, replace(before, plain=change.after), None)) == told
    other = replace(before, plain=memory())  # said of another record, it says nothing
    assert list(text_rules.fit_to_be_read(change, other, None)) == told


@pytest.mark.parametrize("planted", PLANTED)
def test_what_is_planted_in_any_field_is_found_by_both(planted: str) -> None:
    def changes() -> Iterator[Change]:
        yield create(body=planted)
        yield create(body=f"{planted}\nand more")
        yield create(tags=("pool", planted, "size"))
        yield create(evidence=(file_ref(quote=planted),))

    for change in changes():
        quick = found(change, ())
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(text_rules, "_suspicious", lambda *_: True)
            assert found(change, ()) == quick


def test_what_the_subject_of_a_commit_repeats_is_told_once() -> None:
    planted = next(iter(TOKENS.values()))
    change = create(title=f"The deploy uses {planted}")
    told = found(change, (f"remember x: {change.after.title}",))
    assert [(one.code, one.where) for one in told] == [("secret", "title")]
    other = found(create(), (planted,))  # the control: what stands nowhere else is told of there
    assert [(one.code, one.where) for one in other] == [("secret", "names[0]")]


def suspicious(change: Change) -> bool:
    return text_rules._suspicious(change, facts(change, channel="agent"), *strings(change.after))


def test_most_records_need_no_second_look() -> None:
    changes = [create(body=text) for text in PLAIN]
    looked_at = [change.after.body for change in changes if suspicious(change)]
    assert len(looked_at) * 10 < len(changes), looked_at
    planted = create(body=ADDRESSED[0])
    assert suspicious(planted)
    assert sum(text_rules.is_plain(change.after) for change in changes) == len(changes) - len(looked_at)
    assert not text_rules.is_plain(planted.after)
    assert not text_rules.is_plain(memory(claims=("word " * 9000,) * 10))


def test_a_line_feed_is_as_good_as_the_end_of_a_text() -> None:
    """The texts are looked at as lines of one, with "^" and "$" at each."""
    for text in (*TOKENS.values(), *(text for text, _ in LABELLED.values())):
        for rule in RULES:
            alone = compiled(rule.pattern).search(text)
            joined = compiled(f"(?m){rule.pattern}").search(f"x\n{text}\nx")
            assert alone is None or joined is not None, (rule.name, text)


def test_no_keyword_lies_between_a_label_and_its_value() -> None:
    assert not [word for rule in RULES for word in rule.keywords if ": " in word or "\n" in word]


@settings(deadline=None)
@given(CHANGE)
def test_the_quick_walk_sees_the_same_strings(change: Change) -> None:
    seen, named = strings(change.after)
    assert sorted(seen) == sorted(text.value for text in texts(change.after))
    assert named == bool(change.after.scope.extra)
