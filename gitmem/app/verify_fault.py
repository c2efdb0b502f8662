"""What verification says about one commit."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True)
class Fault:
    """One thing wrong. `reach`: "record" leaves the rest of the branch believable, "tip" does not.

    `blob` is the object that failed, for a record: another one at the same path may be good.
    """

    code: str
    message: str
    commit: str
    path: str = ""
    reach: Literal["record", "tip"] = "tip"
    blob: str | None = None

    def data(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "message": self.message,
            "commit": self.commit,
            "path": self.path,
            "reach": self.reach,
        }


@dataclass
class Checked:
    """What checking one commit gave. `readable`: its tree was fit to be read, so what follows it can be judged."""

    commit: str
    faults: list[Fault] = field(default_factory=list)
    notes: list[Fault] = field(default_factory=list)
    records: int = 0
    readable: bool = True

    def tip(self, code: str, message: str, path: str = "") -> None:
        """A fault that makes the whole commit unbelievable."""
        self.faults.append(Fault(code, message, self.commit, path))

    def record(self, code: str, message: str, path: str, blob: str | None) -> None:
        """A fault of one record; the others stay believable."""
        self.faults.append(Fault(code, message, self.commit, path, "record", blob))

    def note(self, code: str, message: str, path: str = "") -> None:
        self.notes.append(Fault(code, message, self.commit, path, "record"))
