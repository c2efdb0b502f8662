"""Every ref name and every path on the branch. No other module spells one.

Names on the branch are generated, never made from text that somebody wrote.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from functools import lru_cache
from typing import Final

from gitmem.model.ids import EventId, MemoryId, event_milliseconds, is_digest, is_event_id, is_memory_id
from gitmem.model.pattern import pattern

MAIN: Final = "refs/heads/gitmem/main"
INBOX: Final = "refs/gitmem/inbox"
PRIVATE: Final = "refs/gitmem/private"
USER: Final = "user"  # no ref of this repository: `MAIN` of the user's own store, which all repositories share
PROPOSALS: Final = "refs/heads/gitmem/propose/"
BRANCH_SPACE: Final = "refs/heads/gitmem/"
PRIVATE_SPACE: Final = "refs/gitmem/"
SESSIONS: Final = "refs/gitmem/sessions/"
SESSION_ARCHIVES: Final = "refs/gitmem/sessions-archive/"
SHARED_SESSIONS: Final = "refs/gitmem/shared/"  # on a remote: what `gitmem sessions share` sent there
REMOTES: Final = "refs/gitmem/remotes/"  # here: what is known of remotes

# Where a record lies, by the short name that the search index and the gate call it by. Home is where a record that is
# let in lies, by who may read it.
PLACES: Final[Mapping[str, str]] = {"main": MAIN, "private": PRIVATE, "user": USER, "inbox": INBOX}
LABELS: Final[Mapping[str, str]] = {ref: label for label, ref in PLACES.items()}
HOMES: Final[Mapping[str, str]] = {"team": MAIN, "private": PRIVATE, "user": USER}
AUDIENCES_OF: Final[Mapping[str, str]] = {ref: audience for audience, ref in HOMES.items()}
# And the rejected claims of a store, which the index holds as well.
TOMBSTONE_LABELS: Final[Mapping[str, str]] = {
    MAIN: "tombstone", PRIVATE: "private tombstone", USER: "user tombstone"
}  # fmt: skip

CONFIG: Final = "gitmem.yaml"
README: Final = "README.md"
ATTRIBUTES: Final = ".gitattributes"
SCHEMA: Final = "schemas/memory.schema.json"
MEMORIES: Final = "memories"
TOMBSTONES: Final = "tombstones"
EVENTS: Final = "events"
MANIFEST: Final = "manifest.json"
APART: Final = "apart"
CONFLICTS: Final = "conflicts"

MAX_DEPTH: Final = 5
# A generated name: no `..`, nothing that starts or ends with a dot or a dash (`.git`, `-x`), one case only.
_NAME = pattern(r"(?=.{1,100}\Z)[a-z0-9]+(?:[._-][a-z0-9]+)*")
_UNREADABLE: Final = pattern(r"[^a-z0-9]+")
_WINDOWS_DEVICES: Final = frozenset(
    ["con", "prn", "aux", "nul", *(f"com{n}" for n in range(10)), *(f"lpt{n}" for n in range(10))]
)

# Where `schemas/memory.schema.json` lies as seen from a memory file.
SCHEMA_COMMENT: Final = "# yaml-language-server: $schema=../../../schemas/memory.schema.json"


def proposal_ref(name: str) -> str:
    """Where the proposal `name` lies. UsageError for what is no generated name: it becomes a part of a path."""
    if not _is_name(name) or name.endswith(".lock"):
        from gitmem.errors import UsageError

        hint = "lower-case letters and digits, joined by dots, dashes or underscores"
        raise UsageError("a proposal cannot have this name", hint=hint)
    return f"{PROPOSALS}{name}"


def memory_path(identifier: MemoryId | str) -> str:
    return f"{MEMORIES}/{identifier[0]}/{identifier[1]}/{identifier}.yaml"


def event_path(identifier: EventId | str, memory: MemoryId | str | None) -> str:
    """`events/<yyyy-mm>/<a>/<b>/<ulid>.<memory>.json`; a, b are the first characters of the memory's id.

    The memory in the name makes the history of one memory a handful of tree reads, and the fan-out keeps
    a busy month from making every write as large as the month. Events about no memory use `branch`.
    """
    subject = memory or "branch"
    return f"{EVENTS}/{_month(identifier[:10])}/{subject[0]}/{subject[1]}/{identifier}.{subject}.json"


@lru_cache(maxsize=256)
def _month(time: str) -> str:
    """The month of the first ten characters of an event id."""
    return datetime.fromtimestamp(event_milliseconds(time) / 1000, timezone.utc).strftime("%Y-%m")


def tombstone_path(digest: str) -> str:
    return f"{TOMBSTONES}/{digest[0]}/{digest[1]}/{digest}.yaml"


def memory_of_path(path: str) -> MemoryId | None:
    """The id of the memory that lives at `path`, or None when no memory may live there."""
    identifier = path.rsplit("/", 1)[-1].removesuffix(".yaml")
    if is_memory_id(identifier) and path == memory_path(identifier):
        return MemoryId(identifier)
    return None


def event_of_path(path: str) -> EventId | None:
    name = path.rsplit("/", 1)[-1].removesuffix(".json")
    identifier, _, subject = name.partition(".")
    if not is_event_id(identifier) or not (is_memory_id(subject) or subject == "branch"):
        return None
    try:
        expected = event_path(identifier, subject)
    except (ValueError, OverflowError):  # a time behind the year 9999
        return None
    return EventId(identifier) if path == expected else None


def tombstone_of_path(path: str) -> str | None:
    digest = path.rsplit("/", 1)[-1].removesuffix(".yaml")
    return digest if is_digest(digest) and path == tombstone_path(digest) else None


def conflict_path(identifier: str, digest: str) -> str:
    """Where a merge keeps the record of the side that gave way, by the SHA-256 of its canonical bytes."""
    return f"{CONFLICTS}/{identifier}/{digest}.yaml"


def conflict_of_path(path: str) -> tuple[MemoryId, str] | None:
    """The memory and the digest that such a path names."""
    identifier, _, name = path.removeprefix(f"{CONFLICTS}/").partition("/")
    digest = name.removesuffix(".yaml")
    if is_memory_id(identifier) and is_digest(digest) and path == conflict_path(identifier, digest):
        return MemoryId(identifier), digest
    return None


def session_name(identifier: str) -> str:
    """The name by which a host's session id stands in refs: the id itself when it is a generated name.

    Any other id gives what is readable of it and 12 digits of its SHA-256, so that two ids never share a name, on
    no file system. The manifest has the id as the host writes it.
    """
    if _is_name(identifier) and not identifier.endswith(".lock"):
        return identifier
    from hashlib import sha256

    words = _readable(identifier[:60])
    digest = sha256(identifier.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{words}-{digest}" if words else digest


def may_name_session(name: str, prefix: str) -> bool:
    """False when no session whose id begins with `prefix` can have this name in refs."""
    return name.startswith((prefix, _readable(prefix[:60])))


def _readable(identifier: str) -> str:
    return _UNREADABLE.sub("-", identifier.lower()).strip("-")


def session_folder(host: str, identifier: str) -> str:
    """`<host>/<aa>/<session>`: where a session lies below `SESSIONS` and in the tree of a month's archive.

    `aa` are the first two digits of the SHA-256 of its name: ids that begin with a time would share one folder.
    """
    from hashlib import sha256

    name = session_name(identifier)
    return f"{session_name(host)}/{sha256(name.encode()).hexdigest()[:2]}/{name}"


def session_ref(host: str, identifier: str) -> str:
    return f"{SESSIONS}{session_folder(host, identifier)}"


def archive_ref(month: str) -> str:
    """The archive of the sessions whose last capture was in `month`, such as `2026-11`."""
    return f"{SESSION_ARCHIVES}{month}"


def shared_ref(folder: str) -> str:
    """Where the session of a `session_folder` lies on a remote that it was shared to."""
    return f"{SHARED_SESSIONS}{folder}"


def sent_ref(remote: str, folder: str) -> str:
    """What this clone sent of a session to a remote."""
    return f"{REMOTES}{remote}/shared/{folder}"


def fetched_session_ref(remote: str, folder: str) -> str:
    """A session that somebody else shared, as it was fetched from a remote."""
    return f"{REMOTES}{remote}/sessions/{folder}"


def fetched_session(ref: str) -> tuple[str, str] | None:
    """(remote, folder) of what `fetched_session_ref` gave; a remote's name may have slashes."""
    parts = ref.removeprefix(REMOTES).split("/")
    if not ref.startswith(REMOTES) or len(parts) < 5 or parts[-4] != "sessions":
        return None
    return "/".join(parts[:-4]), "/".join(parts[-3:])


def is_session_folder(text: str) -> bool:
    """Whether `<host>/<aa>/<session>` is what `session_folder` could give."""
    parts = text.split("/")
    return len(parts) == 3 and all(_is_name(part) for part in parts)


def chunk_path(generation: int, start: int, end: int, suffix: str) -> str:
    """`g1/0-4096.jsonl`: bytes [start, end) of a generation of one session."""
    return f"g{generation}/{start}-{end}.{suffix}"


def apart_path(digest: str) -> str:
    """Where a session keeps the bytes that were taken out of its lines, such as an image."""
    return f"{APART}/{digest}"


def _is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and text.partition(".")[0] not in _WINDOWS_DEVICES


def is_allowed_path(path: str) -> bool:
    """True when a file of the branch may have this path: a known place, a generated name."""
    if path in (CONFIG, README, ATTRIBUTES, SCHEMA):
        return True
    parts = path.split("/")
    if len(parts) > MAX_DEPTH or not all(_is_name(part) for part in parts):
        return False
    found = (memory_of_path(path), event_of_path(path), tombstone_of_path(path), conflict_of_path(path))
    return any(found)
