"""Languages of the policy: a question finds words of the same stem in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.steps import Run, put

WHY = ("--because", "we write in these languages")


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    gitmem(repo, "init")


@pytest.mark.parametrize(
    ("language", "said", "asked"),
    [
        ("german", "Die Häuser der Warteschlange werden nachts geleert", "Haus"),
        ("russian", "Серверы очереди перезапускаются ночью", "очередями"),
        ("portuguese", "A instalação roda antes dos testes", "instalaram"),
    ],
)
def test_a_language_of_the_policy_finds_other_forms_of_a_word(
    repo: Path, gitmem: Run, language: str, said: str, asked: str
) -> None:
    wanted = put(gitmem, repo, said)
    put(gitmem, repo, "The nightly report is sent by mail")
    before = gitmem(repo, "recall", asked, "--json")
    assert wanted not in before.out

    changed = gitmem(repo, "policy", "set", "languages", f"{language},dutch", *WHY)
    assert changed.code == 0, changed.err
    for _ in range(2):  # once the index catches up, once it is at hand
        assert wanted in gitmem(repo, "recall", asked, "--json").out
    assert wanted not in gitmem(repo, "recall", "Zebra", "--json").out
    assert gitmem(repo, "verify", "--all").code == 0

    gitmem(repo, "policy", "set", "languages", "none", *WHY)
    assert wanted not in gitmem(repo, "recall", asked, "--json").out


def test_a_language_without_stems_is_refused_with_the_list(repo: Path, gitmem: Run) -> None:
    refused = gitmem(repo, "policy", "set", "languages", "klingon", *WHY)
    assert refused.code == 2
    assert "klingon" in refused.err and "german" in refused.err
    assert gitmem(repo, "policy", "set", "languages", "german", *WHY).code == 0
    assert gitmem(repo, "policy", "--json").lines[0]["languages"] == "german"
