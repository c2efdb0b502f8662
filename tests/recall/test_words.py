"""The words of a question: what is left out, what stands for what, and what each of them counts."""

from __future__ import annotations

import pytest

from gitmem.model.tokens import tokens
from gitmem.recall.also import groups
from gitmem.recall.words import (
    ALSO_WEIGHT,
    JOINED_WEIGHT,
    PREVIOUS_WEIGHT,
    QUESTION_WORDS,
    SPELT_WEIGHT,
    Words,
    one_edit,
    words,
)

WORDS_OF_QUESTIONS = """
    a about after all also am an and any are as at be because been before being but by can could did do does doing
    for from get gets getting had has have having he her here his how i if in into is it its just me more most my no
    not of on or other our out over own she should so some such than that the their them then there these they this
    those to too under up us use used using very was we were what when where which while who whom why will with
    would you your
    aren't cannot can't couldn't didn't doesn't don't hadn't hasn't haven't I'll I'm isn't I've you're shouldn't they're
    wasn't weren't we've won't wouldn't you'd you'll you've
"""
TOGETHER = [
    ("dependencies", "deps"), ("directory", "dir"), ("removed", "deleting"), ("performance", "faster"),
    ("configuration", "config"), ("initialise", "initialize"), ("exceptions", "error"), ("repositories", "repo"),
    ("fixes", "bugfix"), ("kubernetes", "k8s"), ("deprecated", "obsolete"), ("arguments", "args"),
]  # fmt: skip


def asked(*texts: str, previous: str | None = None) -> Words:
    return words(texts, lambda _: 1, 100, previous)


def test_the_stop_list_is_its_words_as_tokens() -> None:
    assert frozenset(tokens(WORDS_OF_QUESTIONS)) == QUESTION_WORDS


@pytest.mark.parametrize(("one", "other"), TOGETHER)
def test_words_that_mean_the_same_stand_for_each_other(one: str, other: str) -> None:
    (first,), (second,) = tokens(one), tokens(other)
    assert second in groups()[first] and first in groups()[second]
    assert asked(one).also == {first: dict.fromkeys(groups()[first], ALSO_WEIGHT)}
    assert asked("zebra").also == {}
    both = asked(f"{one} {other}").also  # what is asked itself stands for nothing
    assert second not in both.get(first, ()) and first not in both.get(second, ())


def test_no_word_stands_for_itself_and_none_holds_a_space() -> None:
    for word, others in groups().items():
        assert word not in others and " ".join(tokens(word)[:1])
        assert len(set(others)) == len(others)


def test_a_word_that_nothing_holds_may_be_mistyped() -> None:
    known = ["socket", "sockets", "docket", "osprey"]

    def ask(text: str) -> dict[str, dict[str, float]]:
        found = words(
            (text,), lambda term: int(term in known), 100, None, lambda p: [k for k in known if k.startswith(p)]
        )
        return {term: dict(others) for term, others in found.also.items()}

    assert ask("sokcet") == {"sokcet": {"socket": SPELT_WEIGHT}}
    assert ask("osckte") == {}  # two edits
    assert ask("socket") == {}  # what is there is spelt as it is meant


@pytest.mark.parametrize(
    ("one", "two", "near"),
    [
        ("socket", "socket", False), ("socket", "sockets", True), ("socket", "ocket", True),
        ("socket", "soket", True), ("socket", "sokcet", True), ("socket", "sackot", False), ("socket", "rocket", True),
    ],
)  # fmt: skip
def test_one_edit(one: str, two: str, near: bool) -> None:
    assert one_edit(one, two) is near is one_edit(two, one) or (not two.isalpha() and not near)


def test_two_words_may_be_one() -> None:
    found = words(("file name missing",), lambda term: int(term in ("filenam", "file")), 100)
    assert found.also["file"]["filenam"] == found.also["name"]["filenam"] == JOINED_WEIGHT
    assert "missingfile" not in str(found.also)


def test_the_parts_of_one_word_count_less_each() -> None:
    weights = asked("pre-commit zebra").weights
    assert weights["zebra"] == 1.0
    assert weights["precommit"] == weights["commit"] < 1.0


def test_the_request_before_counts_less_and_only_for_what_is_not_said_again() -> None:
    weights = asked("and the timeout of redis?", previous="how does the redis pool reconnect?").weights
    assert weights["redi"] == weights["timeout"] == 1.0
    assert weights["pool"] == weights["reconnect"] == PREVIOUS_WEIGHT
    assert "how" not in weights
