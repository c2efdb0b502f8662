"""An index for one command alone, where that of the clone cannot be written: on a read-only disk, or while another
process builds the first one. An answer from no index would say that nothing is known."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

from gitmem.app.catch_up import brought_up, index_folder
from gitmem.app.workspace import View
from gitmem.recall.document import schema_name
from gitmem.recall.faults import IndexDamaged
from gitmem.recall.search_index import SearchIndex


def index_aside(view: View) -> SearchIndex:
    """What the clone's own index knows and what came since, in a folder that is gone when this returns: the files stay
    open. Raises OSError when there is no room for it, and IndexBusy."""
    folder = Path(mkdtemp(prefix="gitmem-index-"))
    try:
        _copied(index_folder(view.workspace) / schema_name(), folder / schema_name())
        index = SearchIndex.open(folder)
        try:
            return brought_up(view, index)
        except IndexDamaged:
            return brought_up(view, index, rebuild=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _copied(known: Path, target: Path) -> None:
    """A copy that was made while another process wrote may be damaged; that is noticed, and it is built anew."""
    with suppress(FileNotFoundError):
        files = [path for path in known.iterdir() if path.is_file()]
        target.mkdir()
        for path in files:
            with suppress(FileNotFoundError):
                shutil.copyfile(path, target / path.name)
