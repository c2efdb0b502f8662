"""What failed in a session and passed later in it, with what was changed in between.

Only a failure that passed, only with a change in between, and only when the pass says something about the failure.
A check that once went another way with nothing changed is taken for a flaky one, and teaches nothing for the rest of
the session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from gitmem.capture.check_kinds import Checked
from gitmem.capture.check_output import NOT_THERE, normalised
from gitmem.capture.outcomes import Changed, Check, Seen
from gitmem.model.frozen import dataclass, replace
from gitmem.model.pattern import pattern

MOST_FILES: Final = 8  # changed between a failure and its pass, above which nobody can tell what helped
_OF_CODE: Final = frozenset(["test", "lint", "types", "format"])
# Going back to what was is no repair.
_BACK: Final = pattern(r"git (?:stash|checkout|switch|restore|reset|revert|bisect)\b")


@dataclass(frozen=True)
class Fix:
    """`failed` is the last failure before `passed`. `changed`: in between, in order. `attempts`: how often the same
    failed with the same error. `otherwise`: what could not be called was called in another way."""

    failed: Check
    passed: Check
    changed: tuple[Changed, ...]
    attempts: int = 1
    otherwise: bool = False

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.what for one in self.changed if one.kind == "edit"))

    @property
    def commits(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.what for one in self.changed if one.kind == "commit"))

    @property
    def commands(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.what for one in self.changed if one.kind == "command"))


@dataclass(frozen=True)
class _Open:
    """A failure that has not passed yet."""

    check: Check
    changed: tuple[Changed, ...] = ()
    attempts: int = 1


class Fixes:
    """Takes what was seen, in order, and gives each fix when its pass is seen. `open` are the failures that wait;
    `flaky` the keys of checks that went another way with nothing changed."""

    def __init__(self, flaky: Iterable[str] = ()) -> None:
        self.open: list[_Open] = []
        self.flaky: set[str] = set(flaky)
        self._settled: dict[str, Check] = {}  # passes by key, with nothing changed since

    @property
    def waiting(self) -> tuple[Check, ...]:
        return tuple(one.check for one in self.open)

    @property
    def needed_from(self) -> int | None:
        """Where in the stream the oldest run begins that a later one may have to be compared with."""
        return min((check.begun for check in (*self.waiting, *self._settled.values())), default=None)

    def take(self, seen: Seen) -> list[Fix]:
        if isinstance(seen, Changed):
            self.open = [replace(one, changed=(*one.changed, seen)) for one in self.open]
            self._settled.clear()
            return []
        if seen.outcome == "failed":
            self._fail(seen)
            return []
        return self._pass(seen) if seen.outcome == "ok" else []

    def _fail(self, check: Check) -> None:
        if check.key in self._settled:
            self.flaky.add(check.key)
        before = next((one for one in self.open if one.check.key == check.key), None)
        self.open = [one for one in self.open if one is not before]
        again = before is not None and normalised(before.check.error) == normalised(check.error)
        self.open.append(_Open(check, attempts=before.attempts + 1 if before and again else 1))

    def _pass(self, check: Check) -> list[Fix]:
        fixes: list[Fix] = []
        left: list[_Open] = []
        for one in self.open:
            otherwise = _called_otherwise(one.check, check)
            if not (otherwise or covers(check, one.check)):
                left.append(one)
                continue
            fix = Fix(one.check, check, one.changed, one.attempts, otherwise)
            if not otherwise and not one.changed:
                self.flaky.add(one.check.key)
            elif one.check.key not in self.flaky and _teaches(fix):
                fixes.append(fix)
        self.open = left
        self._settled[check.key] = check
        return fixes


def fixes(seen: Iterable[Seen]) -> Iterator[Fix]:
    """The fixes in what was seen of one session."""
    known = Fixes()
    for one in seen:
        yield from known.take(one)


def _teaches(fix: Fix) -> bool:
    if not fix.failed.error or len(fix.files) > MOST_FILES:
        return False
    if fix.otherwise or fix.files:
        return True
    return any(not _BACK.match(command) for command in fix.commands)


def covers(passed: Check, failed: Check) -> bool:
    """Whether a pass says that what failed before is well now."""
    if passed.key == failed.key:
        return True
    if failed.failed and failed.failed <= passed.passed | _named(passed):
        return True
    if passed.folder != failed.folder:
        return False
    return all(any(_covers(one, other) for one in passed.checks) for other in failed.checks)


def _covers(one: Checked, other: Checked) -> bool:
    """The same program on the same things, or on everything."""
    if (one.job, one.name) != (other.job, other.name):
        return False
    return one.what == other.what or (not one.what and one.job in _OF_CODE)


def _named(check: Check) -> frozenset[str]:
    return frozenset(word for one in check.checks for word in one.what if "::" in word)


def _called_otherwise(failed: Check, passed: Check) -> bool:
    """Whether what could not even be started was done by another program, or by the same one called otherwise."""
    if not NOT_THERE.search(failed.error) or len(failed.checks) != 1 or len(passed.checks) != 1:
        return False
    (one,), (other,) = failed.checks, passed.checks
    if failed.way == passed.way or failed.folder != passed.folder or one.job != other.job or one.what != other.what:
        return False
    return one.name == other.name or one.job in _OF_CODE or bool(one.what)
