"""What every read lane may ask for besides words."""

from __future__ import annotations

from datetime import datetime

from gitmem.app.former_names import NONE, Former
from gitmem.model.frozen import dataclass, replace
from gitmem.model.globs import covers
from gitmem.model.judgement import Viewer
from gitmem.model.nouns import FileRef, Memory, TestRef
from gitmem.recall.document import folders_of, plain_path


@dataclass(frozen=True)
class Filters:
    """Empty does not ask. former: what the files of `path` were called before. since, until: recorded in
    [since, until). valid_at: true at that instant."""

    kinds: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    path: str | None = None
    former: Former = NONE
    key: str | None = None
    origins: tuple[str, ...] = ()
    scope: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    valid_at: datetime | None = None
    inbox: bool = False
    audiences: tuple[str, ...] = ()
    limit: int = 50

    def narrowed(self, viewer: Viewer) -> Viewer:
        """`viewer`, to be shown only what is for the audiences that were asked for."""
        return replace(viewer, audiences=viewer.audiences & set(self.audiences)) if self.audiences else viewer


def about(memory: Memory, path: str, former: Former = NONE) -> bool:
    """Whether a memory is about a file or folder, about what lies in it, or about a folder that holds it.

    What is cited under a former name counts, and what has left its name to another file does not.
    The index finds a superset by the plain part of each pattern; this is exact.
    """
    wanted = plain_path(path)
    files = [ref for ref in memory.evidence if isinstance(ref, FileRef)]
    if any(former.now(ref.path, ref.commit) for ref in files) or any(map(former.renamed, memory.applies_to)):
        return True
    cited = [ref.path for ref in files if former.stayed(ref.path, ref.commit)]
    cited += [ref.path for ref in memory.evidence if isinstance(ref, TestRef)]
    below = [*map(plain_path, memory.applies_to), *cited]
    return any(covers(pattern, wanted) for pattern in memory.applies_to) or any(wanted in folders_of(p) for p in below)
