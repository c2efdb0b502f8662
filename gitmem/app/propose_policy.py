"""A change of the policy, proposed by a person where the policy leaves review to the forge."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gitmem.app.belief import believed_view
from gitmem.app.chain import fresh_chain
from gitmem.app.markdown import cell
from gitmem.app.propose import note, note_text, require_new
from gitmem.app.propose_move import free_name
from gitmem.app.workspace import Workspace
from gitmem.app.writing import config_commit
from gitmem.model.frozen import dataclass
from gitmem.model.layout import CONFIG, proposal_ref
from gitmem.model.nouns import Config
from gitmem.model.text import one_line
from gitmem.store.lock import writer_lock
from gitmem.store.port import RefMove

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class PolicyAsked:
    """A proposal of one change of gitmem.yaml: the branch with its one commit. `before` is what stands until the merge,
    `after` what then does, both by their names."""

    name: str
    base: str
    tip: str
    setting: str
    reason: str
    before: Settings
    after: Settings

    @property
    def branch(self) -> str:
        return proposal_ref(self.name).removeprefix("refs/heads/")

    @property
    def title(self) -> str:
        """Of a pull request: one line without markup."""
        return one_line(f"memory: policy: {self.setting}", 120)

    @property
    def body(self) -> str:
        """The text of a pull request: Markdown in which nothing that others wrote is markup."""
        names = [*self.before, *(name for name in self.after if name not in self.before)]
        changed = [name for name in names if self.before.get(name) != self.after.get(name)]
        lines = [
            f"The policy changes, one commit for `gitmem/main`: {cell(self.setting, width=100)}.",
            "",
            f"- why: {cell(self.reason, width=400)}",
            *(f"- {cell(name, width=100)}: {self._said(name)}" for name in changed),
            "",
            "A person at a terminal asks for this. Merging decides; until then the policy stands as it is.",
            "Where the policy names people, only a merge commit keeps the signature that it takes.",
            "",
            f"- `gitmem verify --merge-into gitmem/main --head {self.branch}` judges the merge, as the check does",
            "",
        ]
        return "\n".join(lines)

    def _said(self, name: str) -> str:
        old, new = (str(side.get(name, "not set")) for side in (self.before, self.after))
        return f"{cell(old, width=200)} → {cell(new, width=200)}"


def propose_policy(
    workspace: Workspace,
    change: Callable[[Config], Config],
    reason: str,
    *,
    setting: str,
    shown: Callable[[Config], Settings],
) -> PolicyAsked | Config:
    """Propose what `change` makes of the policy; the policy as it is when that is the same.

    setting: what is changed, a part of the name of the branch. Raises UsageError while a proposal of it is open.
    """
    with writer_lock(workspace.location):
        view = believed_view(workspace)
        old = view.require_config()
        new = change(old)
        if new == old:
            return old
        name = free_name(view, f"policy-{setting}")
        require_new(workspace, proposal_ref(name))
        tip, _ = config_commit(view, new, reason, fresh_chain(workspace))
        workspace.backend.move_refs([RefMove(proposal_ref(name), tip, None, "gitmem: propose")])
        note(workspace, name, [CONFIG], moves=True)
    made = PolicyAsked(name, view.main.commit or "", tip, setting, reason, shown(old), shown(new))
    note_text(workspace, name, made.title, made.body)
    return made
