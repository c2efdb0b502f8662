"""What a source file defines, and what a part of it says apart from its layout. The one module that parses code.

Languages that are not here, files that are too large and text that is no UTF-8 have no definitions: whoever asks goes
by lines instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from gitmem.evidence.languages import LANGUAGES, Language

if TYPE_CHECKING:
    from tree_sitter import Node

_PARSED: Final = 1024 * 1024  # bytes; a larger file is seldom written by hand
_NESTED: Final = 200  # levels of a tree that are walked; deeper ones are taken as text
# Dropped where the shape of the tree says the same.
_LAYOUT: Final = frozenset("()[]{},;:\n") | {"\r\n", ""}
_SAME: Final = {"expression_list": "tuple", "pattern_list": "tuple_pattern"}  # with and without parentheses
_UNQUOTED: Final = str.maketrans("", "", "'\"")


class Definition(NamedTuple):
    """name: dotted, outermost first. first, last: its lines, counted from 1, decorators and `export` included."""

    name: str
    first: int
    last: int
    variable: bool
    node: Any
    value: Any


class Code:
    """A parsed file."""

    def __init__(self, root: Node, language: Language) -> None:
        self._root = root
        self._language = language

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        """In the order of the file, an outer one before what lies in it. A local variable is none."""
        return tuple(_definitions(self._root, self._language))

    def named(self, name: str) -> list[Definition]:
        """Those that `name` means: of that very name, else those inside others that end so."""
        exact = [found for found in self.definitions if found.name == name]
        return exact or [found for found in self.definitions if found.name.endswith(f".{name}")]

    def enclosing(self, first: int, last: int) -> Definition | None:
        """The smallest definition that holds all these lines."""
        around = [found for found in self.definitions if found.first <= first and last <= found.last]
        return min(around, key=lambda found: found.last - found.first, default=None)

    def meaning(self, definition: Definition | None = None) -> str:
        """What a definition (None: the file) says: its tree without comments, layout, kinds of quotes, redundant
        parentheses, trailing commas and breaks between the parts of a string. Two with one meaning do the same."""
        return _meaning(self._root if definition is None else definition.node)

    def value(self, definition: Definition) -> str | None:
        """The meaning of what a variable is set to; None when it is set to nothing."""
        return None if definition.value is None else _meaning(definition.value)

    def literal(self, definition: Definition) -> str:
        """What a variable is set to, as the file spells it on one line; empty when it is set to nothing."""
        value = definition.value
        while value is not None and value.type == "parenthesized_expression" and value.named_child_count == 1:
            value = value.named_children[0]
        return "" if value is None else " ".join(_text(value).split())

    def words(self, first: int, last: int) -> list[tuple[str, int]]:
        """The leaves of the tree on these lines, with their lines, comments too; where indentation says something, it
        is a leaf."""
        return [found for found in _words(self._root, self._language, first, last) if first <= found[1] <= last]

    def words_of(self, first: int, last: int) -> list[str]:
        """The leaves on these lines, without closing marks at their end: what follows the lines does not count."""
        found = [word for word, _ in self.words(first, last)]
        while found and found[-1] == _CLOSE:
            found.pop()
        return found


def parsed(path: str, data: bytes) -> Code | None:
    """The code in `data` by the language that the name of `path` says; None where there is none."""
    language = LANGUAGES.get(path.rpartition(".")[2].lower()) if "." in path else None
    return None if language is None or len(data) > _PARSED else _parsed(language, data)


@lru_cache(maxsize=64)  # one file is asked about for each line of it that is cited
def _parsed(language: Language, data: bytes) -> Code | None:
    try:
        data.decode()
    except UnicodeDecodeError:
        return None
    parse, _ = _loaded(language)
    return Code(parse(data).root_node, language)


@lru_cache(maxsize=len(LANGUAGES))
def _loaded(language: Language) -> tuple[Callable[[bytes], Any], Any]:
    """What parses a language, and the query that finds its definitions."""
    import tree_sitter

    grammar = tree_sitter.Language(getattr(import_module(language.module), language.entry)())
    return tree_sitter.Parser(grammar).parse, tree_sitter.Query(grammar, language.query)


def _definitions(root: Node, language: Language) -> Iterator[Definition]:
    import tree_sitter

    _, query = _loaded(language)
    found = [
        (node, capture) for capture, nodes in tree_sitter.QueryCursor(query).captures(root).items() for node in nodes
    ]
    open_ones: list[tuple[Node, str, str]] = []  # those around the next one, with their capture and name
    for node, capture in sorted(found, key=lambda pair: (pair[0].start_byte, -pair[0].end_byte)):
        while open_ones and open_ones[-1][0].end_byte <= node.start_byte:
            open_ones.pop()
        name = _name(node, language)
        if not name:
            continue
        if capture == "variable" and open_ones and open_ones[-1][1] == "function":
            continue
        whole = next((f"{outer}.{name}" for _, kind, outer in reversed(open_ones) if kind != "variable"), name)
        open_ones.append((node, capture, whole))
        if capture != "scope":
            around = _around(node, language)
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            yield Definition(whole, *_rows(around), capture == "variable", around, value)


def _name(node: Node, language: Language) -> str:
    """The name of a definition; of a method that stands beside its type, with that type."""
    owner = node.child_by_field_name("receiver")
    found = next((part for field in language.names if (part := node.child_by_field_name(field)) is not None), None)
    while found is not None and (inner := found.child_by_field_name("declarator")) is not None:
        found = inner  # C: the name stands inside of what is declared
    if found is None:
        return ""
    name = _text(found).partition("<")[0].strip()
    if owner is None:
        return name
    types = [part for part in _leaves(owner) if part.type == "type_identifier"]
    return f"{_text(types[0])}.{name}" if types else name


def _around(node: Node, language: Language) -> Node:
    """The statement that is nothing but this definition: with its decorators, `export`, `const`."""
    while (outer := node.parent) is not None and outer.type in language.wrappers:
        if sum(child.type == node.type for child in outer.named_children) > 1:
            break
        node = outer
    return node


def _rows(node: Node) -> tuple[int, int]:
    first, last = node.start_point.row + 1, node.end_point.row + 1
    return first, last - 1 if node.end_point.column == 0 and last > first else last


def _meaning(node: Node) -> str:
    said: list[str] = []
    _say(node, said, 0)
    return "\0".join(said)


def _say(node: Node, said: list[str], depth: int) -> None:
    kind = node.type
    if "comment" in kind or kind == "line_continuation":
        return
    if node.child_count == 0 or depth > _NESTED:
        if node.is_named:
            said.append(f"{kind} {_leaf(node).strip()}")
        elif kind not in _LAYOUT:
            said.append(kind)
        return
    if kind in ("string", "concatenated_string") and (text := _plain_string(node)) is not None:
        said.append(f"string {text}")
        return
    wraps = kind not in ("parenthesized_expression", "expression_statement")
    if wraps:
        said.append(f"({_SAME.get(kind, kind)}")
    for child in node.children:
        _say(child, said, depth + 1)
    if wraps:
        said.append(")")


def _plain_string(node: Node) -> str | None:
    """What a Python string without prefix and without values in it holds, in one piece or in several."""
    if node.type == "concatenated_string":
        parts = [_plain_string(child) for child in node.named_children if child.type != "comment"]
        return None if None in parts else "".join(part or "" for part in parts)
    if node.type != "string" or node.child_count < 2 or _text(node.children[0]).strip("'\""):
        return None
    inside = node.children[1:-1]
    return "".join(map(_text, inside)) if all(part.type == "string_content" for part in inside) else None


_OPEN, _CLOSE = "\u2039", "\u203a"  # where a block begins and ends


def _words(root: Node, language: Language, first: int, last: int) -> Iterator[tuple[str, int]]:
    stack: list[Node | int] = [root]
    line = 1
    while stack:
        node = stack.pop()
        if isinstance(node, int):
            yield _CLOSE, line
        elif node.child_count:
            if node.type == language.block:
                yield _OPEN, node.start_point.row + 1
                stack.append(0)
            stack += reversed([n for n in node.children if n.start_point[0] < last and n.end_point[0] >= first - 1])
        elif node.type != ",":
            for number, part in enumerate(_leaf(node).split("\n")):
                if word := " ".join(part.split()):
                    line = node.start_point.row + 1 + number
                    yield word, line


def _leaf(node: Node) -> str:
    """The text of a leaf. Of the marks around a string only what they mean is kept."""
    text = _text(node)
    if node.type == "string_start":
        return text.translate(_UNQUOTED).lower() + '"'
    return '"' if node.type == "string_end" else text


def _leaves(node: Node) -> Iterator[Node]:
    if node.child_count == 0:
        yield node
    for child in node.children:
        yield from _leaves(child)


def _text(node: Node) -> str:
    return (node.text or b"").decode()


def occurrences(wanted: Sequence[str], among: Sequence[str]) -> list[int]:
    """The places at which `wanted` stands in `among` without a gap."""
    if not wanted:
        return []
    size, first = len(wanted), wanted[0]
    found, wanted = [], list(wanted)
    for place in range(len(among) - size + 1):
        if among[place] == first and list(among[place : place + size]) == wanted:
            found.append(place)
    return found
