"""What a lesson says: the problem is the error that was seen, the solution what was changed before it was gone."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from gitmem.capture.check_output import normalised
from gitmem.model.frozen import dataclass
from gitmem.model.text import is_clean, one_line
from gitmem.model.vocabulary import TITLE_LIMIT

if TYPE_CHECKING:
    from gitmem.capture.fixes import Fix
    from gitmem.capture.outcomes import Changed, Check

_NAME: Final = 70  # characters of what was run, in a title
_LINES: Final = 6  # of an edit that are told
_LINE: Final = 140
_TESTS: Final = 6
_OLD_NAMES: Final = ("old_string", "oldText", "old_str", "old_text", "oldString", "TargetContent")
_NEW_NAMES: Final = ("new_string", "newText", "new_str", "new_text", "newString", "ReplacementContent")
# What a tool for edits is given beside the two texts. Other lines with a colon are lines of these texts, as of YAML.
_OTHERS: Final = (
    "file_path", "filePath", "path", "TargetFile", "target_file", "replace_all", "replaceAll", "expected_replacements",
    "allow_multiple", "AllowMultiple", "instruction", "Instruction", "description", "Description", "explanation",
    "StartLine", "EndLine", "command", "CodeMarkdownLanguage", "Complexity", "TargetLintErrorIds",
)  # fmt: skip
_END: Final = rf"(?=^(?:{'|'.join((*_OLD_NAMES, *_NEW_NAMES, *_OTHERS))}): |\Z)"
_OLD: Final = re.compile(rf"^(?:{'|'.join(_OLD_NAMES)}): (.*?){_END}", re.M | re.S)
_NEW: Final = re.compile(rf"^(?:{'|'.join(_NEW_NAMES)}): (.*?){_END}", re.M | re.S)
_EDITS: Final = re.compile(r"^(?:edits|ReplacementChunks): (\[.*)$", re.M)  # several of one file, as JSON
_PATCHED: Final = re.compile(r"^[+-](?![+-]{2} )(.*)$", re.M)
_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_TELLING: Final = 3  # words of an error that make it one of its own, whatever test it was seen in


@dataclass(frozen=True)
class Said:
    """The texts of a problem and its solution, and what makes each the same in another session."""

    problem_key: str
    problem: str
    problem_body: str
    fix_key: str
    fix: str
    fix_body: str
    files: tuple[str, ...]


def said(fix: Fix, top: Sequence[str], *, excerpts: bool = True) -> Said:
    """`top`: folders of the repository; files are told as they are named below one of them."""
    failed, passed = fix.failed, fix.passed
    files = tuple(dict.fromkeys(below(path, top) for path in fix.files))
    name = one_line(failed.name, _NAME)
    error = " ".join(failed.error.split()).removeprefix("E ")  # the mark of pytest before what was raised
    problem_key = _digest(*_identity(failed))
    what = _what(fix, files)
    tests = sorted(failed.failed)
    told = [f"`{one_line(failed.run, 200)}` failed with: {error}"]
    if tests:
        told.append(f"tests that failed: {', '.join(tests[:_TESTS])}" + (" …" if len(tests) > _TESTS else ""))
    body = [f"Changed between the last failure and the pass of `{one_line(passed.run, 200)}`:"]
    body += list(_changes(fix, top, excerpts=excerpts))
    if fix.attempts > 1:
        body.append(f"It had failed in this way {fix.attempts} times by then.")
    return Said(
        problem_key=f"lesson.problem.{problem_key}",
        problem=one_line(f"{name} fails: {error}", TITLE_LIMIT),
        problem_body="\n".join(told),
        fix_key=f"lesson.fix.{_digest(problem_key, *_repair(fix, files))}",
        fix=one_line(f"What got {name} to pass: {what}", TITLE_LIMIT),
        fix_body="\n".join(body),
        files=tuple(path for path in files if not posixpath.isabs(path) and ".." not in path.split("/")),
    )


def below(path: str, top: Sequence[str]) -> str:
    """A path relative to the repository, as a tool named it; one outside by its last parts, for it names a machine."""
    path = path.replace("\\", "/")
    for folder in top:
        if folder and path.startswith(folder.rstrip("/") + "/"):
            return path[len(folder.rstrip("/")) + 1 :]
    if posixpath.isabs(path) or path[1:3] == ":/":
        return "…/" + "/".join(path.split("/")[-2:])
    return path.removeprefix("./")


def _identity(failed: Check) -> tuple[str, ...]:
    """What makes two failures the same: the program and the error; of one that says little, the tests as well."""
    error = normalised(failed.error)
    program = " ".join(one.name for one in failed.checks)
    telling = len(_WORD.findall(error)) >= _TELLING and not error.startswith("e assert")
    if telling:
        return (program, error)
    return (program, error, *(sorted(failed.failed) or (word for one in failed.checks for word in one.what)))


def _repair(fix: Fix, files: Sequence[str]) -> tuple[str, ...]:
    if fix.otherwise:
        return ("way", *fix.passed.way, fix.passed.checks[0].name)
    return (*sorted(files), *(sorted(fix.commands) if not files else ()))


def _what(fix: Fix, files: Sequence[str]) -> str:
    if fix.otherwise and not files and not fix.commands:
        return f"call it as `{one_line(fix.passed.run, 100)}`"
    parts = [f"a change of {', '.join(files)}"] if files else []
    parts += [f"`{one_line(command, 80)}`" for command in fix.commands[:3]] if not files else []
    parts += [f"called as `{one_line(fix.passed.run, 100)}`"] if fix.otherwise else []
    return "; ".join(parts)


def _changes(fix: Fix, top: Sequence[str], *, excerpts: bool) -> Iterator[str]:
    if fix.otherwise:
        yield f"- called as `{one_line(fix.passed.run, 200)}`"
    told: set[str] = set()
    for one in fix.changed:
        if one.kind == "edit":
            path = below(one.what, top)
            if path not in told:
                yield f"- {path}"
            told.add(path)
            if excerpts:
                yield from (f"    {line}" for line in _excerpt(one))
        elif one.kind == "command" and one.what not in told:
            told.add(one.what)
            yield f"- ran `{one_line(one.what, 160)}`"
        elif one.kind == "commit":
            yield f"- commit {one.what}"


def _excerpt(change: Changed) -> list[str]:
    """Some lines that the edit took out and put in."""
    text = change.turn.text
    lines: list[str] = []
    for old, new in _replaced(text):
        before, after = old.rstrip("\n").split("\n"), new.rstrip("\n").split("\n")
        lines += [f"- {line.strip()}" for line in before if line not in after and line.strip()][:_LINES]
        lines += [f"+ {line.strip()}" for line in after if line not in before and line.strip()][:_LINES]
    if not lines and "*** Begin Patch" in text:
        lines = [f"{found[0][0]} {found[1].strip()}" for found in _PATCHED.finditer(text) if found[1].strip()]
    return [line[:_LINE] for line in lines[: 2 * _LINES] if is_clean(line) and "[gitmem:" not in line]


def _replaced(text: str) -> Iterator[tuple[str, str]]:
    """(what an edit took out, what it put in), for each that a call tells of."""
    old, new = _OLD.search(text), _NEW.search(text)
    if old and new:
        yield old[1], new[1]
    several = _EDITS.search(text)
    try:
        edits = json.loads(several[1]) if several else []
    except (ValueError, RecursionError):
        return  # a part of it was taken out
    for edit in edits if isinstance(edits, list) else []:
        given = edit if isinstance(edit, dict) else {}
        pair = [next((given[name] for name in names if name in given), None) for names in (_OLD_NAMES, _NEW_NAMES)]
        if isinstance(pair[0], str) and isinstance(pair[1], str):
            yield pair[0], pair[1]


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
