"""Origin is derived; where a record lands follows from who acted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.model.judgement import Change
from gitmem.model.nouns import HumanRef, Link, MemoryRef, UrlRef
from gitmem.model.vocabulary import CHANNELS, ORIGIN_RANK
from gitmem.policy.gate import decide
from gitmem.policy.origin import derive_origin, lineage
from tests.policy.builders import CONFIG, OTHER, SHA, create, facts, file_ref, memory, move, verified

URL = UrlRef("https://example.org/pool", SHA)
SAID = HumanRef("the pool has twenty connections", SHA)
EXTERNAL = {OTHER: memory(id=OTHER, origin="external")}


@pytest.mark.parametrize(
    ("channel", "origin"),
    [
        ("terminal", "human"),
        ("capture", "observed"),
        ("import", "imported"),
        ("agent", "inferred"),
        ("tool", "inferred"),
        ("ci", "inferred"),
        ("forge", "inferred"),
    ],
)
def test_the_channel_decides_when_nothing_else_does(channel: Any, origin: str) -> None:
    assert derive_origin(channel, [verified(file_ref())], {}) == origin
    assert derive_origin(channel, [verified(file_ref())], EXTERNAL) == "external"


def test_an_address_makes_it_external_unless_a_person_stands_behind_it() -> None:
    address = [verified(URL), verified(file_ref())]
    assert derive_origin("agent", address, {}) == "external"
    assert derive_origin("terminal", address, {}) == "human"
    assert derive_origin("agent", [*address, verified(SAID, human=True)], {}) == "inferred"
    assert derive_origin("agent", [verified(replace(URL, role="contradicts")), verified(file_ref())], {}) == "inferred"


def test_words_that_are_all_a_persons_own_stay_human() -> None:
    own = verified(SAID, human=True)
    assert derive_origin("agent", [own], {}) == "human"
    assert derive_origin("agent", [own, verified(file_ref())], {}) == "inferred"
    assert derive_origin("agent", [replace(own, state="unobservable")], {}) == "inferred"
    assert derive_origin("agent", [], {}) == "inferred"
    assert derive_origin("import", [own], {}) == "imported"
    assert derive_origin("capture", [own], {}) == "human"
    assert derive_origin("capture", [own, verified(file_ref())], {}) == "observed"


def test_lineage_is_what_the_text_is_derived_from() -> None:
    linked = {OTHER: memory(id=OTHER)}
    assert lineage(memory(links=(Link("derived_from", OTHER),)), linked) == linked
    assert lineage(memory(evidence=(MemoryRef(OTHER, SHA),)), linked) == linked
    assert lineage(memory(links=(Link("relates_to", OTHER),)), linked) == {}


def test_the_origin_of_the_record_is_not_believed() -> None:
    change = create(status="candidate", origin="human")
    assert decide(change, facts(change, channel="agent"), CONFIG).origin == "inferred"
    assert decide(change, facts(change), CONFIG).origin == "human"


def test_an_external_text_is_not_washed_by_an_edit_or_a_copy() -> None:
    before = memory(status="candidate", origin="external")
    edit = Change("edit", replace(before, body="polished"), before, "clearer")
    assert decide(edit, facts(edit, channel="agent"), CONFIG).origin == "external"
    assert decide(edit, facts(edit), CONFIG).origin == "human"
    copy = create(status="candidate", links=(Link("derived_from", OTHER),))
    assert decide(copy, facts(copy, channel="agent", linked=EXTERNAL), CONFIG).origin == "external"
    assert decide(copy, facts(copy, linked=EXTERNAL), CONFIG).origin == "external"


def test_a_move_and_more_evidence_leave_the_origin() -> None:
    accepted = move("accept", "candidate", "active")
    accepted = replace(accepted, before=memory(status="candidate", origin="inferred"), after=memory(origin="inferred"))
    assert decide(accepted, facts(accepted), CONFIG).origin == "inferred"
    more = move("edit", "active", "active", evidence=(file_ref(), file_ref(lines="5")))
    decision = decide(more, facts(more, channel="agent"), CONFIG)
    assert (decision.verdict, decision.origin) == ("admit", "human")
    less = move("edit", "active", "active", evidence=(file_ref(lines="5"),))
    assert [r.code for r in decide(less, facts(less, channel="agent"), CONFIG).reasons] == ["origin.lower"]


@settings(deadline=None)
@given(
    st.sampled_from(CHANNELS),
    st.lists(
        st.sampled_from([URL, SAID, file_ref()]).flatmap(lambda r: st.builds(verified, st.just(r), human=st.booleans()))
    ),
    st.dictionaries(st.text(max_size=3), st.builds(memory, origin=st.sampled_from(list(ORIGIN_RANK))), max_size=3),
)
def test_lineage_comes_first(channel: Any, resolutions: Any, linked: Any) -> None:
    origin = derive_origin(channel, resolutions, linked)
    assert origin in ORIGIN_RANK
    if any(source.origin == "external" for source in linked.values()):
        assert origin == "external"
