"""How memories look: one line, one page, and as data."""

from __future__ import annotations

from typing import Any

from gitmem.cli.door import Door
from gitmem.model.citations import citation
from gitmem.model.judgement import Reason, Resolution
from gitmem.model.nouns import EvidenceRef, Memory
from gitmem.model.records import to_data
from gitmem.model.text import one_line
from gitmem.model.times import holds_at
from gitmem.model.vocabulary import VISIBLE

SHORT = 8  # characters of an id that lists show
_STATUS_STYLE = {"active": "green", "maybe_stale": "yellow", "stale": "yellow", "candidate": "cyan"}


def memory_data(memory: Memory, ref: str) -> dict[str, Any]:
    """A memory for `--json`: its fields as in the file, and where it lies."""
    return {**to_data(memory), "ref": ref}


def reason_data(reason: Reason) -> dict[str, str]:
    return {"code": reason.code, "message": reason.message, "hint": reason.hint, "where": reason.where}


def status_text(door: Door, status: str) -> str:
    return door.style(status, _STATUS_STYLE.get(status, "red"))


def memory_line(door: Door, memory: Memory) -> str:
    """One memory on one line: id, kind, status, title, tags."""
    tags = door.style(" [" + ", ".join(memory.tags) + "]", "dim") if memory.tags else ""
    kind = door.style(memory.kind.ljust(13), "dim")
    own = "" if memory.scope.audience == "team" else f"({door.style(memory.scope.audience, 'cyan')}) "
    state = own if memory.status == "active" else f"{own}({status_text(door, memory.status)}) "
    if memory.status in VISIBLE and not holds_at(memory.valid.start, memory.valid.until, door.env.now()):
        state += f"({door.style('not true now', 'yellow')}) "
    return f"{door.style(memory.id[:SHORT], 'bold')}  {kind}  {state}{door.style(one_line(memory.title, 100))}{tags}"


def cited(door: Door, ref: EvidenceRef, drifted: str = "") -> str:
    """One reference on a line: where it points, its quote, and what became of it since."""
    quote = f' "{one_line(ref.quote, 80)}"' if ref.quote else ""
    return door.style("↳ " + citation(ref) + quote, "dim") + (door.style(f" {drifted}", "yellow") if drifted else "")


def evidence_line(door: Door, resolution: Resolution, drifted: str = "") -> str:
    ref, style = resolution.ref, {"verified": "green", "unobservable": "yellow"}.get(resolution.state, "red")
    quote = f' "{one_line(ref.quote, 100)}"' if ref.quote else ""
    details = [text for text in (resolution.detail, drifted) if text]
    detail = f" ({'; '.join(details)})" if details else ""
    return f"{door.style(resolution.state, style)}  {door.style(citation(ref))}{door.style(quote + detail, 'dim')}"


def page(
    door: Door, memory: Memory, resolutions: tuple[Resolution, ...], drifts: tuple[str, ...], review: str
) -> list[str]:
    """One memory in full. `review`: what the verdict on it is worth; empty where there is none."""
    lines = [
        f"{door.style(memory.id, 'bold')}  {memory.kind}  {status_text(door, memory.status)}",
        door.style(memory.title, "bold"),
    ]
    if memory.body:
        lines += ["", *(f"  {door.style(line)}".rstrip() for line in memory.body.split("\n"))]
    lines.append("")
    facts: list[tuple[str, str]] = [
        ("origin", memory.origin),
        ("scope", f"{memory.scope.project}, {memory.scope.audience}"),
        ("key", memory.key or ""),
        ("tags", ", ".join(memory.tags)),
        ("paths", ", ".join(memory.applies_to)),
        ("aliases", "; ".join(memory.aliases)),
        ("valid", _validity(memory)),
        ("cue", memory.cue or ""),
        ("review", review),
    ]
    facts += [("rejected", f"{item.title}: {item.why}") for item in memory.alternatives]
    facts += [("step", f"[{'x' if step.done else ' '}] {step.text}") for step in memory.steps]
    facts += [("claim", claim) for claim in memory.claims]
    facts += [("grounding", text) for text in memory.groundings]
    facts += [(link.type, f"{link.to}" + (f" ({link.why})" if link.why else "")) for link in memory.links]
    lines += [f"  {name:<13} {door.style(value)}" for name, value in facts if value]
    lines += ["  evidence", *(f"    {evidence_line(door, *pair)}" for pair in zip(resolutions, drifts, strict=True))]
    return lines


def _validity(memory: Memory) -> str:
    start, until = memory.valid.start, memory.valid.until
    if start and until:
        return f"from {start} until {until}"
    return f"from {start}" if start else f"until {until}" if until else ""
