"""`gitmem skill`: a procedure or solution that helped in two sessions, as a SKILL.md for an agent's host.

The file is for a person to want: it is shown first, and written on that person's word alone. It is no part of the
memory; whoever has the repository sees it once it is committed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gitmem.app import use
from gitmem.app.belief import believed_view
from gitmem.app.githooks_receipt import put
from gitmem.app.moves import find_for
from gitmem.app.workspace import View, Workspace
from gitmem.errors import GitmemError, Refused, UsageError
from gitmem.model.citations import citation
from gitmem.model.frozen import dataclass
from gitmem.model.layout import MAIN, PRIVATE, USER
from gitmem.model.nouns import Memory
from gitmem.model.text import one_line
from gitmem.model.vocabulary import VISIBLE

KINDS: Final = ("procedure", "solution")
ENOUGH: Final = 2  # sessions whose checks passed with it in context
FOLDER: Final = ".claude/skills"  # from the top of the work tree; Codex reads .agents/skills
_HINT: Final = "gitmem skill list names what may become one"
_NAME: Final = 60  # characters; hosts take 64
_DESCRIPTION: Final = 1000  # characters; hosts take 1,024
_MARK: Final = "<!-- gitmem skill {id} -->"


@dataclass(frozen=True)
class Skill:
    """A memory that may become a skill. sessions: that credit it. path: of its SKILL.md, from the top of the work tree.
    written: it is there. text: of the file, as it would be. before: what is there now, None where nothing is."""

    memory: Memory
    sessions: int
    path: Path
    written: bool
    text: str
    before: str | None = None


def qualified(view: View) -> list[Skill]:
    """What may become a skill, the most credited first."""
    return sorted(_qualified(view), key=lambda skill: (-skill.sessions, skill.memory.id))


def _qualified(view: View) -> Iterator[Skill]:
    workspace = view.workspace
    if not use.is_on(workspace.env.environ):
        return
    used = use.load(workspace.location.private)
    for identifier, row in used.items():
        sessions = use.sessions_crediting(row)
        found = view.anywhere(identifier) if sessions >= ENOUGH else None
        if found is not None and found.ref in (MAIN, PRIVATE, USER):
            memory = found.memory
            if memory.kind in KINDS and memory.status in VISIBLE:
                yield _skill(view, memory, sessions, FOLDER)


def proposed(workspace: Workspace, prefix: str, folder: str = FOLDER) -> Skill:
    """The skill that a memory would become. Raises UsageError for a memory of another kind, one that does not hold, one
    that has not been credited by two sessions, and a folder outside of the work tree."""
    view = believed_view(workspace)
    memory = find_for(view, "skill propose", prefix).memory
    if memory.kind not in KINDS:
        raise UsageError(f"{memory.id} is a {memory.kind}; a skill is made of a procedure or a solution", hint=_HINT)
    if memory.status not in VISIBLE:
        raise UsageError(f"{memory.id} is {memory.status}; what does not hold becomes no skill", hint=_HINT)
    sessions = use.sessions_crediting(use.load(workspace.location.private).get(memory.id))
    if sessions < ENOUGH:
        raise UsageError(
            f"{memory.id} has credit from {sessions} of {ENOUGH} sessions",
            hint="it gets credit when the project's checks pass in a session that was told of it",
        )
    return _skill(view, memory, sessions, folder)


def _skill(view: View, memory: Memory, sessions: int, folder: str) -> Skill:
    name = name_of(memory)
    parts = Path(folder).parts
    if Path(folder).is_absolute() or ".." in parts or ".git" in parts or not parts:
        raise UsageError(f"{folder!r} is no folder below the top of the work tree", hint=f"such as {FOLDER}")
    path = Path(folder) / name / "SKILL.md"
    top = view.workspace.location.work_tree
    before = _there(top, path) if top is not None else None
    text = skill_text(memory, name)
    return Skill(memory, sessions, path, before == text, text, before)


def _there(top: Path, path: Path) -> str | None:
    """What a file says now, None where there is none; nothing of what a link leads to, or what is no text."""
    if _link_in(top, path) is not None:
        return ""
    try:
        return (top / path).read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError):
        return ""


def _link_in(top: Path, path: Path) -> Path | None:
    """The first part of a path below `top` that is a symbolic link."""
    places = [top.joinpath(*path.parts[:count]) for count in range(1, len(path.parts) + 1)]
    return next((place for place in places if place.is_symlink()), None)


def write_skill(workspace: Workspace, skill: Skill) -> Path:
    """Put the file there, for a person who saw it. Raises Refused for anybody else, and where another file is there."""
    env = workspace.env
    if env.channel != "terminal":
        raise Refused(
            "what agents are to follow is for a person to write; nothing was written",
            hint=f"a person runs: gitmem skill propose {skill.memory.id[:8]}",
        )
    top = workspace.location.work_tree
    if top is None:
        raise UsageError("a bare repository has no place for a skill", hint="gitmem -C WORKTREE skill propose ID")
    place = top / skill.path
    if (link := _link_in(top, skill.path)) is not None:
        raise Refused(f"{link} is a symbolic link; nothing was written", hint="name another folder: --to FOLDER")
    if skill.before is not None and _MARK.format(id=skill.memory.id) not in skill.before:
        raise Refused(f"{skill.path} is there and not of this memory; nothing was written", hint="--to FOLDER")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        put(place, skill.text.encode(), 0o644)
    except OSError as error:
        raise GitmemError(f"cannot write {place}: {error.strerror}", hint="see the free space and the rights") from None
    return place


def name_of(memory: Memory) -> str:
    """Lower-case letters, digits and hyphens, from its key or its title; its id keeps two of one name apart."""
    plain = re.sub(r"[^a-z0-9]+", "-", (memory.key or memory.title).lower()).strip("-")
    return f"{plain[: _NAME - 9].strip('-')}-{memory.id[:8]}".lstrip("-")


def skill_text(memory: Memory, name: str) -> str:
    """The file: what hosts read at its head, then what the memory says, its steps, and what it rests on."""
    steps = [f"{number}. {one_line(step.text, 600)}" for number, step in enumerate(memory.steps, 1)]
    rests = [f"- {one_line(citation(ref), 300)}" for ref in memory.evidence]
    parts = [
        # JSON strings are YAML strings, whatever stands in them.
        f"---\nname: {name}\ndescription: {json.dumps(_description(memory), ensure_ascii=False)}\n---",
        _MARK.format(id=memory.id),
        f"# {one_line(memory.title, 200)}",
        memory.body.strip(),
        "\n".join(["## Steps", "", *steps]) if steps else "",
        "\n".join(
            ["## Where this comes from", "", f"- memory {memory.id} ({memory.kind}, {memory.origin}): "
             f"`gitmem show {memory.id}` says whether it still holds", *rests]
        ),
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part) + "\n"


def _description(memory: Memory) -> str:
    about = f" Use it for {', '.join(memory.applies_to[:5])}." if memory.applies_to else ""
    return one_line(f"{memory.title.rstrip('.')}.{about}", _DESCRIPTION)
