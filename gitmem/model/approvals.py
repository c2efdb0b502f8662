"""What a forge says about who approved a pull request: a small file of gitmem's own shape, which no forge writes.

{"format": 1, "head": SHA, "author": LOGIN, "approvals": [{"by": LOGIN, "state": STATE, "commit": SHA}, …]}, the oldest
first. A STATE is approved, changes_requested, dismissed or commented.
"""

from __future__ import annotations

import json
from typing import Any, Final, Literal

from gitmem.errors import UsageError
from gitmem.model.frozen import dataclass
from gitmem.model.strict_json import strict_json
from gitmem.model.text import one_line

LIMIT: Final = 1 << 20  # bytes of the file
_SHA: Final = "^([0-9a-f]{40}|[0-9a-f]{64})$"
_LOGIN: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,98}(\[bot\])?$"
_HINT: Final = 'docs/review.md, "Approvals", shows the shape; hooks/ci/action.yml makes such a file'

State = Literal["approved", "changes_requested", "dismissed", "commented"]


@dataclass(frozen=True)
class Approval:
    """What one person said, of which commit of the request."""

    by: str
    state: State
    commit: str


@dataclass(frozen=True)
class Approvals:
    """`head`: the commit that the request stood at; `author`: whose request it is; `said`: the oldest first."""

    head: str
    author: str
    said: tuple[Approval, ...]


def approvals_from_bytes(raw: bytes, name: str) -> Approvals:
    """The file `name`, or UsageError: too long, no JSON, a field too many, one that is missing or of another type."""
    shown = one_line(name, 80)
    if len(raw) > LIMIT:
        raise UsageError(f"{shown} is longer than {LIMIT:,} bytes: no list of approvals is", hint=_HINT)
    from pydantic import ValidationError

    try:
        data = strict_json(raw.decode())
        found = _model().model_validate_json(json.dumps(data))
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(one_line(str(step), 40) for step in fault["loc"]) or "the file"
        raise UsageError(
            f"{shown} is no list of approvals: {place}: {one_line(fault['msg'], 200)}", hint=_HINT
        ) from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{shown} is no list of approvals: {one_line(str(error), 200)}", hint=_HINT) from None
    said = tuple(Approval(one.by, one.state, one.commit) for one in found.approvals)
    return Approvals(found.head, found.author, said)


def _model() -> Any:
    from typing import Annotated

    from pydantic import ConfigDict, Field, create_model

    closed = ConfigDict(strict=True, extra="forbid")
    sha: Any = Annotated[str, Field(pattern=_SHA)]
    version: Any = Annotated[int, Field(ge=1, le=1)]  # a Literal takes true for 1
    login: Any = Annotated[str, Field(pattern=_LOGIN)]
    one = create_model("Approval", __config__=closed, by=(login, ...), state=(State, ...), commit=(sha, ...))
    return create_model(
        "Approvals",
        __config__=closed,
        format=(version, ...),
        head=(sha, ...),
        author=(login, ...),
        approvals=(list[one], ...),  # type: ignore[valid-type]
    )
