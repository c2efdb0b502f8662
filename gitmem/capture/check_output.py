"""What the output of a check says by itself: whether it passed, the error in a line, the tests it names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from gitmem.capture.turns import Outcome
from gitmem.model.pattern import pattern
from gitmem.model.text import forbidden

_M: Final = re.MULTILINE
_LOOKED_AT: Final = 200_000  # characters at the end of an output; a summary stands there
LONGEST_ERROR: Final = 300
_LETTERS: Final = 6  # below which a line tells nothing

# How runners say at their end that all is well, or that it is not. What only warns says neither.
_FAILED: Final = tuple(
    pattern(text, _M)
    for text in (
        r"^=+ .*\b[1-9]\d* (?:failed|errors?)\b.* in [\d.]+", r"^[1-9]\d* failed[, ]", r"^(?:FAIL|--- FAIL:|FAILED \()",
        r"^Tests:? +(?:\S+ )?.*\b[1-9]\d* failed", r"^ +Tests +[1-9]\d* failed", r"^test result: FAILED",
        r"\berror TS\d+:", r"^Found [1-9]\d* errors?\b", r"^✖ \d+ problems? \([1-9]\d* errors?",
        r"^[1-9]\d* issues?[.:]",
        r"^ *[1-9]\d* failing\b", r"^BUILD FAILED|\bBUILD FAILURE\b", r"^FAILURES!", r"^Failed! +-", r"^npm ERR! ",
        r"^make(?:\[\d+\])?: \*\*\*", r"^\d+ examples?, [1-9]\d* failures?", r"^error: could not compile",
        r"^error\[E\d+\]", r"^\d+ errors? generated", r"^# (?:fail|not ok) [1-9]", r"^not ok \d+",
    )
)  # fmt: skip
_PASSED: Final = tuple(
    pattern(text, _M)
    for text in (
        r"^=+ [1-9]\d* passed\b[^\n]* in [\d.]+", r"^[1-9]\d* passed\b[^\n]* in [\d.]+", r"^ok  \t\S+", r"^PASS$",
        r"^Tests:? +(?:\d+ skipped, )?[1-9]\d* passed, \d+ total", r"^ +Tests +[1-9]\d* passed",
        r"^test result: ok\. [1-9]",
        r"^Success: no issues found", r"^Found 0 errors", r"^All checks passed!", r"^0 issues\.",
        r"^ *[1-9]\d* passing\b",
        r"^BUILD SUCCESSFUL\b|\bBUILD SUCCESS\b", r"^OK \([1-9]\d* tests?", r"^Passed! +-",
        r"^Ran [1-9]\d* tests? in [^\n]*\n+OK\b",
        r"^[1-9]\d* examples?, 0 failures", r"^0 errors, 0 warnings",
    )
)  # fmt: skip
_NOTHING: Final = pattern(
    r"no tests to run|[Nn]o tests? (?:were )?(?:ran|found|collected)|collected 0 items|Ran 0 tests|^running 0 tests$",
    _M,
)
# It did not come to an end, or ran beside: how it went is not known.
_UNENDED: Final = pattern(
    r"\[Request interrupted|Sibling tool call errored|<tool_use_error>|[Cc]ommand timed out|timed out after|"
    r"Command running in background|Process running with session ID|aborted by (?:the )?user|rejected by user|"
    r"KeyboardInterrupt|^(?:\^C|Terminated|Killed)$|exit(?:ed)?(?: with)? (?:status|code):? (?:124|130|137|143)\b|"
    r"Exit code (?:124|130|137|143)\b|user doesn't want to|approval policy is",
    _M,
)
# Hosts that call a command done whatever it ended with, and print the status.
_STATUS: Final = pattern(r"(?:\A|\n)(?:Exit Code: |Command exited with code |<exited with exit code )(-?\d{1,9})")
NOT_THERE: Final = pattern(
    r"command not found|: not found$|No module named '?[\w.]+'?|not recognized as an internal|"
    r"No such file or directory: '|"
    r"could not determine executable|Missing script:|is not installed|executable file not found|Failed to spawn: ",
    _M,
)

# The lines that tell most, best first.
_ERRORS: Final = tuple(
    pattern(text, _M)
    for text in (
        r"^E {2,}(?=\S)(?!assert |\+|-|where)\w*(?:Error|Exception|Failed|Exit|Warning|Interrupt)\b.*$",
        r"^E {2,}assert .*$",
        r"^.*\berror TS\d+: .*$", r"^error\[E\d+\]: .*$", r"^(?:\w+\.)*\w*(?:Error|Exception): .*$", r"^E {2,}\S.*$",
        r"^\S+:\d+(?::\d+)?: (?:fatal )?error: .*$", r"^\s*\S+\.\w+:\d+(?::\d+)?:? .*\S.*$", r"^panic: .*$",
        r"^thread '.*' panicked at .*$", r"^(?:fatal|error|ERROR|Error)(?::|\[).*$", r"^.*command not found.*$",
        r"^ +\d+:\d+ +error +.*$", r"^npm (?:ERR!|error) (?!code|A complete log|errno|syscall|path).*$",
        r"^(?:[\w./-]+: )+(?:cannot|can't|could not|no|not|unable|invalid|unknown|missing|failed) ?.*$",
        r"^.*No such file or directory.*$", r"^make(?:\[\d+\])?: \*\*\* .*$", r"^.*(?:Assertion|assertion).*fail.*$",
        r"^.*\b(?:undefined|expected|Expected|Received|mismatch|refused|denied|not found)\b.*$",
        r"^(?:FAILED|ERROR) \S.*$", r"^.*--- FAIL: .*$", r"^\s*(?:●|✕|×|✗) .*$",
        r"^.*\b[Ee]rror\b.*$", r"^.*\bFAIL(?:ED)?\b.*$",
    )
)  # fmt: skip
_ABOUT_NOTHING: Final = pattern(
    r"(?i)^\W*(?:exit code \d+|command (?:exited|failed) with (?:exit )?code:? \d+|error: exit code \d+|"
    r"process exited .*|"
    r"error|failed|\d+ errors?\b.*|found \d+ errors?.*|debugger attached.*|npm err! code .*|short test summary info|"
    r"make.*: \*\*\* .*error \d+|script failed|exit status \d+|.*task failed|error: task .*|"
    r".*elifecycle.*|.*exit status \d+)\W*$"
)
_TESTS_FAILED: Final = (
    pattern(r"^(?:FAILED|ERROR) (\S+::\S+)", _M), pattern(r"^(\S+::\S+) (?:FAILED|ERROR)\b", _M),
    pattern(r"^ *--- FAIL: (\S+)", _M), pattern(r"^test (\S+) \.\.\. FAILED", _M),
    pattern(r"^(?:FAIL|ERROR): (\S+ \(\S+\))", _M), pattern(r"^rspec (\./\S+:\d+)", _M),
    pattern(r"^ *● (.{1,200}› .{1,200})$", _M), pattern(r"^ *(?:✕|×|✗) (.{1,200}?)(?: \(?\d+ ?ms\)?)?$", _M),
    pattern(r"^ *FAIL +(\S+ > .{1,200})$", _M),
)  # fmt: skip
_TESTS_PASSED: Final = (
    pattern(r"^(\S+::\S+) PASSED\b", _M), pattern(r"^ *--- PASS: (\S+)", _M), pattern(r"^test (\S+) \.\.\. ok", _M),
    pattern(r"^ *(?:✓|√|✔) (.{1,200}?)(?: \(?\d+ ?ms\)?)?$", _M), pattern(r"^(\S+ \(\S+\)) \.\.\. ok", _M),
)  # fmt: skip
_MOST_TESTS: Final = 200
_COLOUR: Final = pattern(r"\x1b\[[0-9;]*m")
_FRAMES: Final = pattern(r"(?:^|[\s\"'(=])((?:[A-Za-z]:)?(?:[\w.@-]*[\\/])+)")
_PLACES: Final = pattern(
    r":\d+(?::\d+)?|\(\d+,\d+\)|0x[0-9a-fA-F]+|\b[0-9a-f]{7,64}\b|\d+(?:\.\d+)?(?: ?m?s\b)?|line \d+"
)


def told_outcome(text: str) -> Outcome | None:
    """What the output says of how the check went, None when it says nothing or both."""
    seen = _plain(text)
    failed = any(one.search(seen) for one in _FAILED)
    passed = any(one.search(seen) for one in _PASSED)
    # One package of several that passed, beside one that failed, is a failure.
    return "failed" if failed else "ok" if passed else None


def ran_nothing(text: str) -> bool:
    """Whether the output says that there was nothing to run, which is no success."""
    seen = _plain(text)
    return _NOTHING.search(seen) is not None and not any(one.search(seen) for one in _TESTS_PASSED)


def is_unended(text: str) -> bool:
    """Whether the call was stopped, put into the background, or never ran."""
    return _UNENDED.search(text[:2000]) is not None or _UNENDED.search(text[-2000:]) is not None


def status_told(text: str) -> int | None:
    """The exit status that a host prints into the output, at its start or end."""
    found = _STATUS.search(text[:400]) or _STATUS.search("\n" + text[-400:])
    return int(found[1]) if found else None


def error_in(text: str) -> str:
    """The line that says most of what went wrong, as it stands there; empty when none does."""
    raw = text[-_LOOKED_AT:].split("\n")
    lines = [(_COLOUR.sub("", line), line) for line in raw]
    for one in _ERRORS:
        for plain, line in lines:
            if one.search(plain):
                words = _cleanest(line)
                if sum(char.isalpha() for char in words) >= _LETTERS and not _ABOUT_NOTHING.match(words):
                    return words
    return ""


def normalised(error: str) -> str:
    """An error without what differs from run to run: folders, places, numbers, addresses."""
    text = _FRAMES.sub(lambda found: found[0].replace(found[1], ""), error)
    return " ".join(_PLACES.sub("#", text).casefold().split())


def named_tests(text: str, outcome: Outcome) -> frozenset[str]:
    """The ids of the tests that the output says failed, or passed."""
    seen = _plain(text)
    named = _TESTS_FAILED if outcome == "failed" else _TESTS_PASSED
    found: set[str] = set()
    for one in named:
        found.update(match.strip().rstrip(":") for match in one.findall(seen))
    return frozenset(sorted(found)[:_MOST_TESTS])


def _plain(text: str) -> str:
    return _COLOUR.sub("", text[-_LOOKED_AT:])


def _cleanest(line: str) -> str:
    """The longest part of a line that holds no control or invisible character, so that it can be quoted."""
    return max(_clean_parts(line), key=len, default="").strip()[:LONGEST_ERROR].strip()


def _clean_parts(line: str) -> Iterator[str]:
    at = 0
    for position, _ in forbidden(line):
        yield _COLOUR_END.sub("", line[at:position])
        at = position + 1
    yield _COLOUR_END.sub("", line[at:])


_COLOUR_END: Final = pattern(r"^\[[0-9;]*m")
