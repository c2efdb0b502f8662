"""Whether enough people approved a pull request, by what the forge says and what the policy of the target asks for.

The forge is the only witness, so nothing of it is kept and no reader asks for it: the check of a request does.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final

from gitmem.app.verify import Report
from gitmem.app.verify_fault import Fault
from gitmem.app.verify_view import judged_view
from gitmem.app.workspace import Workspace
from gitmem.errors import UsageError
from gitmem.model.approvals import LIMIT, Approval, Approvals, approvals_from_bytes
from gitmem.model.nouns import Config
from gitmem.model.text import counted

MISSING: Final = "approvals.missing"
_SHOWN: Final = 10  # people of whom it is said why they do not count
_BOT: Final = "[bot]"


def read_approvals(path: Path) -> Approvals:
    """The file of approvals at `path`, or UsageError. What is no plain file is not waited for."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise UsageError(f"{path.name} is no plain file", hint='docs/review.md, "Approvals"')
            raw = file.read(LIMIT + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{path.name} cannot be read: {why}", hint='docs/review.md, "Approvals"') from None
    return approvals_from_bytes(raw, path.name)


def approved(workspace: Workspace, report: Report, approvals: Approvals | None) -> Report:
    """The report of a request with who approved it, and a fault where the policy of the target asks for more."""
    if report.target is None or any(fault.code == "history.root" for fault in report.faults):
        return report
    if not report.commits and report.clean:
        return report  # nothing is asked to be merged
    config = judged_view(workspace, report.target).config
    asked = (config.approvals or 0) if config is not None else 0
    counting, others = _sorted(approvals, report.head, config) if approvals is not None else ((), ())
    report = replace(report, asked=asked, approved=tuple(counting))
    if len(counting) >= asked:
        return report
    fault = Fault(MISSING, _message(asked, counting, others, approvals), report.head)
    return replace(report, faults=(*report.faults, fault))


def _message(asked: int, counting: tuple[str, ...], others: tuple[str, ...], approvals: Approvals | None) -> str:
    wanted = f"the policy of the target asks for {counted(asked, 'approval')}"
    if approvals is None:
        return f"{wanted} and none were given: verify --merge-into takes --approvals FILE (docs/review.md)"
    more = f"; and {len(others) - _SHOWN} more do not count" if len(others) > _SHOWN else ""
    whom = f" ({', '.join(counting[:_SHOWN])})" if counting else ""
    why = f": {'; '.join(others[:_SHOWN])}{more}" if others else ""
    return f"{wanted} and {len(counting)} of {asked} count{whom}{why}"


def _sorted(approvals: Approvals, head: str, config: Config | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Whose approval counts, and why those of the others do not."""
    last: dict[str, Approval] = {}
    for said in approvals.said:
        # A remark takes nothing back, on no forge.
        if said.state != "commented" or said.by.casefold() not in last:
            last[said.by.casefold()] = said
    agents = {one.principal.casefold() for one in (config.signers if config else ()) if one.role == "agent"}
    whys = {name: "; ".join(_against(said, approvals, head, agents)) for name, said in sorted(last.items())}
    counting = tuple(last[name].by for name, why in whys.items() if not why)
    return counting, tuple(f"{last[name].by} {why}" for name, why in whys.items() if why)


def _against(said: Approval, approvals: Approvals, head: str, agents: set[str]) -> Iterator[str]:
    name = said.by.casefold()
    if said.state != "approved":
        yield {
            "changes_requested": "asked for changes", "dismissed": "was dismissed", "commented": "only commented",
        }[said.state]  # fmt: skip
    elif name == approvals.author.casefold():
        yield "is the author of the request"
    elif name.endswith(_BOT) or name in agents:
        yield "is a program"
    elif approvals.head != head:
        yield f"approved while the request stood at {approvals.head[:12]}, and {head[:12]} is checked"
    elif said.commit != head:
        yield f"approved {said.commit[:12]}, and {head[:12]} is checked"
