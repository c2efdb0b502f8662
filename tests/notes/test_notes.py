"""Existing notes become drafts that cite their own lines, and nothing is lost without a reason."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.notes.parse import Note, Skipped, jsonl_notes, known_sources, parse

PATHS = ("CLAUDE.md", "docs/adr/0001-a b: c.md", "CHANGELOG.md", ".cursor/rules/a.mdc", "notes/changes.jsonl")


def told(path: str, text: str) -> list[tuple[str, str, str]]:
    """(lines, kind, title) of each note, (lines, "-", why) of each skipped item, by line."""
    notes, skipped = parse(path, text)
    rows = [(n.lines, str(n.draft.kind), n.draft.title) for n in notes] + [(s.lines, "-", s.why) for s in skipped]
    return sorted(rows, key=lambda row: int(row[0].partition("-")[0] or 0))


def only(path: str, text: str) -> Note:
    notes, skipped = parse(path, text)
    assert len(notes) == 1, (notes, skipped)
    return notes[0]


INSTRUCTIONS = """\
# CLAUDE.md

The service answers on port 8080.

## Commands

```bash
make test
make lint
```

Run one test:

```sh
pytest tests/test_pool.py -k name
```

## Style

- Use **pnpm**, never npm.
- Testing:
  - Always run `make test` before pushing.
  - Never mock the database.
- When you touch the schema:
  - write a migration
  - run the dump
- The pool closes idle sockets after 300 s. A retry with jitter fixed the nightly failures; a longer timeout did not.
- [Guide](docs/guide.md)
- See [the guide](docs/guide.md) before you deploy

## Release

1. Bump the version
2. Tag it
   ```
   git tag v1
   ```
3. Push

Rules:

1. Never force push
2. Always squash

| variable | meaning |
|----------|---------|
| PORT     | 8080    |

@AGENTS.md
"""


def test_instruction_file() -> None:
    assert told("CLAUDE.md", INSTRUCTIONS) == [
        ("3", "fact", "The service answers on port 8080"),
        ("5-10", "procedure", "Commands"),
        ("12-16", "procedure", "Run one test"),
        ("20", "convention", "Use pnpm, never npm"),
        ("22", "convention", "Always run `make test` before pushing"),
        ("23", "convention", "Never mock the database"),
        ("24-26", "convention", "When you touch the schema: write a migration; run the dump"),
        ("27", "fact", "The pool closes idle sockets after 300 s"),
        ("28", "-", "only a link"),
        ("29", "fact", "See the guide before you deploy"),
        ("31-38", "procedure", "Release"),
        ("42", "convention", "Never force push"),
        ("43", "convention", "Always squash"),
        ("45-47", "-", "a table with no words that lead to it"),
        ("49", "-", "an import of another file"),
    ]
    bodies = {note.draft.title: note.draft.body for note in parse("CLAUDE.md", INSTRUCTIONS)[0]}
    assert bodies["Never mock the database"] == "Style > Testing\n\nNever mock the database."
    assert bodies["Release"] == "1. Bump the version\n2. Tag it\n   ```\n   git tag v1\n   ```\n3. Push"
    assert bodies["Run one test"].endswith("```sh\npytest tests/test_pool.py -k name\n```")


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("```\nrm -rf build\n```\n", [("1-3", "-", "code with no words about it")]),
        ("Clean the tree:\n\n```\nrm -rf build\n```\n", [("1-5", "convention", "Clean the tree")]),
        ("The ports:\n\n| a | b |\n|---|---|\n| x | 1 |\n", [("1-5", "fact", "The ports")]),
        ("See docs for more. TODO: say which\n", [("1", "-", "still to be done")]),
        ("Never leave a TODO: in code\n", [("1", "convention", "Never leave a TODO: in code")]),
        ("- For more information on pools, see docs/a.md.\n", [("1", "-", "only says where more is to be found")]),
        ("- See docs/x.md.\n", [("1", "-", "only says where more is to be found")]),
        ("- Check `a.py` for more than one match\n", [("1", "convention", "Check `a.py` for more than one match")]),
        ("- The pool has 20. See a.md for more.\n", [("1", "fact", "The pool has 20. See a.md for more")]),
    ],
)  # fmt: skip
def test_what_claims_nothing_is_no_memory(text: str, rows: list[tuple[str, str, str]]) -> None:
    assert told("CLAUDE.md", text) == rows


def test_a_changelog_entry_that_touched_up_words_is_no_memory() -> None:
    text = "## 1.0.0\n\n- Typo in docs\n- Fix the typo in `colour`, which nobody could set\n"
    assert told("CHANGELOG.md", text) == [
        ("3", "-", "only words were touched up"),
        ("4", "change", "Fix the typo in `colour`, which nobody could set"),
    ]


def test_evidence_is_the_items_own_lines_in_a_path_with_colon_and_space() -> None:
    note = only("team: one/CLAUDE.md", "# T\n\n## A\n\n- Use tabs\n  for indents\n")
    assert note == Note(note.draft, "team: one/CLAUDE.md", "5-6")
    assert note.draft.evidence == ("file:team: one/CLAUDE.md:5-6",)
    assert note.draft.applies_to == ("team: one/**",)


def test_the_folder_around_a_file_is_what_it_is_about() -> None:
    assert only("AGENTS.md", "- Use tabs").draft.applies_to == ()
    assert only(".claude/CLAUDE.md", "- Use tabs").draft.applies_to == ()
    assert only(".github/copilot-instructions.md", "- Use tabs").draft.applies_to == ()
    assert only("web/.cursor/rules/ui/a.mdc", "- Use tabs").draft.applies_to == ("web/**",)
    assert only("web/.cursorrules", "Use tabs.").draft.applies_to == ("web/**",)


@pytest.mark.parametrize(
    ("globs", "paths"),
    [
        ("globs: *.ts, src/**/*.{js,jsx}", ("*.ts", "src/**/*.js", "src/**/*.jsx")),
        ('globs: ["*.ts", "a/{b,c}/*"]', ("*.ts", "a/b/*", "a/c/*")),
        ("globs:\n  - '*.py'\n  - lib/**", ("*.py", "lib/**")),
        ("globs: *.py\nalwaysApply: true", ()),
        ("globs:\nalwaysApply: false", ()),
    ],
)
def test_cursor_front_matter(globs: str, paths: tuple[str, ...]) -> None:
    text = f"---\ndescription: The API layer\n{globs}\n---\n\n- Return early\n"
    note = only(".cursor/rules/api.mdc", text)
    assert note.draft.applies_to == paths
    assert note.draft.body == "The API layer\n\nReturn early"
    assert note.lines == str(text.count("\n"))


def test_broken_front_matter_is_text() -> None:
    unclosed = told(".cursor/rules/a.mdc", "---\nglobs: *.py\n\n- Return early\n")
    assert unclosed == [
        ("1", "-", "front matter is not closed; read as text"),
        ("2", "fact", "globs: *.py"),
        ("4", "convention", "Return early"),
    ]
    odd = told(".cursor/rules/a.mdc", "---\nplain words\n---\n- Return early\n")
    assert ("1", "-", "front matter is not `key: value` lines; read as text") in odd
    assert ("4", "convention", "Return early") in odd
    assert told(".cursor/rules/a.mdc", "---\nglobs: *.py\n---\n- Return early\n") == [
        ("4", "convention", "Return early")
    ]


def test_what_a_tool_wrote_and_what_is_hidden_is_skipped() -> None:
    text = (
        "- Use tabs\n<!-- BEGIN TOOL v:1 -->\n- Generated rule\n<!-- inner -->\n<!-- END TOOL -->\n"
        "<!-- hidden:\n- Never show this\n-->\n- Keep `<!-- prettier-ignore -->` comments <!-- why -->\n"
        "<!-- prettier-ignore-start -->\n- Keep this table\n<!-- prettier-ignore-end -->\n"
        "# >>> gitmem v1 >>>\n- Recalled rule\n# <<< gitmem <<<\n- Wrap lines\n<!-- gitmem:begin -->\n- Recalled rule\n"
    )
    assert told("CLAUDE.md", text) == [
        ("1", "convention", "Use tabs"),
        ("2-5", "-", "a block that a tool keeps"),
        ("6-8", "-", "an HTML comment"),
        ("9", "convention", "Keep `<!-- prettier-ignore -->` comments"),
        ("10", "-", "an HTML comment"),
        ("11", "convention", "Keep this table"),
        ("12", "-", "an HTML comment"),
        ("13-15", "-", "gitmem's own block"),
        ("16", "convention", "Wrap lines"),
        ("17-18", "-", "gitmem's own block"),
    ]


def test_a_comment_over_lines_leaves_the_words_around_it_in_place() -> None:
    assert told("CLAUDE.md", "Use tabs <!-- a\nb\n--> and wrap\n") == [
        ("1", "convention", "Use tabs"),
        ("3", "fact", "and wrap"),
    ]


def test_a_long_list_below_a_line_is_taken_apart() -> None:
    short = "In the core folder we have:\n\n- the pool\n- Use tabs\n"
    assert told("AGENTS.md", short) == [("1-4", "fact", "In the core folder we have: the pool; Use tabs")]
    notes, _ = parse("AGENTS.md", short + "".join(f"- part {n} of the core with its tests\n" for n in range(20)))
    assert len(notes) == 22
    assert notes[1].draft.body == "In the core folder we have\n\nUse tabs"


def test_marks_inside_code_are_code() -> None:
    text = "Write it so:\n\n```md\n<!-- BEGIN x -->\n# no heading\n- no bullet\n<!-- END x -->\n```\n- Use tabs\n"
    assert told("CLAUDE.md", text) == [("1-8", "convention", "Write it so"), ("9", "convention", "Use tabs")]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("\ufeff\r\n \r\n", "empty"),
        ("---\nalwaysApply: true\n---\n", "only front matter"),
        ("# A\n\n## B\n", "headings only"),
        ("A\n=\n", "headings only"),
    ],
)
def test_file_without_items(text: str, why: str) -> None:
    assert parse("CLAUDE.md", text) == ([], [Skipped("CLAUDE.md", "", why)])
    assert told("CLAUDE.md", f"{text}\n- Use tabs\n")[0][1] == "convention"


def test_crlf_and_byte_order_mark_change_nothing() -> None:
    windows = "\ufeff" + INSTRUCTIONS.replace("\n", "\r\n")
    assert parse("CLAUDE.md", windows) == parse("CLAUDE.md", INSTRUCTIONS)


def test_invisible_characters_are_refused_and_emoji_style_is_not() -> None:
    assert told("CLAUDE.md", "- Use tabs\u200b always\n- \u26a0\ufe0f Never push\n") == [
        ("1", "-", "holds U+200B, which no memory may hold"),
        ("2", "convention", "\u26a0 Never push"),
    ]


def test_equal_titles_get_context_and_exact_duplicates_are_skipped() -> None:
    text = "## Web\n\n- Run the tests\n- Run the tests\n\n## API\n\n- Run the tests\n  twice, slowly.\n\n"
    text += "## Job\n\n- Run the tests\n"
    assert told("AGENTS.md", text) == [
        ("3", "convention", "Run the tests"),
        ("4", "-", "same as line 3"),
        ("8-9", "convention", "Run the tests twice, slowly"),
        ("13", "convention", "Run the tests (Job)"),
    ]


def test_title_is_cut_at_a_sentence_or_word() -> None:
    def title(text: str) -> str:
        return only("AGENTS.md", f"- {text}").draft.title

    assert title("Use e.g. ruff. " + "It is fast and it is good enough for us. " * 5) == (
        "Use e.g. ruff. It is fast and it is good enough for us. It is fast and it is good enough for us"
    )
    long = title("Use " + "words " * 40)
    assert len(long) <= 100 and long.endswith("words…")
    assert len(title("Ａ" * 300)) == 100


def test_too_long_an_item_is_skipped() -> None:
    assert told("AGENTS.md", f"- Use {'x ' * 4100}\n- Use tabs")[0] == ("1", "-", "8203 characters, more than 8000")
    assert told("AGENTS.md", f"- Use {'x ' * 3900}\n- Use tabs")[0][1] == "convention"


MADR = """\
---
status: accepted
date: 2024-02-03
---
# Use PostgreSQL for orders

## Context and Problem Statement

We need a store. <!-- template text -->

## Decision Drivers

* Price

## Considered Options

* [PostgreSQL](#postgresql)
* MySQL
* Option 3: SQLite
* Add `* kind: text` to MongoDB (see elsewhere)

## Decision Outcome

Chosen option: "PostgreSQL", because it has JSONB.

### Consequences

* Good, because one store is enough

## Pros and Cons of the Options

### MySQL

* Good, because it is known
* Bad, because its DDL is not transactional

### Add `* kind: text` to MongoDB

#### Pros and cons

* Good, because it is easy
* Bad, because it is slow
* Bad, because it is new
"""


def test_madr() -> None:
    note = only("docs/decisions/0003-postgres.md", MADR)
    draft = note.draft
    assert (draft.kind, draft.title, draft.valid.start, note.lines) == (
        "decision", "Use PostgreSQL for orders", "2024-02-03", "1-43",
    )  # fmt: skip
    assert [(other.title, other.why) for other in draft.alternatives] == [
        ("MySQL", "its DDL is not transactional"),
        ("Option 3: SQLite", "The record does not say."),
        ("Add `* kind: text` to MongoDB (see elsewhere)", "it is slow; it is new"),
    ]
    assert draft.body == (
        "Context and Problem Statement:\nWe need a store.\n\nDecision Outcome:\n"
        'Chosen option: "PostgreSQL", because it has JSONB.\n\n### Consequences\n\n* Good, because one store is enough'
    )


NYGARD = """\
# 12. Record the events as JSON

Date: 2016-02-12

## Status

Accepted, supersedes [ADR 4](0004.md)

## Context

Events must merge.

## Decision

We will write one JSON file for each event.

## Consequences

Many small files.
"""


def test_nygard_without_alternatives_is_a_fact() -> None:
    draft = only("doc/adr/0012-events.md", NYGARD).draft
    assert (draft.kind, draft.title, draft.valid.start) == ("fact", "Record the events as JSON", "2016-02-12")
    assert draft.alternatives == ()
    more = NYGARD + "\n## Alternatives considered\n\n- YAML: merges badly\n- One log file, because appends conflict\n"
    assert [(other.title, other.why) for other in only("adr/0012.md", more).draft.alternatives] == [
        ("YAML", "merges badly"),
        ("One log file", "because appends conflict"),
    ]


def test_options_without_a_known_choice_rule_nothing_out() -> None:
    unclear = MADR.replace('Chosen option: "PostgreSQL", because', "We took the usual one, as")
    unclear = unclear.replace("# Use PostgreSQL for orders", "# The store for orders")
    assert only("docs/adr/3.md", unclear).draft.kind == "fact"
    named = unclear.replace("# The store for orders", "# PostgreSQL for orders")
    assert [other.title for other in only("docs/adr/3.md", named).draft.alternatives][:2] == [
        "MySQL",
        "Option 3: SQLite",
    ]


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ("Superseded by [ADR 9](0009.md)", "a decision that no longer holds; its status: Superseded by ADR 9"),
        ("Accepted\n\nDeprecated", "a decision that no longer holds; its status: Accepted Deprecated"),
        ("rejected", "a decision that no longer holds; its status: rejected"),
        ("Proposed", "a decision that is not decided yet; its status: Proposed"),
    ],
)
def test_a_record_that_does_not_hold_is_skipped(status: str, why: str) -> None:
    text = NYGARD.replace("Accepted, supersedes [ADR 4](0004.md)", status)
    assert parse("docs/adr/12.md", text) == ([], [Skipped("docs/adr/12.md", f"1-{text.count(chr(10))}", why)])


CHANGELOG = """\
# Changelog

All notable changes.

## [Unreleased]

### Added

- A new thing

## [1.2.0] - 2024-03-01 [YANKED]

### Added

- A new thing
- Core
  - Fix the pool by closing it.
  - Add a timeout to the pool
- Speed:
  - start
  - stop

### Security

- Crash on empty input ([#12](https://example.invalid/12))

v1.1.0 (March 3rd, 2023)
------------------------

**Bugfixes**

- Crash on empty input

## 2022-02-31

- Move the docs

[Unreleased]: https://example.invalid/compare
"""


def test_changelog() -> None:
    notes, skipped = parse("CHANGELOG.md", CHANGELOG)
    assert [(n.lines, n.draft.title, n.draft.tags, n.draft.valid.start) for n in notes] == [
        ("15", "A new thing", ("1.2.0", "yanked", "added"), "2024-03-01"),
        ("17", "Fix the pool by closing it", ("1.2.0", "yanked", "added"), "2024-03-01"),
        ("18", "Add a timeout to the pool", ("1.2.0", "yanked", "added"), "2024-03-01"),
        ("19-21", "Speed: start; stop", ("1.2.0", "yanked", "added"), "2024-03-01"),
        ("25", "Crash on empty input (#12)", ("1.2.0", "yanked", "security"), "2024-03-01"),
        ("32", "Crash on empty input", ("1.1.0", "bugfixes"), "2023-03-03"),
        ("36", "Move the docs", ("2022-02-31",), None),
    ]
    assert {n.draft.kind for n in notes} == {"change"}
    assert notes[1].draft.body == "1.2.0, Added, Core\n\nFix the pool by closing it."
    assert skipped == [
        Skipped("CHANGELOG.md", "3", "text outside a release"),
        Skipped("CHANGELOG.md", "9", "not released yet"),
    ]


def test_jsonl() -> None:
    lines = [
        json.dumps(
            {
                "id": "3D6aba6eb6",
                "title": "Retry  the\ufe0f connect",
                "body": "why",
                "date": "2019-04-04T20:04:24+01:00",
            }
        ),
        "{broken",
        "",
        json.dumps({"id": "PR-7", "commit": "a" * 40, "title": "Retry the connect", "body": None}),
        json.dumps({"id": "PR-8", "title": "No commit"}),
        json.dumps({"id": "b" * 40, "title": "Bad date", "date": "yesterday"}),
        json.dumps({"id": "c" * 40, "title": "\ud800"}),
        json.dumps(["list"]),
        json.dumps({"id": "3d6aba6eb6", "title": "Again"}),
        "[" * 100_000,
        "1" * 10_000,
    ]
    read = list(jsonl_notes("x.jsonl", lines))
    notes = [one for one in read if isinstance(one, Note)]
    assert [(n.lines, n.draft.title, n.draft.body, n.draft.valid.start, n.draft.evidence) for n in notes] == [
        ("1", "Retry the connect", "why", "2019-04-04T20:04:24+01:00", ("commit:3d6aba6eb6",)),
        ("4", "Retry the connect (aaaaaaaaaaaa)", "", None, (f"commit:{'a' * 40}",)),
    ]
    assert {n.draft.kind for n in notes} == {"change"}
    why = {one.lines: one.why for one in read if isinstance(one, Skipped)}
    assert list(why) == ["2", "5", "6", "7", "8", "9", "10", "11"]
    assert why["2"].startswith("not JSON")
    assert why["5"] == "neither `commit` nor `id` is a commit id, so there is no evidence"
    assert "yesterday" in why["6"]
    assert why["7"] == "no title"
    assert why["9"] == "same as line 1"


def test_jsonl_is_read_as_the_lines_come() -> None:
    taken = []

    def lines() -> Iterator[str]:
        for number in range(10):
            taken.append(number)
            yield json.dumps({"id": f"{number:040x}", "title": f"t{number}"})

    stream = jsonl_notes("x.jsonl", lines())
    assert next(stream).lines == "1"
    assert taken == [0]


def test_known_sources() -> None:
    known = [
        "CLAUDE.md", "services/api/AGENTS.md", "GEMINI.md", ".cursor/rules/a.mdc", "web/.cursor/rules/ui/b.mdc",
        ".cursorrules", ".github/copilot-instructions.md", "docs/adr/0001-a.md", "doc/adr/0002-b.md",
        "adr/3.md", "docs/decisions/4.md", "docs/architecture/decisions/0005.md", "CHANGELOG.md",
        "packages/a/changelog.md",
    ]  # fmt: skip
    others = [
        "README.md", "docs/adr/README.md", "docs/adr/0000-template.md", "docs/decisions/index.md", "a.mdc",
        "data/x.jsonl", "node_modules/a/CHANGELOG.md", "vendor/b/CLAUDE.md", "adr/a.png", "decisions/a.md",
        "my-CLAUDE.md", "rules/a.mdc",
    ]  # fmt: skip
    assert known_sources([*others, *known]) == known


def test_a_file_of_another_kind() -> None:
    assert parse("a.png", "- Use tabs") == ([], [Skipped("a.png", "", "not a kind of file that can be imported")])
    assert only("notes/team.md", "- Use tabs").draft.kind == "convention"


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["- ", "* ", "", "> "]), st.sampled_from(["Use x", "The pool is", "!"])), min_size=1
    )
)
def test_counts_add_up(items: list[tuple[str, str]]) -> None:
    text = "\n\n***\n\n".join(f"{mark}{said} {number}" for number, (mark, said) in enumerate(items))
    notes, skipped = parse("AGENTS.md", text)
    assert len(notes) + len(skipped) == len(items)


FRAGMENTS = st.sampled_from(
    ["- ", "  - ", "* ", "1. ", "# ", "## 1.0.0 - 2024-01-02", "```", "```sh", "~~~", "<!--", "-->", "<!-- BEGIN a -->",
     "---", "<!-- END a -->", "> ", "| a | b |", "|---|---|", "**", "[a](b)", "[a]", "`", "===", "\n", "\n", "\n\n",
     "\r\n", "\t", " ", "Status: accepted", "## Considered Options", "## Decision", "Chosen option: ", "Use", "never",
     "the pool.", "a:", "words", "{", '{"id": "abcdef1", "title": "t"}', "\ufeff",
     "\ufe0f", "\x0c", "\u2028", "é", "漢字", "globs: {a,b}", ": "]
)  # fmt: skip
TEXTS = st.one_of(st.text(), st.lists(FRAGMENTS, max_size=60).map("".join))


@settings(deadline=None, max_examples=400)
@given(st.sampled_from(PATHS), TEXTS)
def test_any_text_gives_notes_that_lie_in_it(path: str, text: str) -> None:
    notes, skipped = parse(path, text)
    assert notes or skipped
    lines = text.split("\n")
    titles = set()
    for one in (*notes, *skipped):
        if one.lines:
            first, _, last = one.lines.partition("-")
            assert 1 <= int(first) <= int(last or first) <= len(lines)
    for note in notes:
        first, _, last = note.lines.partition("-")
        cited = " ".join(lines[int(first) - 1 : int(last or first)]).replace("\ufe0f", "")
        words = re.findall(r"\w+", note.draft.title.split(" (")[0])[:3]
        assert words and all(word in cited for word in words), (note, cited)
        assert len(note.draft.title) <= 200 and "\n" not in note.draft.title
        assert (note.draft.kind == "decision") == bool(note.draft.alternatives)
        titles.add(note.draft.title)
    assert len(titles) == len(notes)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "text",
    ["- a\n  - b\n" * 5_000, "<!-- x " * 40_000, "`<!--" * 60_000, "**a" * 90_000, "[a](b" * 60_000, "> " * 100_000,
     "# a\n## b\n" * 5_000, "```\n- a\n" * 10_000, "".join(f"<!-- begin a{n} -->\n" for n in range(5_000)),
     "|-" * 150_000]
)  # fmt: skip
def test_large_files(path: str, text: str) -> None:
    notes, skipped = parse(path, text)
    assert notes or skipped
