"""What capture writes for its own user: a person's own words as they were said, and what it saw happen.

Everything else that comes by this channel waits in the inbox, or is refused by the gate (`gitmem.policy.landing`).
"""

from __future__ import annotations

from collections.abc import Sequence

from gitmem.app.remember import remember
from gitmem.app.workspace import Workspace
from gitmem.model.frozen import replace
from gitmem.model.nouns import Draft, Memory


def keep(workspace: Workspace, drafts: Sequence[Draft], *, host: str | None = None, reason: str = "") -> list[Memory]:
    """Each draft as it was kept, in order: active in the private store when every reference that supports it is
    verified and quotes the person's own words (origin human) or shows what a tool answered, a file, a commit or a test
    (origin observed); else a candidate of the inbox. One that was there already is given as it is.

    host: of the session that it was caught in. All drafts or none: raises Refused with every reason.
    """
    own = [replace(draft, audience="private") for draft in drafts]
    env = replace(workspace.env, channel="capture", host=host)
    caught = replace(workspace, env=env)
    return [item.memory for item in remember(caught, own, reason=reason)]
