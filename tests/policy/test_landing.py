"""The table of landing, row for row."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitmem.model.layout import INBOX, MAIN, PRIVATE, USER
from gitmem.model.nouns import Scope
from gitmem.model.vocabulary import AUDIENCES, CHANNELS, ORIGIN_RANK, Channel
from gitmem.policy.landing import decides, lands
from gitmem.policy.visibility import compared, fits
from tests.policy.builders import CONFIG, memory

FORGE = replace(CONFIG, review="forge")
OTHERS = tuple(channel for channel in CHANNELS if channel not in ("terminal", "capture"))


def test_a_person_at_a_terminal_writes_to_the_store_that_it_is_for() -> None:
    assert [lands("terminal", CONFIG, audience) for audience in AUDIENCES] == [MAIN, PRIVATE, USER]


def test_where_review_is_on_the_forge_only_what_is_for_the_team_waits() -> None:
    assert [lands("terminal", FORGE, audience) for audience in AUDIENCES] == [INBOX, PRIVATE, USER]
    assert [decides("terminal", FORGE, audience) for audience in AUDIENCES] == [False, True, True]


def test_capture_keeps_what_a_person_said_and_what_it_saw_for_that_person() -> None:
    kept = {(a, o) for a in AUDIENCES for o in ORIGIN_RANK if lands("capture", CONFIG, a, o) != INBOX}
    assert kept == {("private", "human"), ("private", "observed")}
    assert lands("capture", CONFIG, "private", "human") == PRIVATE
    assert lands("capture", CONFIG, "private") == INBOX  # nothing says where it comes from


@pytest.mark.parametrize("channel", OTHERS)
def test_everybody_else_proposes_whatever_it_is_for_and_wherever_it_comes_from(channel: Channel) -> None:
    assert {lands(channel, CONFIG, a, o) for a in AUDIENCES for o in ORIGIN_RANK} == {INBOX}
    assert not any(decides(channel, CONFIG, audience) for audience in AUDIENCES)


def test_without_a_store_or_for_nobody_that_is_known_nothing_is_let_in() -> None:
    assert {lands(channel, None, audience, "human") for channel in CHANNELS for audience in AUDIENCES} == {INBOX}
    assert lands("terminal", CONFIG, "world") == INBOX


def test_a_record_fits_the_store_of_its_audience_and_the_inbox_while_it_waits() -> None:
    places = ("main", "private", "user", "inbox")

    def fitting(status: str, audience: str) -> set[tuple[str, str]]:
        record = memory(status=status, scope=Scope("shop-k3x9qd", audience))
        return {(place, audience) for place in places if fits(place, record)}

    homes = {("main", "team"), ("private", "private"), ("user", "user")}
    assert set().union(*(fitting("active", audience) for audience in AUDIENCES)) == homes
    waiting = set().union(*(fitting("candidate", audience) for audience in AUDIENCES))
    assert waiting == homes | {("inbox", audience) for audience in AUDIENCES}
    assert fitting("candidate", "world") == {("inbox", "world")} and fitting("active", "world") == set()


def test_likeness_is_judged_among_what_all_readers_of_the_record_may_read() -> None:
    assert {(a, o) for a in AUDIENCES for o in AUDIENCES if compared(a, o)} == {
        ("team", "team"), ("private", "team"), ("private", "private"), ("private", "user"), ("user", "user"),
    }  # fmt: skip
    assert [o for o in AUDIENCES if compared("user", o, rejected=True)] == ["team", "user"]
    assert [o for o in AUDIENCES if compared("team", o, rejected=True)] == ["team"]
