"""What a git hook decides, from the lines that git hands it. Code branches are none of its business.

A hook here is a help, not the gate: `--no-verify`, core.hooksPath and libgit2 all pass it by. So a hook at a
person's desk that cannot finish lets go on and leaves a note (the reader and the server check again), and a
hook on a server that cannot finish refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from gitmem.errors import CorruptRecord, Refused, UsageError
from gitmem.model.layout import BRANCH_SPACE, MAIN, PRIVATE_SPACE, PROPOSALS, SHARED_SESSIONS

REFUSED: Final = Refused.exit_code
_SYMBOLIC: Final = "ref:"  # how git 2.46 and later write a symbolic ref's value
UNFINISHED: Final = 1  # the shim takes every status but 0 and 3 for "could not check"


class Limit(NamedTuple):
    """Seconds: until the repository has answered at all, and until the decision stands."""

    opening: float
    deciding: float


# Opening is short everywhere: a repository that does not answer (a stopped lock holder, a git that hangs) will not
# answer later either, while verifying a long first push is honest work.
LIMITS: Final[Mapping[str, Limit]] = {
    "pre-push": Limit(4, 20),
    "pre-commit": Limit(1.5, 1.5),
    "reference-transaction": Limit(1.5, 1.5),
    "pre-receive": Limit(20, 120),
    "update": Limit(20, 120),
}


@dataclass(frozen=True)
class Checks:
    """What a decision may ask of the repository. Object ids are hex, None stands for an absent ref.

    ref: a ref's present value. is_ancestor: False too when either commit is unknown here. verify(ref, old, new):
    the reasons against the commits that lead from old to new, none when they are good. verify_staged(head_ref):
    the reasons against the tree that is about to be committed. deletion_possible: see the function of that name.
    shared(ref, old, new): the reasons against what a push brings to a shared session.
    """

    head_ref: str | None
    ref: Callable[[str], str | None]
    is_ancestor: Callable[[str, str], bool]
    verify: Callable[[str, str | None, str], Sequence[str]]
    verify_staged: Callable[[str], Sequence[str]]
    deletion_possible: Callable[[], bool]
    shared: Callable[[str, str | None, str], Sequence[str]]


class Move(NamedTuple):
    """One ref that is to change. `source` is the name on the sending side of a push."""

    ref: str
    old: str | None
    new: str | None
    source: str = ""


def deletion_possible(common_dir: Path, ref_format: str) -> bool:
    """Whether a reference-transaction line with an empty new value can mean a deletion.

    With the files backend git holds packed-refs.lock through every deletion. Without that lock the line is
    pack-refs dropping the loose copy of a ref that it has packed, or `verify` of update-ref: nothing changes.
    (Measured with git 2.39 and 2.47.)
    """
    return ref_format != "files" or (common_dir / "packed-refs.lock").exists()


def run_hook(
    name: str,
    args: Sequence[str],
    stdin: bytes,
    open_checks: Callable[[], Checks],
    limits: Mapping[str, Limit] = LIMITS,
) -> tuple[int, list[str]]:
    """Decide within the hook's own time: the exit status for the shim, and lines for standard error.

    0 good, 3 refused, 1 out of time. Damaged records are refused; other errors of `open_checks` and of the
    checks go through, and any status but 0 and 3 makes the shim note it (client) or refuse (server).
    """
    if name not in limits:
        raise UsageError(f"gitmem has no git hook named {name}", hint=f"one of: {', '.join(limits)}")
    limit = limits[name]
    try:
        with _deadline(limit.opening):
            checks = open_checks()
        with _deadline(limit.deciding):
            return hook_impl(name, args, stdin, checks)
    except CorruptRecord as error:
        return REFUSED, [f"gitmem: {name}: refused: {error.message}", *([error.hint] if error.hint else [])]
    except _OutOfTime as late:
        return UNFINISHED, [f"gitmem: {name}: no answer within {late.seconds:g} s; the check was not finished"]


def hook_impl(name: str, args: Sequence[str], stdin: bytes, checks: Checks) -> tuple[int, list[str]]:
    """The decision alone: (0, []) or (3, every reason on a line). UsageError for lines git does not write."""
    if name == "pre-commit":
        reasons = _staged(checks)
    elif name == "reference-transaction":
        reasons = [line for move in _transaction(args, stdin, checks) for line in _judge(move, checks)]
    else:
        moves = _update(args) if name == "update" else _pushed(name, stdin)
        reasons = [line for move in moves for line in (*_private(name, move, checks), *_judge(move, checks))]
    return (REFUSED if reasons else 0), [f"gitmem: {name}: refused: {reason}" for reason in reasons]


def _judge(move: Move, checks: Checks) -> list[str]:
    ref, old, new, _ = move
    if ref.lower() == MAIN != ref:
        return [f"{ref} and {MAIN} are one file on some disks; choose another name"]
    if not ref.startswith(BRANCH_SPACE):
        return []
    if new is None:
        return [f"{ref} may not be deleted"] if ref == MAIN else []
    if new.startswith(_SYMBOLIC):
        return [f"{ref} may not become a symbolic ref"]
    if new == old:
        return []
    if ref.startswith(PROPOSALS):
        return [f"{ref}: {reason}" for reason in checks.verify(ref, checks.ref(MAIN), new)]
    if ref != MAIN:
        return [f"{ref} is no branch of gitmem: only {MAIN} and {PROPOSALS}* are"]
    if old is not None and not checks.is_ancestor(old, new):
        return [f"{ref} may only move forward, and {new[:12]} does not follow {old[:12]}; run: git fetch"]
    return [f"{ref}: {reason}" for reason in checks.verify(ref, old, new)]


def _private(hook: str, move: Move, checks: Checks) -> Sequence[str]:
    """Refs of this clone alone never travel. Taking one away where it should not be is welcome. What a server is sent
    by `gitmem sessions share`, which runs no hook here, it takes when it is a session without secrets."""
    if move.new is None:
        return []
    if hook != "pre-push" and move.ref.startswith(SHARED_SESSIONS):
        return checks.shared(move.ref, move.old, move.new)
    names = [name for name in (move.source, move.ref) if name.lower().startswith(PRIVATE_SPACE)]
    if not names:
        return []
    return [f"{names[0]} is private to one clone and is never pushed; name the branches to push (no --mirror)"]


def _staged(checks: Checks) -> list[str]:
    ref = checks.head_ref
    if ref is None or not ref.lower().startswith(BRANCH_SPACE):
        return []
    return [f"commit to {ref}: {reason}" for reason in checks.verify_staged(ref)]


def _pushed(name: str, stdin: bytes) -> Iterator[Move]:
    for line in _lines(stdin):
        if name == "pre-push":
            # The local side may be any revision, spaces and all; the three fields behind it hold none.
            source, new, ref, old = _fields(line, line.rsplit(" ", 3), 4)
        else:
            old, new, ref = _fields(line, line.split(" ", 2), 3)
            source = ""
        yield Move(ref, _oid(line, old), _oid(line, new), source)


def _update(args: Sequence[str]) -> list[Move]:
    ref, old, new = _fields(" ".join(args), args, 3)
    return [Move(ref, _oid(ref, old), _oid(ref, new))]


def _transaction(args: Sequence[str], stdin: bytes, checks: Checks) -> Iterator[Move]:
    if list(args) != ["prepared"]:
        return
    for line in _lines(stdin):
        said, wanted, ref = _fields(line, line.split(" ", 2), 3)
        if not ref.lower().startswith(BRANCH_SPACE):
            continue
        if wanted.startswith(_SYMBOLIC):
            yield Move(ref, None, wanted)
            continue
        # Empty when the caller named no old value; ours to read then.
        old = None if said.startswith(_SYMBOLIC) else _oid(line, said)
        new = _oid(line, wanted)
        present = checks.ref(ref)
        nothing_there = new is None and present is None
        same = new is None and old is not None and old == present and not checks.deletion_possible()
        if not nothing_there and not same:
            yield Move(ref, old or present, new)


def _lines(stdin: bytes) -> Iterable[str]:
    return (line for line in stdin.decode("utf-8", "backslashreplace").split("\n") if line)


def _fields(line: str, fields: Sequence[str], count: int) -> Sequence[str]:
    if len(fields) != count:
        raise UsageError(f"not a line that git hands to this hook: {line}")
    return fields


def _oid(line: str, text: str) -> str | None:
    if len(text) not in (40, 64) or set(text) - set("0123456789abcdef"):
        raise UsageError(f"no object id in a line for this hook: {line}")
    return None if set(text) == {"0"} else text


class _OutOfTime(BaseException):
    """Not an Exception: no `except Exception` on the way may take it for an ordinary failure."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


@contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    """Raise _OutOfTime after `seconds`, and end the process a second later if that was not enough.

    The signal stops Python and a waiting child; C code that never returns (a damaged object can do that to libgit2)
    is only stopped by faulthandler's thread, whose exit status 1 means the same to the shim.
    """
    import faulthandler
    import signal

    def expire(_number: int, _frame: object) -> None:
        raise _OutOfTime(seconds)

    before = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    with Path("/dev/null").open("wb") as nowhere:
        faulthandler.dump_traceback_later(seconds + 1, exit=True, file=nowhere)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            faulthandler.cancel_dump_traceback_later()
            signal.signal(signal.SIGALRM, before)
