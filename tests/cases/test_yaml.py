"""YAML that somebody wrote by hand: read as it says, or set aside naming file and line; other records stay usable."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.errors import CorruptRecord
from gitmem.model.records import memory_bytes, memory_from_bytes
from gitmem.model.yaml_codec import emit, parse
from tests.cases.world import TITLE, hand_commit, record_file, records, remember, seeded
from tests.conftest import git
from tests.installed import agent, person

OTHER = "Another record stays usable all the time"


def shown(repo: Path, identifier: str) -> tuple[int, str]:
    answer = agent(repo, "show", identifier)
    return answer.code, answer.err + answer.out


# Bare words after "title: ": what YAML readers take for something else, or cannot read.
AMBIGUOUS = (
    "007", "1.10", "1e3", "1_000", "0x1F", "0o17", "12:30", "2026-11-30", "NO", "yes", "off", "null", "~", "=", ".inf",
    "-1", "true",
)  # fmt: skip
BROKEN = (
    "Fix: use pool 5", "issue #12 is fixed", "*.py", "@x", "`cmd`", "%s", "!important rule", "& x", "&a b", "- x",
    "{a} and b", "[x] done", "> 5", "\tindent", "'a' b", '"a" b', "? x", "<<",
)  # fmt: skip


@pytest.mark.parametrize("text", [*AMBIGUOUS, *BROKEN])
def test_a_bare_value_that_two_readers_would_read_differently(text: str) -> None:
    raw = f"kind: fact\ntitle: {text}\n".encode()
    try:
        data = parse(raw, name="memories/x.yaml").data
    except CorruptRecord as error:
        assert "memories/x.yaml" in error.message and "line 2" in error.message
    else:
        assert data == {"kind": "fact", "title": text} or (text in ("~", "null", "true", "-1"))
        assert not isinstance(data["title"], float)
    quoted = parse(f"kind: fact\ntitle: {json.dumps(text)}\n".encode(), name="x").data
    assert quoted["title"] == text
    assert parse(emit({"title": text}).encode()).data == {"title": text}


# As in reports of such faults; those beside the clone, where there are some, are read in place.
FILES = {
    "typed": b"title: 007\ntext: NO\ntags: [yes, off, null, ~, 1e3, 0x1F, 1_000, on]\n",
    "words": b"title: plain words\ntags: [redis, flaky]\n",
    "tag": b"state: =\ntext: x\n",
    "anchor": b"x: &x {b: *x}\n",
    "twice": b"text: a\ntext: b\n",
}
SHARED = Path(__file__).parents[3] / "shared/cases/bugs"
for case in ("B017", "B018", "B019", "B021", "B022"):
    FILES |= {f"{case}-{path.stem}": path.read_bytes() for path in sorted((SHARED / case).glob("*.yaml"))}


def scalars(value: object) -> Iterator[object]:
    """Every key and value in what was read, containers taken apart."""
    if isinstance(value, dict):
        for key, below in value.items():
            yield key
            yield from scalars(below)
    elif isinstance(value, list):
        for below in value:
            yield from scalars(below)
    else:
        yield value


@pytest.mark.parametrize("name", FILES)
def test_a_file_from_a_report_is_read_as_it_stands_or_refused_with_its_line(name: str) -> None:
    try:
        data = parse(FILES[name], name=f"{name}.yaml").data
    except CorruptRecord as error:
        assert f"{name}.yaml: line" in error.message
        return
    raw = FILES[name].decode()
    assert name != "twice" and name != "anchor"
    assert all(type(each) in (str, int, bool, type(None)) for each in scalars(data))
    assert all(str(each) in raw for each in scalars(data) if type(each) in (str, int))


HAND_MADE: dict[str, tuple[str, str, str]] = {
    # name: (what is replaced, by what, what the reader says)
    "number": (f"title: {TITLE}", "title: 007", "quote it"),
    "date": (f"title: {TITLE}", "title: 2026-11-30", "quote it"),
    "colon": (f"title: {TITLE}", "title: Fix: use pool 5", "line 5"),
    "comment": (f"title: {TITLE}", "title: issue #12 is fixed", "line 5"),
    "tag": (f"title: {TITLE}", "title: !important rule", "line 5"),
    "key twice": (f"title: {TITLE}", f"title: {TITLE}\ntitle: another", "'title' stands twice"),
    "nested key twice": ("    path:", "    path: x\n    path:", "'path' stands twice"),
    "kind that is not": ("kind: fact", "kind: theory", "kind"),
    "newer": ("format: 1", "format: 99", "has format 99; this gitmem knows formats up to 1"),
}


@pytest.mark.parametrize("name", HAND_MADE)
def test_a_record_edited_by_hand_is_set_aside_and_named(repo: Path, name: str) -> None:
    identifier = seeded(repo)
    assert remember(repo, OTHER, "human:stays usable").code == 0
    path, text = record_file(repo, identifier)
    old, new, said = HAND_MADE[name]
    assert old in text
    tip = hand_commit(repo, {path: text.replace(old, new, 1).encode()})
    code, words = shown(repo, identifier)
    assert code == 4 and path in words and said in words, words
    assert [r["title"] for r in records(agent(repo, "list", "--json"))] == [OTHER]
    assert OTHER in agent(repo, "recall", "usable record").out
    assert TITLE not in agent(repo, "recall", "pool connections").out
    checked = agent(repo, "verify", "--all")
    assert checked.code == 3 and path in checked.out and said in checked.out
    assert path in agent(repo, "doctor").out
    assert remember(repo, "A third record after the edit", "human:third record").code == 0
    assert git(repo, "show", f"gitmem/main:{path}") == git(repo, "show", f"{tip}:{path}")  # left as it was found


@pytest.mark.parametrize("verb", ["edit", "archive", "wrong", "supersede"])
def test_a_record_of_a_newer_format_is_never_rewritten(repo: Path, verb: str) -> None:
    identifier = seeded(repo)
    path, text = record_file(repo, identifier)
    newer = text.replace("format: 1", "format: 99") + "fleet:\n  name: eu\n"
    hand_commit(repo, {path: newer.encode()})
    more = {
        "edit": ["--title", "Shorter"],
        "supersede": ["A new one altogether", "-e", "human:a new one"],
    }.get(verb, [])
    answer = person(repo, verb, identifier, *more, "--because", "it is so")
    assert answer.code != 0 and "format 99" in answer.err, answer
    assert git(repo, "show", f"gitmem/main:{path}") == newer


def test_fields_that_are_not_known(repo: Path) -> None:
    """A field of format 1 that format 1 has not is no field of anybody's; what is newer says so in its format."""
    identifier = seeded(repo)
    assert remember(repo, OTHER, "human:stays usable").code == 0
    path, text = record_file(repo, identifier)
    added = "x_fleet: eu\nx_model:\n  name: a\n  params:\n    - 1\n    - 2\n"
    changed = replace(memory_from_bytes((text + added).encode(), path=path), title="Shorter")
    assert memory_bytes(changed).decode().endswith(added)  # whoever reads and writes keeps them, in order
    hand_commit(repo, {path: (text + added).encode()})
    code, words = shown(repo, identifier)
    assert code == 4 and path in words, words
    assert [r["title"] for r in records(agent(repo, "list", "--json"))] == [OTHER]
    assert record_file(repo, identifier)[1] == text + added


# What is pasted from a terminal or a page: refused with the reason, or given back as it was.
PASTED = {
    "line separator": "line one\u2028line two", "next line": "one\u0085two", "return": "progress 10%\rprogress 20%",
    "colour": "\x1b[31mred\x1b[0m", "nul": "a\0b", "delete": "a\x7fb", "surrogate": "cut emoji \ud83d",
    "noncharacter": "x\uffffy", "plain": "nothing is odd here: # not a comment, - no list",
}  # fmt: skip


def test_what_is_stored_can_be_read_again(repo: Path) -> None:
    seeded(repo)
    kept = {TITLE}
    for number, (name, text) in enumerate(PASTED.items()):
        title = f"Case {'abcdefghi'[number] * 9} of pasted text"
        body = f"before {text} after"
        draft = {"kind": "fact", "title": title, "body": body, "evidence": [f"human:case {number} of pasted"]}
        (repo / "draft.json").write_text(json.dumps(draft))
        done = person(repo, "remember", "--file", "draft.json")
        assert done.code in (0, 2, 3) and "Traceback" not in done.err, (name, done)
        if done.code == 0:
            kept.add(title)
            [stored] = [r for r in records(agent(repo, "list", "--json")) if r["title"] == title]
            assert stored["body"] == body, name
        else:
            assert any(word in done.err for word in ("U+", "character", "JSON")), (name, done.err)
    assert {r["title"] for r in records(agent(repo, "list", "--json"))} == kept
    assert len(kept) == 2  # the plain one is the control
    assert agent(repo, "reindex").code == 0 and agent(repo, "verify", "--all").code == 0
    assert TITLE in agent(repo, "recall", "pool connections").out


@pytest.mark.parametrize("project", ["on", "1e3", "007", "null", "0x10"])
def test_a_project_that_looks_like_something_else(repo: Path, project: str) -> None:
    begun = person(repo, "init", "--project", project, "--json")
    if begun.code:  # refused is fine, misread is not
        assert begun.code == 2 and project in begun.err
        return
    assert begun.lines[0]["project"] == project
    assert remember(repo).code == 0
    [record] = records(agent(repo, "recall", "pool connections", "--json"))
    assert record["scope"]["project"] == project
    assert agent(repo, "verify", "--all").code == 0
