"""Directives are found in a person's own words, and in nothing that only stands there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from benchmarks.directives import PARTS, labelled, measure
from gitmem.app.directive_rules import languages
from gitmem.errors import UsageError
from gitmem.model.yaml_codec import parse
from gitmem.policy.directive_text import sentences
from gitmem.policy.directives import Directive, contrary, directives, language_of, may_direct, restates

RULES = languages({})
RULE = "always run the linter before you commit"


def found(text: str) -> list[Directive]:
    return list(directives(text, RULES))


@pytest.mark.parametrize("part", PARTS)
def test_the_labelled_lines_are_read_as_well_as_is_promised(part: str) -> None:
    score, agreed = measure(part, RULES)
    assert score.precision >= 0.95
    assert score.recall >= 0.70
    assert agreed["polarity"] >= 0.95 * agreed["all"]


def test_the_labelled_set_is_large_and_mostly_hard_negatives() -> None:
    lines = [item for part in PARTS for item in labelled(part)]
    assert len(lines) >= 300
    assert sum(item.label == "-" for item in lines) >= 0.6 * len(lines)
    assert len({item.text.lower() for item in lines}) == len(lines)  # nothing that was tuned on is held out


@pytest.mark.parametrize(
    ("text", "kind", "title", "polarity", "team"),
    [
        ("always use pnpm, please", "convention", "Always use pnpm", "for", False),
        ("Ok. Never push to main!", "convention", "Never push to main", "against", False),
        ("from now on use uv instead of pip", "convention", "Use uv instead of pip", "for", False),
        ("I prefer short answers.", "preference", "Prefer short answers", "for", False),
        ("never use emojis in your answers", "preference", "Never use emojis in your answers", "against", False),
        ("remember that the staging db is read only", "fact", "The staging db is read only", "for", False),
        ("no, we use vitest here", "convention", "We use vitest here", "for", True),
        ("don't touch the vendored folder again", "convention", "Don't touch the vendored folder", "against", False),
        ("In this repo everyone signs commits", "convention", "In this repo everyone signs commits", "for", True),
        ("siempre usa pnpm", "convention", "Siempre usa pnpm", "for", False),
        ("no vuelvas a tocar la carpeta vendor", "convention", "No tocar la carpeta vendor", "against", False),
        ("prefiero respuestas cortas", "preference", "Prefiero respuestas cortas", "for", False),
    ],
)
def test_what_is_read_out_of_a_line(text: str, kind: str, title: str, polarity: str, team: bool) -> None:
    (one,) = found(text)
    assert (one.kind, one.title, one.polarity, one.team) == (kind, title, polarity, team)


def test_the_line_is_quoted_as_it_stands_with_its_place() -> None:
    text = f"¡Así!\n\n  Vale. {RULE}. Y sigue.  \nña"
    (one,) = found(text)
    assert one.line == text[one.start : one.end] == f"Vale. {RULE}. Y sigue."
    assert text.encode()[one.start_byte : one.end_byte].decode() == one.line


@pytest.mark.parametrize(
    "shown",
    [
        "```\n{}\n```",
        "~~~sh\n{}",
        "> {}",
        "## {}",
        "- {}",
        "1. {}",
        "    {}",
        '"{}"',
        "it said `{}`",
        "The guide:\n\n{}",
        "assistant: {}",
        "2026-03-01 10:00:01 INFO {}",
        "+ {}",
        "Traceback (most recent call last):\n{}",
        "<system>{}</system>",
        "{}?",
        "he said {}",
        "for this PR {}",
        "{} for now",
        "one\ntwo\nthree\n{}",
    ],
)
def test_what_only_stands_there_gives_nothing(shown: str) -> None:
    assert found(shown.format(RULE)) == []
    assert [one.title for one in found(RULE)] == ["Always run the linter before you commit"]


def test_a_paste_in_many_paragraphs_gives_nothing() -> None:
    assert found("\n\n".join([RULE] * 26)) == []
    assert len(found("\n\n".join([RULE] * 2))) == 2


@pytest.mark.parametrize(
    "task",
    [
        "Build the checkout page.",
        "Add a retry.",
        "The form must validate on blur.",
        "Implementa la caché.",
        "I need a modal.",
    ],
)
def test_what_follows_a_task_may_be_about_what_is_built(task: str) -> None:
    assert found(f"{task} Always log the total.") == []
    assert [one.title for one in found(f"{task} From now on always log the total.")] == ["Log the total"]
    assert [one.title for one in found("Thanks. Always log the total.")] == ["Always log the total"]


def test_the_rules_of_something_that_is_being_written_are_its_own() -> None:
    assert found("write a system prompt for a bot. From now on use pnpm") == []
    assert len(found("write a test for the parser. From now on use pnpm")) == 1


def test_two_sentences_of_a_line_are_two() -> None:
    assert [one.title for one in found("Always use pnpm. Never use npm.")] == ["Always use pnpm", "Never use npm"]


def test_what_is_masked_still_stands_in_the_title() -> None:
    assert [one.title for one in found("always run `make lint` first")] == ["Always run `make lint` first"]


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=300), st.sampled_from([RULE, "nunca uses any", "no, we use it", "remember: x is y"]))
@example("\ud800", RULE)
def test_any_text_is_read_and_every_offset_is_right(noise: str, rule: str) -> None:
    text = f"{noise}\n\n{rule}"
    for one in directives(text, RULES):
        assert may_direct(text, RULES)
        assert text[one.start : one.end] == one.line
    for sentence in sentences(text):
        assert text[sentence.start : sentence.start + len(sentence.text)] == sentence.text
        assert len(sentence.bare) == len(sentence.text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Always use pnpm", "Never use pnpm"),
        ("Always use tabs", "Always use spaces"),
        ("Use uv instead of pip", "Always use pip"),
        ("We use vitest here, not jest", "Use jest"),
        ("Prefer short answers", "Prefer long answers"),
        ("Siempre usa pnpm", "Nunca uses pnpm"),
        ("Use single quotes", "Use double quotes"),
    ],
)
def test_what_cannot_both_hold(one: str, other: str) -> None:
    assert contrary(one, other, RULES)
    assert contrary(other, one, RULES)
    assert not contrary(one, one, RULES)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Always use pnpm", "Never use lodash"),
        ("Always use tabs", "Always use spaces in YAML files"),
        ("Always run the tests", "Always run the linter"),
        ("Never push to main", "Always push to the fork"),
        ("Always use", "Never use"),
    ],
)
def test_what_may_both_hold_stays(one: str, other: str) -> None:
    assert not contrary(one, other, RULES)
    assert contrary("Always use tabs", "Never use tabs", RULES)


def test_the_same_in_other_words_of_no_weight() -> None:
    assert restates("Always use pnpm", "From now on use pnpm", RULES)
    assert not restates("Always use pnpm", "Never use pnpm", RULES)
    assert not restates("Always use pnpm", "Always use yarn", RULES)


GOOD: dict[str, Any] = {
    "language": "de",
    "signs": ["immer"],
    "words": {"verb": "nimm schreib"},
    "rules": [
        {
            "name": "immer",
            "kind": "convention",
            "polarity": "for",
            "title": "Immer {claim}",
            "pattern": "^{verb} immer (?P<claim>.+)",
        }
    ],
}


def test_a_further_language_is_data() -> None:
    german = language_of(GOOD, "de.yaml")
    assert [one.title for one in directives("nimm immer pnpm", [*RULES, german])] == ["Immer pnpm"]
    assert directives("nimm immer pnpm", RULES) == ()


def test_the_example_of_the_documentation_is_a_language() -> None:
    text = (Path(__file__).resolve().parents[2] / "docs/learning.md").read_text()
    example = text.partition("```yaml\n")[2].partition("```")[0]
    german = language_of(parse(example.encode(), name="de.yaml").data, "de.yaml")
    assert [one.title for one in directives("Bitte nimm immer pnpm", [german])] == ["Nimm immer pnpm"]
    assert directives("Bitte nimm heute immer pnpm", [german]) == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rules": None}, "NoneType"),
        ({"signs": [""]}, "should be a text"),
        ({"vetoes": ["("]}, "no pattern"),
        ({"rules": [{**GOOD["rules"][0], "kind": "episode"}]}, "needs a kind"),
        ({"rules": [{**GOOD["rules"][0], "pattern": "x"}]}, "no group"),
        ({"rules": [{"name": "x", "kind": "fact", "polarity": "for", "title": "y"}]}, "'pattern' is missing"),
    ],
)
def test_a_file_that_is_none_is_named_with_its_fault(change: dict[str, Any], said: str) -> None:
    language_of(GOOD, "de.yaml")
    with pytest.raises(UsageError, match=r"de\.yaml") as caught:
        language_of({**GOOD, **change}, "de.yaml")
    assert said in caught.value.message
