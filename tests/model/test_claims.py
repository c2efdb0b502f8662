"""A claim keeps its identity through every way of writing it, and two claims never share one by accident."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gitmem.errors import UsageError
from gitmem.model.claims import CONFUSABLES, claim_digest, normalise_claim
from gitmem.model.vocabulary import KIND_CLASS

WORDS = st.text(max_size=80)
LETTERS = st.text(alphabet="abcdeghijkmnopqrstuvwxyz ", min_size=1, max_size=60)
INVISIBLE = st.sampled_from(
    ["\u200b", "\u200d", "\ufeff", "\u2060", "\ufe0f", "\u202e", "\U000e0041", "\u034f", "\u3164"]
)


@pytest.mark.parametrize(
    "written",
    [
        "Pool size is 50",
        "pool  size\tis\n50.",
        "POOL SIZE IS 50!!",
        "Ｐｏｏｌ ｓｉｚｅ ｉｓ ５０",
        "P\u043e\u043el s\u0456z\u0435 is 50",  # Cyrillic о, і, е
        "p\u03bf\u03bfl size \u03b9s 50",  # Greek ο, ι
        "po\u200bol si\u00adze is 50",
        "\u202epool size is 50\u202c",
        " pool size is 50 … ",
    ],
)
def test_one_claim_however_it_is_written(written: str) -> None:
    assert normalise_claim(written) == "pool size is 50"
    assert normalise_claim(written.replace("50", "20")) != "pool size is 50" or "５" in written


def test_typographic_marks_are_their_ascii_kin() -> None:
    assert normalise_claim("don’t “touch” prod — ever") == normalise_claim('don\'t "touch" prod - ever')
    assert normalise_claim("do touch prod") != normalise_claim("don’t touch prod")


def test_punctuation_inside_a_claim_counts() -> None:
    assert normalise_claim("python 3.12") != normalise_claim("python 312")
    assert normalise_claim("use --force") != normalise_claim("use force")


@settings(deadline=None)
@given(WORDS)
@example("\u0399\u0308")
@example("ǰ\u0345")
@example("\u0455\u0327")
@example("a\u2028b")
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise_claim(text)
    assert normalise_claim(once) == once


@settings(deadline=None)
@given(LETTERS, st.lists(INVISIBLE, max_size=6), st.randoms(use_true_random=False))
def test_invisible_characters_and_case_do_not_count(text: str, marks: list[str], random: object) -> None:
    dirty = list(text.upper())
    for mark in marks:
        dirty.insert(random.randrange(len(dirty) + 1), mark)  # type: ignore[attr-defined]
    # A filler such as U+3164 is compatibility-equal to another one, never to a letter.
    assert normalise_claim("".join(dirty)) == normalise_claim(text)


@settings(deadline=None)
@given(LETTERS, st.randoms(use_true_random=False))
def test_look_alikes_do_not_count(text: str, random: object) -> None:
    by_latin: dict[str, list[str]] = {}
    for looks, latin in CONFUSABLES.items():
        by_latin.setdefault(latin, []).append(chr(looks))
    forged = "".join(random.choice([c, *by_latin.get(c, [])]) for c in text)  # type: ignore[attr-defined]
    assert normalise_claim(forged) == normalise_claim(text)


@settings(deadline=None)
@given(WORDS)
def test_composed_and_decomposed_text_is_one_claim(text: str) -> None:
    forms = {normalise_claim(unicodedata.normalize(form, text)) for form in ("NFC", "NFD", "NFKC", "NFKD")}
    assert len(forms) == 1


@settings(deadline=None)
@given(WORDS, WORDS, WORDS, WORDS)
def test_digests_are_equal_only_for_equal_claims(title: str, body: str, other_title: str, other_body: str) -> None:
    same = (normalise_claim(title), normalise_claim(body)) == (
        normalise_claim(other_title),
        normalise_claim(other_body),
    )
    digests = claim_digest("shop", "fact", title, body), claim_digest("shop", "fact", other_title, other_body)
    assert (digests[0] == digests[1]) == same


def test_the_parts_of_a_claim_cannot_run_into_each_other() -> None:
    assert claim_digest("shop", "fact", "ab", "c") != claim_digest("shop", "fact", "a", "bc")
    assert claim_digest("shop", "fact", "a", "1:b") != claim_digest("shop", "fact", "a1:", "b")


def test_the_class_of_the_kind_and_the_project_count_and_the_kind_does_not() -> None:
    fact = claim_digest("shop", "fact", "Pool size is 50", "")
    assert claim_digest("shop", "convention", "Pool size is 50", "") == fact
    assert claim_digest("shop", "solution", "Pool size is 50", "") != fact
    assert claim_digest("bank", "fact", "Pool size is 50", "") != fact
    by_class = {name: claim_digest("shop", kind, "t", "b") for kind, name in KIND_CLASS.items()}
    assert len(set(by_class.values())) == len(by_class)


def test_the_digest_is_part_of_the_format() -> None:
    """Tombstones are filed under it: when this fails, old rejections are forgotten."""
    import hashlib

    encoded = b"4:shop5:claim15:pool size is 500:"
    assert claim_digest("shop", "fact", "Pool size is 50.", "") == hashlib.sha256(encoded).hexdigest()


def test_an_unknown_kind_has_no_digest() -> None:
    assert claim_digest("shop", "fact", "t", "b")
    with pytest.raises(UsageError, match="rumour"):
        claim_digest("shop", "rumour", "t", "b")
