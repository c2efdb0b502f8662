"""Talking to remotes: asked, fetched from, pushed to.

A remote goes by its configured name, a ref by its full one. The git program talks, with the user's own settings for
it (credentials, ssh, proxies). Of the repository's settings only addresses and `http.*` count: whatever else they name
may be a program that somebody else put there. What comes back is untrusted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from gitmem.errors import RemoteError, UsageError
from gitmem.model.pattern import pattern
from gitmem.model.text import one_line
from gitmem.store import program
from gitmem.store.objects import is_object_id
from gitmem.store.program import Completed
from gitmem.store.quarantine import ALLOCATION_LIMIT, FETCHED, Quarantine, quarantine
from gitmem.store.repository import Location

ASK_TIMEOUT: Final = 60.0  # seconds
FETCH_TIMEOUT: Final = 600.0
PUSH_TIMEOUT: Final = 600.0

_KEYS: Final = r"^(remote\..*\.(url|pushurl)|url\..*\.(insteadof|pushinsteadof)|http\..*)$"
_CREDENTIALS: Final = pattern(r"(\w://)[^/@\s]+@")
_SCP: Final = pattern(r"[^/]+:")  # host:path, as git tells it from a path
_OFFLINE: Final = (
    "Could not resolve", "unable to access", "Network is unreachable", "timed out", "Connection refused",
    "No route to host", "Connection reset", "Connection closed",
)  # fmt: skip
_DENIED: Final = ("Permission denied", "Authentication failed", "could not read Username", "Host key verification")
_MISSING: Final = ("does not appear to be a git repository", "not found", "does not exist")
_FAILURES: Final[tuple[tuple[str, Sequence[str], str], ...]] = (
    ("denied", _DENIED, "git fetch {0} shows what is asked"),
    ("offline", _OFFLINE, "are you offline? nothing is lost: run this again when {0} answers"),
    ("missing", _MISSING, "git remote get-url {0}"),
)
# What forges say to a push that only a pull request may make.
_PROTECTED: Final = pattern(
    r"(?i)protected branch|GH006|GH013|rule violations|branch is protected|TF402455|pull request|merge request"
    r"|not allowed to push code|prohibited by Gerrit|Changes must be made through"
)
_BEHIND: Final = pattern(
    r"non-fast-forward|fetch first|stale info|needs force|incorrect old value|cannot lock ref|failed to update ref"
)

# A name that stands in refs: each part begins with a letter, a digit or an underscore (git: check-ref-format).
_NAME: Final = pattern(r"(?!.*(?:\.\.|\.lock(?:/|$)|\.(?:/|$)))\w[\w.+@#%=,-]*(?:/\w[\w.+@#%=,-]*)*")

PushState = Literal["done", "moved", "protected", "refused"]


@dataclass(frozen=True)
class Remote:
    """A configured remote. `url` and `push_url` are what git would use, `settings` the repository's `http.*`."""

    name: str
    url: str = field(repr=False)
    push_url: str = field(repr=False)
    settings: Mapping[str, Sequence[str]] = field(repr=False, default_factory=dict)

    @property
    def shown(self) -> str:
        """The address without what proves who one is."""
        return without_credentials(self.url)


class Offer(NamedTuple):
    """What a remote answered. `tip`: of the ref that was asked for. `empty`: it has no branch at all."""

    tip: str | None
    empty: bool


class Push(NamedTuple):
    """What became of a push. `said`: the remote's own words."""

    state: PushState
    said: str = ""


def without_credentials(text: str) -> str:
    return _CREDENTIALS.sub(r"\1", text)


def remotes(location: Location) -> dict[str, Remote]:
    """The configured remotes by name."""
    done = location.git("config", "-z", "--show-scope", "--get-regexp", _KEYS, user_config=True)
    urls: dict[str, list[str]] = {}
    push_urls: dict[str, list[str]] = {}
    instead: list[tuple[str, str]] = []
    push_instead: list[tuple[str, str]] = []
    settings: dict[str, list[str]] = {}
    fields = done.out.decode("utf-8", "surrogateescape").split("\0")
    for scope, pair in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = pair.partition("\n")
        section, _, rest = key.partition(".")
        subsection, _, name = rest.rpartition(".")
        if section == "remote":
            (urls if name == "url" else push_urls).setdefault(subsection, []).append(value)
        elif section == "url":
            (instead if name == "insteadof" else push_instead).append((value, subsection))
        elif scope in ("local", "worktree"):  # the others apply to whatever git is started here
            settings.setdefault(key, []).append(value)
    found = {}
    for name, given in urls.items():
        url = _address(location, _replaced(given[0], instead))
        if name in push_urls:
            push = _replaced(push_urls[name][0], instead)
        else:
            push = _replaced(given[0], push_instead)
            push = push if push != given[0] else _replaced(given[0], instead)
        found[name] = Remote(name, url, _address(location, push), settings)
    return found


def remote_names(location: Location) -> list[str]:
    return list(remotes(location))


def remote_named(location: Location, name: str) -> Remote:
    """Raises UsageError when no remote is called that."""
    known = remotes(location)
    if name not in known:
        raise UsageError(
            f"{one_line(name, 80)!r} is not a configured remote (there are: {', '.join(known) or 'none'})",
            hint="git remote add <name> <url>",
        )
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"the remote {one_line(name, 80)!r} has a name that no ref can hold, so nothing of it can be kept",
            hint='git config --local --edit, and name it with letters, digits, dots and dashes: [remote "team"]',
        )
    return known[name]


def beside(location: Location, remote: Remote) -> AbstractContextManager[Quarantine]:
    """The throw-away repository from which `remote` is talked to."""
    return quarantine(location, remote.settings)


def remote_tip(location: Location, remote: str, ref: str) -> str | None:
    """What `ref` is at on the remote now; None when the remote answered and has no such ref.

    Raises RemoteError when it could not be asked: that says nothing about the ref.
    """
    known = remote_named(location, remote)
    with beside(location, known) as place:
        return ask(place, known, ref).tip


def ask(place: Quarantine, remote: Remote, ref: str) -> Offer:
    """What the remote has. Raises RemoteError when it could not be asked."""
    _require_full(ref)
    rows = _listed(place, remote, ref, ref, "HEAD")
    # ls-remote matches the end of a name: refs/x/refs/heads/... would do too
    tip = next((oid for oid, name in rows if name == ref), None)
    empty = not rows and not _listed(place, remote, ref, "--heads")
    return Offer(tip, empty)


def offered(place: Quarantine, remote: Remote, space: str) -> dict[str, str]:
    """The refs that the remote has below `space`, which ends with a slash. Raises RemoteError as `ask`."""
    _require_full(f"{space}x")
    rows = _listed(place, remote, f"what is below {space}", f"{space}*")
    return {name: oid for oid, name in rows if name.startswith(space)}


def _listed(place: Quarantine, remote: Remote, ref: str, *what: str) -> list[tuple[str, str]]:
    options = [word for word in what if word.startswith("--")]
    patterns = [word for word in what if not word.startswith("--")]
    done = _git(place, ["ls-remote", *options, "--end-of-options", remote.url, *patterns], ASK_TIMEOUT)
    if done.status:
        raise _failure(done, f"{remote.name} could not be asked for {ref}", remote)
    rows = (line.split("\t") for line in done.lines)
    return [(row[0], row[1]) for row in rows if len(row) == 2 and is_object_id(row[0], place.home.object_format)]


def fetch(place: Quarantine, remote: Remote, ref: str) -> str:
    """Fetch one ref and its history into the quarantine; gives its tip.

    Every object is checked as it arrives (the settings of the quarantine say so); time, memory and disk are bounded.
    Raises RemoteError.
    """
    _require_full(ref)
    done = _git(
        place,
        [
            *("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--refmap="),
            *("--no-recurse-submodules", "--end-of-options", remote.url, f"+{ref}:{FETCHED}"),
        ],
        FETCH_TIMEOUT,
        fetching=True,
    )
    place.weigh()
    tip = place.tip()
    if done.status or tip is None:
        raise _failure(done, f"{ref} could not be fetched from {remote.name}", remote)
    return tip


def push(
    place: Quarantine, remote: Remote, moves: Sequence[tuple[str, str | None, str | None]], *, force: bool
) -> Push:
    """Move refs of the remote, all or none: each (ref, new, old). Forward only; with `force` anywhere, from `old` only.

    Raises RemoteError when the remote could not be reached.
    """
    for ref, _, _ in moves:
        _require_full(ref)
    leases = [f"--force-with-lease={ref}:{old or ''}" for ref, _, old in moves] if force else []
    atomic = ["--atomic"] if len(moves) > 1 else []
    done = _git(
        place,
        [
            *("push", "--porcelain", "--no-verify", *atomic, *leases),
            *("--end-of-options", remote.push_url, *(f"{new or ''}:{ref}" for ref, new, _ in moves)),
        ],
        PUSH_TIMEOUT,
    )
    rows = [line.split("\t") for line in done.lines if line[:1] in "!*+-= " and line.count("\t") >= 2]
    bad = [row[2] for row in rows if row[0] == "!"]
    if not done.status and not bad:
        return Push("done")
    said = without_credentials(one_line(" ".join([*bad, *_spoken(done.err)]), 600))
    if not bad:
        raise _failure(done, f"{remote.name} did not take the push", remote)
    if _BEHIND.search(" ".join(bad)):  # the last three are a race that the server noticed
        return Push("moved", said)
    return Push("protected" if _PROTECTED.search(said) else "refused", said)


def _spoken(err: str) -> Iterator[str]:
    """What the remote itself said, without its decoration."""
    for line in err.split("\n"):
        if line.startswith("remote:") and (words := line.removeprefix("remote:").strip()):
            yield words


def _git(place: Quarantine, arguments: Sequence[str], timeout: float, *, fetching: bool = False) -> Completed:
    home = place.home
    return program.run(
        arguments,
        environ=home.environ,
        git_dir=place.location.git_dir,
        cwd=home.work_tree or home.git_dir,
        user_config=True,
        timeout=timeout,
        also={"GIT_ALLOC_LIMIT": ALLOCATION_LIMIT} if fetching else None,
        watch=place.weigh if fetching else None,
    )


def _require_full(ref: str) -> None:
    if not ref.startswith("refs/") or any(char in ref for char in " :^~?*[\\\n"):
        raise UsageError(f"{one_line(ref, 80)!r} is not a full ref name")


def _replaced(url: str, rules: Sequence[tuple[str, str]]) -> str:
    """The address by url.<base>.insteadOf: the longest match counts."""
    fitting = [(old, new) for old, new in rules if url.startswith(old)]
    if not fitting:
        return url
    old, new = max(fitting, key=lambda rule: len(rule[0]))
    return new + url[len(old) :]


def _address(location: Location, url: str) -> str:
    """A path that is not absolute lies below the top of the work tree, as git looks for it."""
    if "://" in url or url.startswith("/") or "::" in url or _SCP.match(url):
        return url
    return str((location.work_tree or location.git_dir) / url)


def _failure(done: Completed, what: str, remote: Remote) -> RemoteError:
    state, hint = next(
        ((state, hint) for state, words, hint in _FAILURES if any(word in done.err for word in words)),
        ("failed", "git fetch {0}"),
    )
    said = without_credentials(one_line(done.err, 300))
    return RemoteError(
        f"{what}: {said}", hint=hint.format(remote.name), details={"state": state, "remote": remote.name}
    )
