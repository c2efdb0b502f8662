"""A shell command as it stands in a tool call, read as the programs that it runs.

It is read to compare two commands, never to run one: what a shell would only know when it runs is not read at all.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Sequence
from shlex import shlex
from typing import Any, Final

from gitmem.model.frozen import dataclass
from gitmem.model.pattern import pattern

SHELLS: Final = frozenset(
    ["bash", "exec", "exec_command", "execute_command", "local_shell", "powershell", "run_command", "run_in_terminal",
     "run_shell_command", "run_terminal_cmd", "shell", "shell_command", "user_shell_command"]
)  # fmt: skip
LONGEST: Final = 4000  # characters of a command that is read
_FIELD: Final = pattern(r"^(?:command|cmd|CommandLine|script): ?", re.MULTILINE)
_NEXT: Final = pattern(r"\n[A-Za-z_]{2,40}: ")
_QUOTED: Final = pattern(r"\bcmd\"?\s*:\s*(\"(?:[^\"\\]|\\.){1,4000}\")")  # of a program that calls the shell
_COMMENT: Final = pattern(r"^[ \t]*#.*(?:\n|$)", re.MULTILINE)
_ASSIGNED: Final = pattern(r"[A-Za-z_]\w*=.*", re.DOTALL)
_ENDS: Final = frozenset(["&&", ";", "\n", "||", "|", "|&", "&"])
_UNREAD: Final = frozenset(["(", ")", "$", "`", "{", "}", "for", "while", "until", "if", "case", "function", "!", "[["])
# Words that run the program behind them: how many words of their own they take before it.
_WRAPPERS: Final = {
    "sudo": 0, "time": 0, "env": 0, "nice": 0, "command": 0, "exec": 0, "nohup": 0, "npx": 0, "bunx": 0, "uvx": 0,
    "xvfb-run": 0, "timeout": 1, "gtimeout": 1,
}  # fmt: skip
_RUNNERS: Final = {
    "uv": ("run",), "poetry": ("run",), "pipenv": ("run",), "pdm": ("run",), "hatch": ("run",), "rye": ("run",),
    "bundle": ("exec",), "pnpm": ("exec", "dlx"), "yarn": ("exec", "dlx"), "npm": ("exec",), "mise": ("exec",),
}  # fmt: skip
_SETTING_UP: Final = frozenset(
    ["cd", "export", "source", ".", "set", "pushd", "popd", "ulimit", "echo", "true", "date"]
)


@dataclass(frozen=True)
class Part:
    """One program with its words, without what only wraps it. `way` are the words that wrapped it."""

    program: str
    words: tuple[str, ...]
    way: tuple[str, ...] = ()


@dataclass(frozen=True)
class Command:
    """What a command line runs. `plain`: its exit status is that of its parts, joined by `&&` alone; else it may hide
    what failed. `folder`: where it runs, as far as that is told. `setting_up` is left out of `parts`."""

    text: str
    parts: tuple[Part, ...]
    plain: bool
    folder: str = ""


def command_of(tool: str | None, text: str) -> str:
    """The command line in the text of a tool call, "" when it is none."""
    name = (tool or "").lower()
    if name not in SHELLS:
        return ""
    field = _FIELD.search(text)
    if field is None:
        found = _QUOTED.findall(text)
        return str(json.loads(found[0], strict=False)) if len(found) == 1 else ""
    line = text[field.end() :]
    after = _NEXT.search(line)
    line = line[: after.start()] if after else line
    return _of_list(line) if line.startswith("[") else line.strip()


def _of_list(line: str) -> str:
    """`["bash", "-lc", "…"]` and `["git", "status"]`."""
    try:
        words: Any = json.loads(line)
    except ValueError:
        return line.strip()
    if not (isinstance(words, list) and words and all(isinstance(word, str) for word in words)):
        return ""
    if len(words) == 3 and words[1].startswith("-") and words[1].endswith("c"):
        return str(words[2]).strip()
    from shlex import join

    return join(words)


def read(text: str, folder: str = "") -> Command | None:
    """The command line as parts; None for one that is not read: a loop, a substitution, a text fed in."""
    if len(text) > LONGEST or "<<" in text or "$(" in text or "`" in text:
        return None
    words = _words(text)
    if words is None:
        return None
    parts: list[Part] = []
    plain = True
    for segment, end in _segments(words):
        if not segment:
            continue
        if segment[0] in _UNREAD:
            return None
        plain = plain and end in ("", "&&", "\n")
        if segment[0] == "cd" and len(segment) == 2:
            folder = posixpath.normpath(posixpath.join(folder, segment[1]))
        if segment[0] not in _SETTING_UP and (part := _part(segment)) is not None:
            parts.append(part)
    # Of lines and of `;` only the last one's status is told.
    several = len(parts) > 1 and any(end == "\n" for _, end in _segments(words))
    return Command(text, tuple(parts), plain and not several, folder) if parts else None


def _words(text: str) -> list[str] | None:
    joined = _COMMENT.sub("", text).replace("\\\n", " ").strip()
    lexer = shlex(joined, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace = " \t\r"
    lexer.commenters = ""
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:  # a quote that nothing closes
        return None


def _segments(words: Sequence[str]) -> Iterator[tuple[list[str], str]]:
    """(words without redirections, what ends them)."""
    segment: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in _ENDS or word.strip("\n;") == "":
            yield segment, "\n" if word.strip("\n") == "" else ";" if ";" in word else word
            segment = []
        elif word[:1] in "<>" or word in ("&>", "&>>"):
            skip = True
            if segment and segment[-1] in ("1", "2"):
                segment.pop()
        else:
            segment.append(word)
    yield segment, ""


def _part(words: Sequence[str]) -> Part | None:
    way: list[str] = []
    left = list(words)
    while left:
        word = left[0]
        name = posixpath.basename(word)
        if _ASSIGNED.fullmatch(word):
            left.pop(0)  # a value may be a secret, and is no part of what runs
            continue
        if name in _WRAPPERS and len(left) > 1:
            way += left[: 1 + _WRAPPERS[name]]
            left = _behind_flags(left[1 + _WRAPPERS[name] :])
        elif name in _RUNNERS and len(left) > 2 and left[1] in _RUNNERS[name]:
            way += left[:2]
            left = _behind_flags(left[2:])
        elif _is_python(name) and len(left) > 2 and left[1] == "-m":
            way += [word, "-m"]
            left = left[2:]
        else:
            break
    if not left:
        return None
    program = posixpath.basename(left[0])
    if left[0] != program:
        way.append(posixpath.dirname(left[0]) + "/")
    return Part(program, tuple(left[1:]), tuple(way))


def _is_python(name: str) -> bool:
    return name in ("python", "python3", "py") or name.startswith(("python3.", "python2"))


def _behind_flags(words: list[str]) -> list[str]:
    while words and words[0].startswith("-") and len(words) > 1:
        words = words[1:]
    return words
