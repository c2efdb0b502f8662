"""Items of an instruction file: CLAUDE.md, AGENTS.md, GEMINI.md, Cursor and Copilot rules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from gitmem.model.vocabulary import Kind
from gitmem.notes.items import Item, Unread, plain, title_of
from gitmem.notes.markdown import Block, Entry, blocks
from gitmem.notes.page import Page

_NORM: Final = re.compile(
    r"\b(?:must|should|shall|never|always|don['’]t|do not|avoid|prefer|required|forbidden|make sure|ensure|only use)\b",
    re.IGNORECASE,
)
_VERBS: Final = frozenset({
    "add", "aim", "apply", "ask", "assume", "avoid", "bump", "call", "catch", "check", "choose", "clean", "close",
    "commit", "configure", "consider", "consult", "copy", "create", "declare", "define", "delete", "deploy",
    "describe", "disable", "document", "enable", "escape", "export", "extract", "fix", "follow", "format",
    "generate", "give", "handle", "implement", "import", "include", "inject", "install", "keep", "leave", "limit",
    "lint", "make", "mark", "match", "merge", "mock", "move", "pass", "pin", "place", "prefer", "push", "put",
    "raise", "read", "rebase", "refer", "refactor", "regenerate", "release", "remember", "remove", "rename",
    "reuse", "replace", "respect", "restart", "return", "review", "run", "separate", "set", "ship", "show", "skip",
    "sort", "split", "squash", "start", "stay", "stick", "stop", "structure", "tag", "test", "throw", "treat",
    "try", "update", "upgrade", "use", "validate", "verify", "wait", "wrap", "write",
})  # fmt: skip
_RULE_STEP: Final = re.compile(r"(?:never|always|don['’]t|do not|avoid|prefer|must|no|only)\b", re.IGNORECASE)
_CONDITION: Final = re.compile(r"(?:when|if|before|after|for|to|in order|while|unless|once|whenever)\b", re.IGNORECASE)
_NEEDS_SUBJECT: Final = re.compile(r"(?:it|its|this|that|these|those|they|he|she|same|also|otherwise)\b", re.IGNORECASE)
_LABEL: Final = re.compile(r"[^:.!?]{1,40}:\s+(?=\S)")
_WORD: Final = re.compile(r"\w+")
_ONLY_LINK: Final = re.compile(r"!?\[[^\]\[]*\]\([^()\s]*\)\.?$|<?https?://\S+>?$")
# "See docs/x.md for more." says nothing by itself; "See the guide before you deploy" does.
_POINTERS: Final = re.compile(
    r"(?:(?:please )?(?:see|refer to|consult)\b[^!?\n]{1,120}? for (?:more|further|the)?\s*"
    r"(?:details?|info(?:rmation)?|reading)?(?: (?:on|about) [^.!?\n]{1,60})?(?:[.!]\s*|$)"
    r"|for (?:more|further|the)?\s*(?:details?|info(?:rmation)?)(?: (?:on|about) [^.!?\n]{1,60}?)?,? "
    r"(?:please )?(?:see|refer to|read|consult)\b[^!?\n]{1,120}?(?:[.!](?:\s+|$)|$)"
    r"|(?:please )?see(?: also)? \S+(?:[.!]\s*|$))+",
    re.IGNORECASE,
)
_TO_DO: Final = re.compile(
    r"(?:TODO|FIXME|TBD|XXX|WIP)(?:\([^)]{0,40}\))?\s*(?:[:–—-]|\.?$)"
    r"|(?:to be (?:done|written|decided)|coming soon)\W*$",
    re.IGNORECASE,
)
_LOOKED: Final = 600  # characters of a statement that are looked at for such words
_IMPORTS: Final = re.compile(r"@\S+$")
_SHELLS: Final = frozenset({
    "sh", "bash", "shell", "zsh", "fish", "console", "shell-session", "shellsession", "terminal", "powershell",
    "ps1", "pwsh", "bat", "cmd",
})  # fmt: skip
_PROGRAMS: Final = frozenset({
    "bun", "bundle", "cargo", "cd", "cmake", "composer", "curl", "deno", "docker", "dotnet", "git", "go", "gradle",
    "just", "make", "mvn", "node", "npm", "npx", "pip", "pnpm", "poetry", "pre-commit", "pytest", "python",
    "python3", "ruff", "rake", "swift", "terraform", "tox", "uv", "uvx", "yarn", "./gradlew",
})  # fmt: skip
_STANDS_FROM: Final = 2  # words of an instruction that can be read without its parent
_SENTENCE_FROM: Final = 5
_JOINED_UP_TO: Final = 600  # characters of a list that is kept whole below the line that leads to it


def instruction_items(page: Page) -> Iterator[Item | Unread]:
    """The items of the page in order: conventions, procedures and facts."""
    headings: list[Block] = []
    topic = " ".join(page.front.get("description", ()))
    above: Block | None = None  # the heading that stands right above
    found = blocks(page.lines)
    names_file = _file_heading(found)
    at = 0
    while at < len(found):
        block = found[at]
        following = found[at + 1] if at + 1 < len(found) else None
        at += 1
        if block.kind == "heading":
            while headings and headings[-1].level >= block.level:
                headings.pop()
            headings.append(block)
            above = block
            continue
        path = _path(headings, names_file, topic)
        if block.kind == "paragraph" and following is not None and following.kind == "code":
            yield _with_code(block, following, path)
            at += 1
        elif (
            block.kind == "paragraph"
            and following is not None
            and following.kind in ("list", "table")
            and plain(block.text[-3:]).endswith(":")
        ):
            led = _led_list(block, following, path) if following.kind == "list" else _led_table(block, following, path)
            yield from led
            at += 1
        elif block.kind == "paragraph":
            yield _statement(block.text, block.start, block.end, path)
        elif block.kind == "list":
            yield from _list(block, path, above)
        elif block.kind == "table":
            yield Unread(block.start, block.end, "a table with no words that lead to it")
        else:
            yield _lone_code(block, path, above)
        above = None


def split_entry(entry: Entry, path: tuple[str, ...]) -> Iterator[tuple[str, int, int, tuple[str, ...]]]:
    """(text, start, end, path) of a list item: with its children joined, or each child that stands alone."""
    if not entry.children or not _stand_alone(entry.text, entry.children):
        yield joined(entry), entry.start, entry.end, path
        return
    inner = (*path, title_of(entry.text))
    if not _is_label(entry.text):
        yield entry.text, entry.start, entry.children[0].start - 1, path
    for child in entry.children:
        yield child.text, child.start, child.end, inner


def joined(entry: Entry) -> str:
    """The item and its children as text."""
    lines = [entry.text]
    for child in entry.children:
        first, *rest = child.text.split("\n")
        lines += [f"- {first}", *(f"  {line}" if line else "" for line in rest)]
    return "\n".join(lines)


def _path(headings: list[Block], names_file: Block | None, topic: str) -> tuple[str, ...]:
    parts = [plain(heading.text) for heading in headings if heading is not names_file]
    return tuple(part for part in (topic, *parts) if part)


def _file_heading(found: list[Block]) -> Block | None:
    """The heading that names the file or the project, and so tells no item from another."""
    headings = [block for block in found if block.kind == "heading"]
    tops = [heading for heading in headings if heading.level == 1]
    if len(tops) != 1 or headings[0] is not tops[0]:
        return None
    return tops[0] if len(headings) > 1 or tops[0].text.lower().endswith(".md") else None


def _item(kind: Kind, text: str, body: str, start: int, end: int, path: tuple[str, ...]) -> Item:
    # Whether "Use pnpm" makes sense without "Frontend" cannot be told here, so every item keeps its heading path.
    whole = f"{' > '.join(path)}\n\n{body}" if path else body
    return Item(kind, text, whole, start, end, context=path[-1] if path else "")


def _statement(text: str, start: int, end: int, path: tuple[str, ...]) -> Item | Unread:
    look = plain(text)
    if _ONLY_LINK.match(text):
        return Unread(start, end, "only a link")
    if _IMPORTS.match(look):
        return Unread(start, end, "an import of another file")
    if _TO_DO.match(rest := _POINTERS.sub("", look[:_LOOKED])):
        return Unread(start, end, "still to be done")
    if not rest.strip():
        return Unread(start, end, "only says where more is to be found")
    return _item("convention" if _is_imperative(look) else "fact", text, text, start, end, path)


def _is_imperative(look: str) -> bool:
    head = look[:300]
    if _NORM.search(head):
        return True
    label = _LABEL.match(head)
    starts = [head, head[label.end() :]] if label else [head]
    if (comma := head.find(", ")) > 0 and _CONDITION.match(head):
        starts.append(head[comma + 2 :])
    words = (_WORD.search(start) for start in starts)
    return any(word is not None and word[0].lower() in _VERBS for word in words)


def _is_label(text: str) -> bool:
    look = plain(text)
    return len(_WORD.findall(look)) <= 4 and not _CONDITION.match(look)


def _stand_alone(parent: str, children: tuple[Entry, ...]) -> bool:
    look = plain(parent)
    if look.endswith(":") and not _is_label(parent):
        return False
    for child in children:
        said = plain(child.text)
        words = len(_WORD.findall(said))
        instruction = words >= _STANDS_FROM and _is_imperative(said)
        sentence = words >= _SENTENCE_FROM and said.endswith((".", "!", "。"))
        if _NEEDS_SUBJECT.match(said) or not (instruction or sentence):
            return False
    return True


def _led_list(lead: Block, block: Block, path: tuple[str, ...]) -> Iterator[Item | Unread]:
    whole = Entry(lead.start, block.end, lead.lines, block.entries)
    if _is_procedure(block):
        yield _item("procedure", lead.text, _numbered(whole), lead.start, block.end, path)
        return
    children = tuple(replace(entry, own=tuple(joined(entry).split("\n")), children=()) for entry in block.entries)
    text = joined(replace(whole, children=children))
    if len(text) <= _JOINED_UP_TO and not _stand_alone(lead.text, block.entries):
        yield _statement(text, lead.start, block.end, path)
        return
    if not lead.text.endswith(":"):
        yield _statement(lead.text, lead.start, lead.end, path)
    yield from _list(block, (*path, title_of(lead.text)), None)


def _led_table(lead: Block, table: Block, path: tuple[str, ...]) -> Iterator[Item | Unread]:
    body = f"{lead.text}\n\n{table.text}"
    kind: Kind = "convention" if _is_imperative(plain(lead.text)) else "fact"
    yield _item(kind, lead.text, body, lead.start, table.end, path)


def _list(block: Block, path: tuple[str, ...], above: Block | None) -> Iterator[Item | Unread]:
    if _is_procedure(block):
        steps = Entry(block.start, block.end, (), block.entries)
        if above is not None and above.text.strip():
            yield _item("procedure", above.text, _numbered(steps), above.start, block.end, path[:-1])
        else:
            yield _item("procedure", block.entries[0].text, _numbered(steps), block.start, block.end, path)
        return
    for entry in block.entries:
        for text, start, end, inner in split_entry(entry, path):
            yield _statement(text, start, end, inner)


def _is_procedure(block: Block) -> bool:
    # A numbered list of rules ("1. Never …") is a list of conventions, not of steps.
    if not block.ordered or len(block.entries) < 2:
        return False
    return not any(_RULE_STEP.match(plain(entry.text)) for entry in block.entries)


def _numbered(whole: Entry) -> str:
    lines = [whole.text] if whole.text else []
    for number, step in enumerate(whole.children, 1):
        first, *rest = joined(step).split("\n")
        lines += [f"{number}. {first}", *(f"   {line}" if line else "" for line in rest)]
    return "\n".join(lines)


def _with_code(lead: Block, code: Block, path: tuple[str, ...]) -> Item:
    body = f"{lead.text}\n{_fenced(code)}"
    kind: Kind = "procedure" if _is_commands(code) else "convention" if _is_imperative(plain(lead.text)) else "fact"
    return _item(kind, lead.text, body, lead.start, code.end, path)


def _lone_code(code: Block, path: tuple[str, ...], above: Block | None) -> Item | Unread:
    if not code.text.strip():
        return Unread(code.start, code.end, "an empty code block")
    if above is not None and above.text.strip():
        kind: Kind = "procedure" if _is_commands(code) else "fact"
        return _item(kind, above.text, _fenced(code), above.start, code.end, path[:-1])
    return Unread(code.start, code.end, "code with no words about it")


def _is_commands(code: Block) -> bool:
    if code.word in _SHELLS:
        return True
    first = next((line.strip() for line in code.lines if line.strip() and not line.lstrip().startswith("#")), "")
    return not code.word and (first.startswith("$ ") or first.split(" ", 1)[0] in _PROGRAMS)


def _fenced(code: Block) -> str:
    return f"```{code.word}\n{code.text}\n```"
