"""Whether meaning is searched beside words, and by which model: where an extra is installed, unless turned off."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Final

from gitmem.app.env import Env
from gitmem.model.text import counted
from gitmem.recall.semantic import Absent, Choice, Model, model

if TYPE_CHECKING:
    from gitmem.app.ground import Ground

SETTING: Final = "GITMEM_SEMANTIC"
_OFF: Final = frozenset({"off", "no", "false", "0"})
# What may be said otherwise: the stronger model of those that are installed, or the one that is named.
_CHOICES: Final[dict[str, Choice]] = {"": "", "on": "", "static": "static", "minilm": "minilm"}


def meaning(env: Env) -> Model | Absent:
    """The model that is searched with, or why there is none."""
    said = env.environ.get(SETTING, "")
    if said.lower() in _OFF:
        return Absent(f"turned off by {SETTING}={said}", f"unset {SETTING}")
    if said.lower() not in _CHOICES:
        return Absent(f"{SETTING}={said} is none of off, on, static, minilm", f"unset {SETTING}")
    return model(_CHOICES[said.lower()])


def model_of(env: Env) -> Model | None:
    """As `meaning`, for who does not ask why."""
    found = meaning(env)
    return None if isinstance(found, Absent) else found


def learn(ground: Ground) -> str:
    """Make the vectors that the index of `ground` lacks, unless they are so many that a question should not wait for
    them; what stood in the way, "" when nothing did.

    Words are searched all the same. Raises IndexDamaged.
    """
    if ground.index.is_learned():
        return ""
    found = model_of(ground.env)
    if found is not None and (lacking := ground.index.unlearned()) > found.patience:
        seconds = ceil(lacking * found.seconds)
        return (
            f"searched by words alone: {counted(lacking, 'version')} of memories have no vector of meaning yet; "
            f"`gitmem reindex --meaning` makes them (about {seconds} s)"
        )
    return _made(ground)


def make_all(ground: Ground) -> tuple[str, int]:
    """Make all vectors that the index of `ground` lacks; by which model and how many. Raises Refused when there is no
    model, IndexBusy, MeaningUnavailable, IndexDamaged."""
    from gitmem.app.state import leave_to_owner
    from gitmem.errors import Refused

    found = meaning(ground.env)
    if isinstance(found, Absent):
        raise Refused(f"meaning is not searched here: {found.reason}", hint=found.hint)
    lacking = ground.index.unlearned()
    ground.index.learn()
    leave_to_owner(ground.private / "index")
    return found.name, lacking


def _made(ground: Ground) -> str:
    from gitmem.recall.faults import IndexBusy, MeaningUnavailable

    try:
        ground.index.learn()
    except IndexBusy as error:
        return f"the newest memories are searched by words alone: {error.message}"
    except MeaningUnavailable as error:
        return f"searched by words alone: {error.message}"
    from gitmem.app.state import leave_to_owner

    leave_to_owner(ground.private / "index")
    return ""
