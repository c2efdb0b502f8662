"""Whether meaning is searched beside words: where the extra is installed, unless it was turned off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gitmem.app.env import Env
from gitmem.recall.semantic import Absent, Model, model

if TYPE_CHECKING:
    from gitmem.app.ground import Ground

SETTING: Final = "GITMEM_SEMANTIC"
_OFF: Final = frozenset({"off", "no", "false", "0"})


def meaning(env: Env) -> Model | Absent:
    """The model that is searched with, or why there is none."""
    said = env.environ.get(SETTING, "")
    if said.lower() in _OFF:
        return Absent(f"turned off by {SETTING}={said}", f"unset {SETTING}")
    return model()


def model_of(env: Env) -> Model | None:
    """As `meaning`, for who does not ask why."""
    found = meaning(env)
    return None if isinstance(found, Absent) else found


def learn(ground: Ground) -> str:
    """Make the vectors that the index of `ground` lacks; what stood in the way, "" when nothing did.

    Words are searched all the same. Raises IndexDamaged.
    """
    if ground.index.is_learned():
        return ""
    from gitmem.app.state import leave_to_owner
    from gitmem.recall.faults import IndexBusy, MeaningUnavailable

    try:
        ground.index.learn()
    except IndexBusy as error:
        return f"the newest memories are searched by words alone: {error.message}"
    except MeaningUnavailable as error:
        return f"searched by words alone: {error.message}"
    leave_to_owner(ground.private / "index")
    return ""
