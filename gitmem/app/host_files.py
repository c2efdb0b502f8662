"""Files of others that `gitmem install` writes to: what would change, and the receipts of what did.

Nothing of such a file is kept: a receipt holds where each insertion went and the digest of the file after it, so a
file that is still that one is taken back byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from gitmem.app.env import Env
from gitmem.app.githooks_receipt import look, put
from gitmem.app.state import load, save
from gitmem.errors import GitmemError, UsageError
from gitmem.model.frozen import dataclass

_RECEIPT: Final = "agents"
Receipt = Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """One file before and after; None where there is none. `places`: where each insertion went, and its length.

    host: whose file it is, or which other thing of ours. mode: of a file that was not there. about: what the receipt
    says besides.
    """

    host: str
    path: Path
    before: bytes | None
    after: bytes | None
    places: tuple[tuple[int, int], ...] = ()
    mode: int = 0o600
    about: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def diff(self) -> list[str]:
        """The lines of a unified diff."""
        from difflib import unified_diff

        name = str(self.path)
        old, new = ((data or b"").decode().splitlines() for data in (self.before, self.after))
        ends = ["/dev/null" if data is None else name for data in (self.before, self.after)]
        return list(unified_diff(old, new, ends[0], ends[1], lineterm=""))


def receipts(env: Env) -> dict[str, dict[str, Any]]:
    """What was written, by path."""
    files = load(env.state_home(), _RECEIPT).get("files")
    entries = files.items() if isinstance(files, dict) else ()
    return {path: entry for path, entry in entries if isinstance(entry, dict)}


def write(env: Env, changes: Sequence[Change]) -> None:
    """Write what was planned, the receipts first.

    Raises GitmemError when a file is another one by now, and OSError when one cannot be written.
    """
    kept = receipts(env)
    for change in changes:
        earlier = kept.get(str(change.path), {})
        kept[str(change.path)] = {
            "host": change.host,
            "existed": earlier.get("existed", change.before is not None),
            "after": digest(change.after or b"") if change.places else "",
            "places": [list(place) for place in change.places],
            "made_folders": earlier.get("made_folders", _missing(change.path.parent)),
            **{name: list(values) for name, values in change.about},
        }
    if changes:
        save(env.state_home(), _RECEIPT, {"files": kept})
    for change in changes:
        _write(change)


def take_out(env: Env, changes: Sequence[Change], hosts: Sequence[str]) -> None:
    """Write what was planned and forget the receipts of `hosts`. Raises as `write`."""
    kept = receipts(env)
    for change in changes:
        _write(change)
        entry = kept.get(str(change.path), {})
        folder = change.path.parent
        for _ in range(int(entry.get("made_folders", entry.get("made_folder", 0))) if change.after is None else 0):
            if any(folder.iterdir()):
                break
            folder.rmdir()
            folder = folder.parent
    left = {path: entry for path, entry in kept.items() if entry.get("host") not in hosts}
    if left != kept:
        save(env.state_home(), _RECEIPT, {"files": left})


def known(receipt: Receipt, before: bytes | None) -> bool:
    """Whether the file is still what was written there."""
    return bool(receipt.get("after")) and receipt["after"] == digest(before or b"")


def read(path: Path) -> bytes | None:
    """The bytes of a file, None when there is none. Raises UsageError when something else is there."""
    state = look(path)
    if state.kind == "other":
        raise UsageError(f"{path} is no file", hint="move it away, then run this again")
    return None if state.kind == "absent" else state.content


def text_of(data: bytes | None, path: Path) -> str:
    """Raises UsageError when it is not UTF-8."""
    try:
        return (data or b"").decode()
    except UnicodeDecodeError as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: ValueError, hint: str = "mend the file") -> UsageError:
    return UsageError(f"{path} cannot be read as its host's file: {error}; nothing was written", hint=hint)


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


def _write(change: Change) -> None:
    if read(change.path) != change.before:
        raise GitmemError(f"{change.path} was changed meanwhile; it was left as it is", hint="run this again")
    if change.after is None:
        change.path.unlink()
        return
    change.path.parent.mkdir(parents=True, exist_ok=True)
    put(change.path, change.after, look(change.path).mode or change.mode)


def _missing(folder: Path) -> int:
    """How many folders have to be made for this one to be there."""
    count = 0
    while not folder.is_dir():
        count, folder = count + 1, folder.parent
    return count
