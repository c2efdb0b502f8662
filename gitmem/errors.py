"""The error tree. Every failure that a user can meet is one of these.

Each error carries a message (what happened to which thing), a hint (what to do next, with the exact
command where there is one) and an exit code. The table of exit codes is `EXIT_CODES`; `gitmem --help`
prints it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

EXIT_CODES: Mapping[int, str] = {
    0: "done",
    1: "operation failed",
    2: "wrong usage",
    3: "refused by the gate, or verification found a fault",
    4: "not found, or more than one match",
    5: "the branch kept moving; nothing was written",
    6: "no repository here, or one that gitmem cannot work in",
    7: "a stored record or git object is damaged",
    8: "the remote could not be used",
    70: "unexpected error; a log was written",
    130: "interrupted",
}


class GitmemError(Exception):
    """Base of all errors. `details` is data for `--json`; it never holds a secret."""

    exit_code = 1
    code = "failed"

    def __init__(self, message: str, *, hint: str = "", details: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.details: Mapping[str, Any] = details or {}


class UsageError(GitmemError):
    """The words of the command are off."""

    exit_code = 2
    code = "usage"


class NoHome(UsageError):
    """The environment names no folder of the user's, and this takes one."""

    code = "no_home"


class Refused(GitmemError):
    """The gate refused, or verification failed. `reasons` holds every reason, in stable order."""

    exit_code = 3
    code = "refused"

    def __init__(
        self,
        message: str,
        *,
        reasons: Sequence[Any] = (),
        hint: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message, hint=hint, details=details)
        self.reasons = tuple(reasons)


class NotFound(GitmemError):
    exit_code = 4
    code = "not_found"


class Ambiguous(GitmemError):
    exit_code = 4
    code = "ambiguous"


class RefMoved(GitmemError):
    """The ref was not where it was expected to be. Nothing was written to it."""

    exit_code = 5
    code = "ref_moved"


class Locked(GitmemError):
    """A lock file is in the way. Names the file, its age and whether a process holds it."""

    exit_code = 5
    code = "locked"


class NotARepository(GitmemError):
    exit_code = 6
    code = "not_a_repository"


class UnsupportedRepository(GitmemError):
    exit_code = 6
    code = "unsupported_repository"


class CorruptRecord(GitmemError):
    """Stored bytes cannot be read as what they should be. Names path or object and every fault."""

    exit_code = 7
    code = "corrupt"


class RemoteError(GitmemError):
    exit_code = 8
    code = "remote"


def error_data(error: GitmemError) -> dict[str, Any]:
    """An error as data: the same for the command line and every other door."""
    data: dict[str, Any] = {"code": error.code, "exit": error.exit_code, "message": error.message}
    if error.hint:
        data["hint"] = error.hint
    if isinstance(error, Refused):
        data["reasons"] = [
            {"code": r.code, "message": r.message, "hint": r.hint, "where": r.where} for r in error.reasons
        ]
    if error.details:
        data["details"] = dict(error.details)
    return data
