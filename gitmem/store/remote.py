"""Asking a remote. Remotes go by their configured name; refs in full; what comes back is untrusted."""

from __future__ import annotations

from typing import Final

from gitmem.errors import RemoteError, UsageError
from gitmem.model.text import one_line
from gitmem.store.objects import is_object_id
from gitmem.store.program import Completed
from gitmem.store.repository import Location

ASK_TIMEOUT: Final = 60.0  # seconds
FETCH_TIMEOUT: Final = 600.0

_HINTS: Final = (
    (("Could not resolve", "unable to access", "Network is unreachable", "timed out"), "are you offline? try again"),
    (("Permission denied", "Authentication failed", "could not read Username"), "git fetch {0} shows what is asked"),
    (("does not appear to be a git repository", "not found", "does not exist"), "git remote get-url {0}"),
)


def remote_names(location: Location) -> list[str]:
    done = location.git("remote", user_config=True)
    return done.lines


def remote_tip(location: Location, remote: str, ref: str) -> str | None:
    """What `ref` is at on the remote now; None when the remote answered and has no such ref.

    Raises RemoteError when it could not be asked: that says nothing about the ref.
    """
    _check(location, remote, ref)
    done = location.git(
        "ls-remote", "--refs", "--end-of-options", remote, ref, user_config=True, timeout=ASK_TIMEOUT, at_top=True
    )
    if done.status:
        raise _failure(done, f"{remote} could not be asked for {ref}", remote)
    rows = (line.split("\t") for line in done.lines)
    # ls-remote matches the end of a name: refs/x/refs/heads/... would do too
    return next((row[0] for row in rows if row[1:] == [ref] and is_object_id(row[0], location.object_format)), None)


def fetch_ref(location: Location, remote: str, ref: str, into: str) -> None:
    """Fetch one ref and its history into the local ref `into`, whatever that was at before.

    Every object is checked as it arrives (transfer.fsckObjects); nothing else of the user's is touched: no tags,
    no FETCH_HEAD, no tracking refs, no gc. Raises RemoteError.
    """
    _check(location, remote, ref)
    done = location.git(
        *("-c", "transfer.fsckObjects=true"),
        *("-c", "fetch.fsckObjects=true"),
        *("-c", "core.bigFileThreshold=1m"),  # a blob of a gigabyte streams to the disk instead of into memory
        *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--refmap="),
        *("--no-recurse-submodules", "--no-filter"),  # the branch is read as a whole: a partial clone takes it whole
        *("--end-of-options", remote, f"+{ref}:{into}"),
        user_config=True,
        timeout=FETCH_TIMEOUT,
        at_top=True,
    )
    if done.status:
        raise _failure(done, f"{ref} could not be fetched from {remote}", remote)


def _check(location: Location, remote: str, ref: str) -> None:
    names = remote_names(location)
    if remote not in names:
        known = ", ".join(names) or "none"
        raise UsageError(
            f"{one_line(remote, 80)!r} is not a configured remote (there are: {known})",
            hint="git remote add <name> <url>",
        )
    if not ref.startswith("refs/") or any(char in ref for char in " :^~?*[\\\n"):
        raise UsageError(f"{one_line(ref, 80)!r} is not a full ref name")


def _failure(done: Completed, what: str, remote: str) -> RemoteError:
    hint = next((hint for words, hint in _HINTS if any(word in done.err for word in words)), "git fetch {0}")
    return RemoteError(f"{what}: {one_line(done.err, 300)}", hint=hint.format(remote))
