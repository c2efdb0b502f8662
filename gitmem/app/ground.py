"""What a read stands on: the index, brought up to what is believed, and who reads.

When nothing changed since the index was written, that is told from a few files without starting git, and then
nothing but the index is opened. On any doubt the repository is opened and the index caught up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from gitmem.app import state, trust
from gitmem.app.env import Env
from gitmem.app.meaning import model_of
from gitmem.app.user_store import tip
from gitmem.model.frozen import dataclass
from gitmem.model.judgement import Viewer
from gitmem.model.layout import INBOX, MAIN, PLACES, PRIVATE, USER
from gitmem.model.vocabulary import AUDIENCES
from gitmem.recall.search_index import SearchIndex
from gitmem.store.at_rest import AtRest, look

if TYPE_CHECKING:
    from gitmem.app.workspace import View, Workspace
    from gitmem.store.repository import Location

_T = TypeVar("_T")
ASIDE: Final = "the search index cannot be written now: it was made for this command alone"
_PATIENCE: Final = 20  # times that a busy index is waited for
_WAIT: Final = 0.05  # seconds each: a writer takes less than one; a rebuild of a large index takes longer than a reader


def behind_by(count: int) -> str:
    many = "1 memory that changed" if count == 1 else f"{count:,} memories that changed"
    return f"another process is updating the index: {many} meanwhile are left out; ask again"


@dataclass(frozen=True)
class Ground:
    """The index that answers, as of one moment. commit: of the branch, as believed. head: of the code, None when
    unborn. private: the folder of this clone's own state. warnings: what may be missing, and why. seen: the repository,
    when looking at it was enough."""

    env: Env
    index: SearchIndex
    viewer: Viewer
    commit: str
    head: str | None
    work_tree: Path | None
    private: Path
    now: datetime
    warnings: tuple[str, ...] = ()
    opened: View | None = None
    seen: AtRest | None = None

    @property
    def location(self) -> Location:
        """Where git is started, without judging the branch, which takes longer."""
        if self.opened is None and self.seen is not None:
            return self.seen.location()
        return self.workspace.location

    @cached_property
    def view(self) -> View:
        """The records themselves, for what the index does not hold. Opens the repository when it is not open yet."""
        if self.opened is not None:
            return self.opened
        from gitmem.app.belief import believed_view
        from gitmem.app.workspace import open_workspace

        return believed_view(open_workspace(self.env))

    @property
    def workspace(self) -> Workspace:
        return self.view.workspace


def ground(env: Env) -> Ground:
    """Raises NotFound when there is no memory here, and what opening a repository and believing its branch raise."""
    return _at_hand(env) or _opened(env)


def answered(env: Env, ask: Callable[[Ground], _T]) -> _T:
    """What `ask` finds out on the ground of now. An index that turns out to be damaged is built anew first: it is
    derived, so nothing is lost and nothing is wrong with the question."""
    from gitmem.recall.faults import IndexDamaged

    try:
        return ask(ground(env))
    except IndexDamaged:
        return ask(_opened(env, rebuild=True))


def _at_hand(env: Env) -> Ground | None:
    """The ground when neither the branch, nor the inbox, nor what is the user's own, nor what is believed has moved
    since the index was written."""
    seen = look(env.start or env.cwd, env.environ, (MAIN, INBOX, PRIVATE))
    if seen is None or seen.refs[MAIN] is None:
        return None
    try:
        own_tip = tip(env.environ)
    except (OSError, ValueError):
        return None
    believed = state.load(seen.private, "belief")
    if believed.get("commit") != seen.refs[MAIN] or believed.get("rejected") or believed.get("quarantined"):
        return None
    index = SearchIndex.open(seen.private / "index", model_of(env))
    failed = _failed(believed)
    tips = dict(index.tips)
    projects, own = tips.pop("projects", ""), tips.pop("own", "")
    for name in ("languages", "signed"):  # a config that says otherwise is another commit
        tips.pop(name, None)
    there = {label: own_tip if ref == USER else seen.refs[ref] for label, ref in PLACES.items()}
    if failed is None or not projects or tips != expected(there, failed):
        return None
    viewer = Viewer(frozenset(projects.split(",")), frozenset(AUDIENCES), frozenset(own.split(",") if own else ()))
    if not trust.stands(env, seen.common_dir, viewer.projects):
        return None
    return Ground(
        env, index, viewer, seen.refs[MAIN] or "", seen.head, seen.work_tree, seen.private, env.now(), seen=seen
    )


def _failed(believed: Mapping[str, Any]) -> dict[str, str] | None:
    """What failed at any time, as an index tells it; None when that cannot be read, which no index tells."""
    try:
        return {path: ",".join(sorted(blobs)) for path, blobs in believed.get("failed", {}).items()}
    except (AttributeError, TypeError):
        return None


def expected(tips: Mapping[str, str | None], failed: dict[str, str]) -> dict[str, str]:
    """What an index that has seen all of this says of itself, but for the projects. tips: by `layout.PLACES`."""
    seen = {label: commit or "" for label, commit in tips.items()}
    return {**seen, **{f"failed {path}": blobs for path, blobs in failed.items()}}


def _patiently(bring_up: Callable[[], SearchIndex]) -> SearchIndex:
    """The index, waited for while another process writes it, for a second."""
    from time import sleep

    from gitmem.recall.faults import IndexBusy, IndexUnwritable

    for _ in range(_PATIENCE):
        try:
            return bring_up()
        except IndexUnwritable:
            raise
        except IndexBusy:
            sleep(_WAIT)
    return bring_up()


def _opened(env: Env, *, rebuild: bool = False) -> Ground:
    from gitmem.app.belief import believed_view
    from gitmem.app.catch_up import catch_up, changed_since, opened_index
    from gitmem.app.workspace import open_workspace
    from gitmem.recall.faults import IndexBusy, IndexUnwritable

    view = believed_view(open_workspace(env))
    view.require_config()
    try:
        index, behind = _patiently(lambda: catch_up(view, rebuild=rebuild)), tuple[str, ...]()
    except IndexBusy as busy:
        index, behind = opened_index(view.workspace), ()
        if isinstance(busy, IndexUnwritable) or not index.tips:
            from gitmem.app.index_aside import index_aside

            with suppress(OSError, IndexBusy):  # without any room the last good index has to do
                index, behind = index_aside(view), (ASIDE,)
        if not behind:
            changed = changed_since(view, index)
            index.leave_out(changed)
            behind = (behind_by(len(changed)),)
    location = view.workspace.location
    return Ground(
        env, index, view.viewer, view.main.commit or "", location.head, location.work_tree, location.private,
        env.now(), (*view.doubts, *behind), view,
    )  # fmt: skip
