"""A home with transcripts of Claude Code for one repository, and what is stored of them."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conftest import git
from tests.installed import PROGRAM, Ran, agent

SESSION = "8c2f6a10-7d1e-4c55-9a3b-2f1e0d9c8b7a"


def said(
    number: int, text: str, where: Path, kind: str = "user", session: str = SESSION, **more: Any
) -> dict[str, Any]:
    """One row as Claude Code writes it."""
    content: Any = text if kind == "user" else [{"type": "text", "text": text}]
    return {
        "type": kind,
        "uuid": f"{number:08x}-0000-4000-8000-000000000000",
        "sessionId": session,
        "timestamp": f"2026-03-{number // 1440 % 28 + 1:02d}T{number // 60 % 24:02d}:{number % 60:02d}:00.000Z",
        "cwd": str(where),
        "message": {"role": kind, "content": content},
        **more,
    }


def line(row: dict[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode() + b"\n"


@dataclass
class Host:
    """Claude Code's folder for `repo`; `run` is the installed command there."""

    repo: Path
    projects: Path

    def path(self, session: str = SESSION) -> Path:
        return self.projects / f"{session}.jsonl"

    def say(self, *texts: str, session: str = SESSION, first: int = 1) -> Path:
        """Append rows of a person."""
        return self.write(
            b"".join(line(said(first + n, text, self.repo, session=session)) for n, text in enumerate(texts))
        )

    def write(self, data: bytes, session: str = SESSION) -> Path:
        with self.path(session).open("ab") as file:
            file.write(data)
        return self.path(session)

    def run(self, *arguments: str, environ: dict[str, str] | None = None) -> Ran:
        return agent(self.repo, *arguments, environ=environ)

    def capture(self, *arguments: str) -> dict[str, Any]:
        """Run `gitmem capture`, which must succeed; its summary, and under `sessions` the state of each session."""
        done = self.run("capture", "--json", *arguments)
        assert done.code == 0, done.err + done.out
        *sessions, summary = done.lines
        return {**summary, "sessions": {row["session"]: row for row in sessions}}

    @property
    def ref(self) -> str:
        return git(self.repo, "for-each-ref", "--format=%(refname)", "refs/gitmem/sessions").strip()

    def manifest(self, ref: str | None = None) -> Any:
        return json.loads(git(self.repo, "cat-file", "blob", f"{ref or self.ref}:manifest.json"))

    def stored(self, generation: int = 1, ref: str | None = None) -> bytes:
        """The bytes of one generation, read by git alone, in the order of the manifest."""
        data = b""
        found = next(g for g in self.manifest(ref)["generations"] if g["number"] == generation)
        for chunk in found["chunks"]:
            name = f"{ref or self.ref}:g{generation}/{chunk['start']}-{chunk['end']}.jsonl"
            data += raw(self.repo, name)
        return data

    def objects(self) -> set[str]:
        return set(git(self.repo, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split())


def raw(repo: Path, name: str, kind: str = "blob") -> bytes:
    """The bytes of one object."""
    return subprocess.run(["git", "-C", str(repo), "cat-file", kind, name], capture_output=True, check=True).stdout


def everything(repo: Path) -> bytes:
    """All that gitmem could have written: every object of git, inflated, and every file of the common git dir."""
    parts = [path.read_bytes() for path in (repo / ".git").rglob("*") if path.is_file()]
    for oid in git(repo, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)").splitlines():
        name, kind = oid.split()
        parts.append(raw(repo, name, kind))
    return b"\n".join(parts)


def make_host(repo: Path) -> Host:
    projects = Path(os.environ["HOME"]) / ".claude/projects/-shop"
    projects.mkdir(parents=True)
    return Host(repo, projects)


__all__ = ["PROGRAM", "SESSION", "Host", "everything", "line", "make_host", "raw", "said"]
