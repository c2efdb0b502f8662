"""The writer and both readers: what is written reads back in every reader, whatever two could read differently is
refused."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import ryaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from gitmem.errors import CorruptRecord
from gitmem.model.vocabulary import FILE_LIMIT, YAML_DEPTH, YAML_NODES
from gitmem.model.yaml_codec import _NotCanonical, _read_canonical, emit, parse
from gitmem.model.yaml_strict import read_strict
from tests.model.samples import HOSTILE, clean_texts, documents

SHARED = Path(__file__).parents[3] / "shared/cases/bugs"


def refused(text: str | bytes, *words: str) -> str:
    raw = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(CorruptRecord) as caught:
        parse(raw, name="m.yaml")
    message = caught.value.message
    assert message.startswith("m.yaml")
    assert all(word in message for word in words), message
    return message


def read(text: str) -> Any:
    return parse(text.encode()).data


def by_ruamel(kind: str) -> Callable[[str], Any]:
    def load(text: str) -> Any:
        yaml = YAML(typ=kind, pure=True)
        return json.loads(json.dumps(yaml.load(io.StringIO(text))))

    return load


READERS: dict[str, Callable[[str], Any]] = {
    "ours": lambda text: parse(text.encode()).data,
    "strict": lambda text: read_strict(text, "", YAML_NODES)[0],
    "ruamel rt": by_ruamel("rt"),
    "ruamel safe": by_ruamel("safe"),
    "ryaml": ryaml.loads,  # type: ignore[attr-defined]
}


@pytest.mark.parametrize("reader", READERS)
@settings(deadline=None, max_examples=120)
@given(documents)
def test_every_reader_reads_what_is_written(reader: str, data: dict[str, Any]) -> None:
    written = emit(data)
    assert READERS[reader](written) == data
    assert emit(parse(written.encode()).data) == written


@pytest.mark.parametrize("reader", READERS)
def test_every_hostile_text_comes_back_at_every_place(reader: str) -> None:
    for text in HOSTILE:
        data = {"a": text, "b": [text, [text], {text[:90]: text, "c": [text]}], "d": {"e": {"f": text}}}
        assert READERS[reader](emit(data)) == data, repr(text)


@settings(deadline=None, max_examples=300)
@given(documents, st.data())
def test_the_fast_reader_takes_only_what_the_writer_writes(data: dict[str, Any], draw: st.DataObject) -> None:
    """A canonical text with a few characters changed: whatever the fast reader still takes is canonical, and the
    strict reader reads the same."""
    text = emit(data)
    for _ in range(draw.draw(st.integers(1, 3))):
        at = draw.draw(st.integers(0, len(text)))
        cut = draw.draw(st.integers(0, 2))
        put = draw.draw(st.text(alphabet=' \n\t"-|:#a0{}[]\\~n', max_size=2))
        text = text[:at] + put + text[at + cut :]
    try:
        fast = _read_canonical(text)
    except _NotCanonical:
        return
    head = text
    while head.startswith("#"):
        head = head[head.index("\n") + 1 :]
    assert emit(fast) == head
    assert read_strict(text, "", YAML_NODES)[0] == fast


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ("a: x", "the end"), ("a: x\n\n", "a blank line"), ("a:  x\n", "two spaces"), ("a: 'x'\n", "quotes"),
        ("a: x \n", "a space"), ('a: "x"\n', "needless quotes"), ("a: \n  b: c\n", "a space"),
        ("a:\n   b: c\n", "three"), ("a: |\n  x\n", "twin below"), ("a: |-\n  x\n", "a block of one line"),
        ("a: [x]\n", "flow"), ("a: 01\n", "zero"), ("a:\n- b\n", "dash"), ('"a": x\n', "a quoted key"),
        ("null: x\n", "a reserved key"), ("a: No\n", "a reserved word"), ('a: "\\u0041"\n', "an escape"),
        ('a: "\\/"\n', "an escape"), ("a: x # y\n", "a comment"), ("a:\n", "null"), ("a: ~\n", "null"),
        ("a: -0\n", "zero"), ("a: |-\n  x\n  \n  y\n", "spaces"), ("a: x\na: x\n", "twice"), ("", "nothing"),
    ],
)  # fmt: skip
def test_the_fast_reader_leaves_the_rest_to_the_strict_one(changed: str, word: str) -> None:
    if word == "twin below":
        assert _read_canonical("# a comment\n" + changed) == {"a": "x\n"}
        return
    with pytest.raises(_NotCanonical):
        _read_canonical(changed)


def test_keys_and_values_beyond_the_limits_are_not_written() -> None:
    deep: Any = {"a": 1}
    for _ in range(YAML_DEPTH - 1):
        deep = {"a": deep}
    assert read(emit(deep)) == deep
    many = {"a": list(range(YAML_NODES - 3))}
    assert read(emit(many)) == many
    assert read(emit({"k" * 998: 1})) == {"k" * 998: 1}
    assert read(emit({"a": 10**18 - 1})) == {"a": 10**18 - 1}
    for data in ({"a": deep}, {"a": [*many["a"], 1]}, {"k" * 1001: 1}, {"a": 10**18}):
        with pytest.raises(ValueError, match=r"deeper|more than"):
            emit(data)
    for value in (1.5, b"x", {1: "a"}):
        with pytest.raises(TypeError):
            emit({"a": value})


@pytest.mark.parametrize(
    ("bad", "good", "words"),
    [
        ("a: &x b\n", "a: '&x b'\n", ("line 1", "anchors")),
        ("a: &x b\nc: *x\n", "a: b\nc: '*x'\n", ("line 1", "anchors")),
        ("a: *x\n", "a: '*x'\n", ("line 1", "aliases")),
        ("a: !x b\n", "a: '!x b'\n", ("line 1", "tags")),
        ("a: !!str b\n", "a: b\n", ("tags",)),
        ("a: !!python/object:os.system b\n", "a: b\n", ("tags",)),
        ("a: ! b\n", "a: b\n", ("tags",)),
        ("a:\n  <<: {b: c}\n", "a:\n  '<<': {b: c}\n", ("line 2", "'<<'")),
        ("b: x\nb: z\n", "b: x\nB: z\n", ("line 2", "'b' stands twice")),
        ("a: {b: x, b: z}\n", "a: {b: x, c: z}\n", ("stands twice",)),
        ("'1': x\n1: z\n", "'1': x\n'2': z\n", ("line 2", "'1'")),
        ("a: x\n---\nb: y\n", "---\na: x\n", ("line 2", "second document")),
        ("%YAML 1.1\n---\na: x\n", "---\na: x\n", ("directives",)),
        ("%TAG ! tag:x,2026:\n---\na: x\n", "---\na: x\n", ("directives",)),
        ("a: issue #12 is fixed\n", "a: 'issue #12 is fixed'\n", ("line 1", "a:", "after #")),
        ("a: #12 is fixed\n", "a:\n# 12 is fixed\n", ("line 1", "a:", "after #")),
        ("a:\n  - x\n  - # y\n", "a:\n  - x # y\n".replace(" # y", ""), ("line 3", "a.1", "after #")),
        ("a:\n  b: # the first\n  c: 1\n", "a: # the first\n  c: 1\n  b:\n# the end\n", ("line", "a.b", "after #")),
        ("a: [b] # fine\nc: d # not\n", "a: [b] # fine\nc: 'd' # fine\n", ("line 2", "after #")),
        ("? [a]\n: b\n", "? a\n: b\n", ("a key must be a word",)),
        ("{a: b}: c\n", "'{a: b}': c\n", ("a key must be a word",)),
        ('a: "\\ud83d\\ude00"\n', 'a: "\\U0001f600"\n', ("line 1", "half of a character")),
        ('a: "cut emoji \\ud83d"\n', "a: whole emoji \U0001f600\n", ("line 1", "half of a character")),
        ('a: "\\UFFFFFFFF"\n', 'a: "\\U0010FFFD"\n', ("not valid YAML",)),
        ("a: x\u0000\n", 'a: "x\\u0000"\n', ("line 1", "U+0000")),
        ("a: x\nb: y\u2028z\n", "a: x\nb: y z\n", ("line 2", "U+2028")),
        ("a: x\r\n", "a: x\n", ("line 1", "U+000D")),
        ("\ufeffa: x\n", "a: x\n", ("line 1", "U+FEFF")),
        ("a: \u2764\ufe0f\n", "a: \u2764\n", ("line 1", "U+FE0F")),
        (b"a: \xff\n", "a: \u00ff\n", ("not UTF-8 at byte 3",)),
        ("a: [b\n", "a: [b]\n", ("not valid YAML",)),
        ("a:\n\tb: 1\n", "a:\n  b: 1\n", ("line 2",)),
        ("a: Fix: use 5\n", "a: 'Fix: use 5'\n", ("line 1",)),
    ],
)  # fmt: skip
def test_what_two_readers_could_read_differently_is_refused(
    bad: str | bytes, good: str, words: tuple[str, ...]
) -> None:
    refused(bad, *words)
    assert isinstance(read(good), dict)


def test_limits_of_the_reader() -> None:
    deep = "".join(f"{'  ' * n}a:\n" for n in range(YAML_DEPTH)) + "  " * YAML_DEPTH
    assert read(deep + "x\n")
    refused(deep + "b: x\n", f"deeper than {YAML_DEPTH}")
    edge = "".join(f"{'  ' * n}a:\n" for n in range(YAML_DEPTH - 1)) + "  " * (YAML_DEPTH - 1)
    assert read(edge + "b: c\n")
    for empty in ("[]", "{}"):
        refused(edge + f"b: {empty}\n", f"deeper than {YAML_DEPTH}")
    refused("a: " + "[" * YAML_DEPTH + "]" * YAML_DEPTH + "\n", f"deeper than {YAML_DEPTH}")
    values = "a:\n" + "  - 1\n" * (YAML_NODES - 3)
    assert len(read(values)["a"]) == len(read("# x\n\n" + values)["a"]) == YAML_NODES - 3
    refused(values + "  - 1\n", f"more than {YAML_NODES}")
    whole = f"a: {'x' * (FILE_LIMIT - 4)}\n"
    assert len(read(whole)["a"]) == FILE_LIMIT - 4
    refused(whole + "\n", str(FILE_LIMIT))


AMBIGUOUS = [
    "y", "N", "yes", "NO", "on", "Off", "=", "007", "1_000", "+5", "-0", "0x1F", "0o17", "0b11", "1.10", "1.", ".5",
    "1e3", "-1.5E-3", "1e400", ".inf", "-.INF", ".NaN", "12:30", "190:20:30.15", "2026-11-30", "2026-1-2",
    "2026-11-30T10:00:00Z", "2026-11-30 10:00", "9" * 19,
]  # fmt: skip


@pytest.mark.parametrize("word", AMBIGUOUS)
def test_words_of_two_meanings_are_refused_by_key_and_line_and_read_in_quotes(word: str) -> None:
    shown = word[:39]
    refused(f"x: y z\ntags:\n  - good\n  - {word}\n", "line 4", "tags.1", shown)
    refused(f"x: [{word}]\n", "line 1", "x.0", shown)
    refused(f"{word}: x\n", "line 1", shown)
    assert read(f"x: y z\ntags:\n  - good\n  - '{word}'\n")["tags"] == ["good", word]
    assert read(emit({"a": word, word: word})) == {"a": word, word: word}


@pytest.mark.parametrize(
    ("plain", "value"),
    [
        ("12", 12), ("0", 0), ("-7", -7), ("null", None), ("~", None), ("", None), ("TRUE", True), ("false", False),
        ("3.12.1", "3.12.1"), ("10.0.0.1", "10.0.0.1"), ("v1.10", "v1.10"), ("1e3x", "1e3x"), ("12:3x", "12:3x"),
        ("2026-11", "2026-11"), ("not yes", "not yes"), ("a#b", "a#b"), ("0xZZ", "0xZZ"), ("inf", "inf"), ("-", "-"),
    ],
)  # fmt: skip
def test_words_of_one_meaning_are_read_bare(plain: str, value: Any) -> None:
    got = read(f"x: {plain}\n") if plain != "-" else {"x": "-"}
    assert got == {"x": value}
    assert type(got["x"]) is type(value)


def _calls(text: str) -> int:
    """How many calls reading takes, of Python and C functions: work, counted the same on every machine."""
    count = 0

    def watch(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        parse(text.encode(), name="bomb")
    except CorruptRecord:
        pass
    finally:
        sys.setprofile(before)
    return count


def _merge_bomb() -> str:
    levels = [f"a{n}: &a{n}\n  <<: [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 22)]
    return "a0: &a0 {x: 1}\n" + "".join(levels)


def _alias_bomb() -> str:
    return 'a0: &a0 ["lol"]\n' + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 12))


BOMBS = {
    "merge keys": _merge_bomb(),
    "aliases": _alias_bomb(),
    "depth": "".join(" " * n + f"k{n}:\n" for n in range(340)),
    "flow depth": "a: " + "[" * 32_000 + "]" * 32_000,
    "flow mappings": "{a: " * 16_000,
    "question marks": "? " * 32_000,
    "bracketed question marks": "[? " * 21_000,
    "dashes": "- " * 32_000 + "x",
    "small keys": "".join(f"k{n}: 1\n" for n in range(6500)),
    "small items": "a:\n" + "- 1\n" * 16_000,
    "flow items": "a: [" + "1," * 32_000 + "]",
    "digits": "a: " + "1" * 65_000 + "x",
    "underscores": "a: 1" + "_" * 65_000 + "x",
    "sexagesimal": "a: " + "1:" * 32_000 + "x",
    "blank lines": "a: |\n" + "\n" * 65_000,
    "comments": "#\n" * 32_000 + "a: [",
    "quotes": 'a: "' + '\\"' * 32_000,
    "single quotes": "a: '" + "''" * 32_000,
    "plain over lines": "a: x\n" + " x\n" * 21_000,
    "spaces": "a: x" + " " * 65_000 + "y",
    "tags": "a: " + "!a " * 21_000,
    "folded": "a: >\n" + " x\n" * 21_000,
    "open brackets": "a: [\n" * 13_000,
    "colons": "a" + ":" * 65_000,
}


@pytest.mark.parametrize("name", BOMBS)
def test_the_worst_file_of_the_size_limit_ends_soon(name: str) -> None:
    assert len(BOMBS[name]) <= FILE_LIMIT
    # Not more than some calls for each character. (A reader looks 1024 characters ahead for the end of a key.)
    assert _calls(BOMBS[name]) < 40 * FILE_LIMIT


def test_the_greatest_good_file_is_read() -> None:
    text = "a:\n" + "- 'x'\n" * (YAML_NODES - 3)
    assert len(read(text)["a"]) == YAML_NODES - 3


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet="ab01 \n\t-?:,[]{}#&*!|>'\"%@`~<=.\\xuU", max_size=60))
@example("? a\n? b\n")
@example("a: |2\n   x\n")
@example("- - - a\n")
@example("a: >+\n\n\n")
def test_the_reader_gives_plain_data_or_refuses(text: str) -> None:
    try:
        data = read(text)
    except CorruptRecord:
        return
    assert json.loads(json.dumps(data)) == data


@settings(deadline=None, max_examples=150)
@given(
    st.dictionaries(clean_texts.filter(lambda key: len(key) < 100), clean_texts, max_size=4),
    st.sampled_from(["'", '"']),
)
def test_any_style_of_quotes_reads_the_same(data: dict[str, str], quote: str) -> None:
    def quoted(text: str) -> str:
        if quote == "'" and "\n" not in text and "\t" not in text and text.isprintable():
            return "'" + text.replace("'", "''") + "'"
        return json.dumps(text, ensure_ascii=False)

    text = "# by hand\n" + "".join(f"{quoted(key)} : {quoted(value)}\n" for key, value in data.items())
    assert (read(text) or {}) == data


# Faults that other programs had (cases B015, B017, B018, B019, B021): small fixtures, and the shared inputs if there.

BARE = [
    "Fix: use pool size 5", "issue #12 is fixed", "*.py files are ignored", "@decorator first", "`make test` only",
    "%s is a format", "!important rule", "& more", "- item", "{a} and b", "[x] done", "> 5 retries", "\n\ttabbed: 1",
]  # fmt: skip


@pytest.mark.parametrize("bare", BARE)
def test_bare_punctuation_is_refused_with_its_line_and_read_in_quotes(bare: str) -> None:
    refused(f"format: 1\ntext: {bare}\n", "line ")
    assert read(f"format: 1\ntext: {json.dumps(bare)}\n")["text"] == bare


def shared(case: str, pattern: str) -> list[Path]:
    return sorted((SHARED / case).glob(pattern))


@pytest.mark.parametrize(
    "path", [*shared("B019", "*.yaml"), *shared("B021", "*.yaml"), *shared("B017", "*.yaml")], ids=str
)
def test_the_shared_files_are_refused_with_a_line(path: Path) -> None:
    message = refused(path.read_bytes(), "line ")
    assert "quote" in message or "twice" in message


@pytest.mark.parametrize("path", shared("B015", "texts.json"), ids=str)
def test_the_shared_texts_come_back(path: Path) -> None:
    for text in json.loads(path.read_text()).values():
        if text.encode("utf-8", "replace").decode() == text:
            assert read(emit({"a": text, "b": "twin"})) == {"a": text, "b": "twin"}
        else:
            refused(emit({"a": text}), "half of a character")


@pytest.mark.parametrize("path", shared("B018", "ids.yaml"), ids=str)
def test_the_shared_ids_are_refused_bare_and_kept_in_quotes(path: Path) -> None:
    refused(path.read_bytes(), "line 2", "'1e3'")
    data = YAML(typ="rt", pure=True).load("a: ['on', '1e3', '007', '=', 'null', '0x10', '12_3']")["a"]
    for word in map(str, data):
        written = emit({"scope": word})
        assert {name: reader(written) for name, reader in READERS.items()} == {key: {"scope": word} for key in READERS}
