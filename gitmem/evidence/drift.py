"""Whether what a record cites still stands in the code as it is now. A citation stays true of its commit either way."""

from __future__ import annotations

from gitmem.errors import GitmemError
from gitmem.evidence.file import cited_bytes
from gitmem.evidence.sources import Sources
from gitmem.model.nouns import EvidenceRef, FileRef
from gitmem.store.snapshot import snapshot


def drift(ref: EvidenceRef, sources: Sources) -> str:
    """What became of cited lines at HEAD: "" (they still stand there), "changed at HEAD" or "gone at HEAD"."""
    if not isinstance(ref, FileRef) or sources.head is None or ref.commit == sources.head:
        return ""
    try:
        found = snapshot(sources.backend, sources.head).entry(ref.path)
        if found is None or found.is_tree:
            return "gone at HEAD"
        if found.oid == ref.blob:
            return ""
        cited = cited_bytes(ref, sources)
        now = sources.read(found.oid)[1]
    except GitmemError:
        return ""  # what cannot be read now is told by the resolution
    return "" if cited is not None and ref.lines is not None and cited in now else "changed at HEAD"
