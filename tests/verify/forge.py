"""Making commits of the memory branch without gitmem: by plain git, as a hand, a script or an attacker would."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from gitmem.model.ids import event_id
from gitmem.model.layout import event_path, memory_path
from gitmem.model.nouns import Actor, Event, GateRecord, Memory, Previous
from gitmem.model.records import digest, event_bytes, event_from_bytes, memory_bytes, memory_from_bytes
from tests.app.conftest import Ran
from tests.conftest import git

MAIN = "refs/heads/gitmem/main"
ID = "0123456789ab"  # of a record that is made by hand


@dataclass
class Shop:
    """A repository with memory; `ids` maps the names that a test uses to the ids of the records."""

    repo: Path
    run: Callable[..., Ran]
    ids: dict[str, str] = field(default_factory=dict)

    def ok(self, *arguments: str, **how: Any) -> Ran:
        done = self.run(self.repo, *arguments, **how)
        assert done.code == 0, done
        return done

    def remember(self, name: str, title: str, *arguments: str) -> str:
        kind = () if "--kind" in arguments else ("--kind", "fact")
        before = self.listed()
        self.ok("remember", *kind, title, *arguments)
        (self.ids[name],) = self.listed() - before
        return self.ids[name]

    def listed(self, *arguments: str) -> set[str]:
        """The ids that `list` gives."""
        return {line["id"] for line in self.ok("--json", "list", *arguments).lines if "id" in line}

    def recalled(self, words: str) -> set[str]:
        done = self.run(self.repo, "--json", "recall", words)
        assert done.code in (0, 4), done
        return {line["id"] for line in done.lines if "id" in line}

    def codes(self, *arguments: str) -> list[str]:
        """The codes that `verify` gives; none when it is clean."""
        done = self.run(self.repo, "--json", "verify", *(arguments or ("--all",)))
        (report,) = done.lines
        assert done.code == (0 if report["clean"] else 3), done
        return sorted({fault["code"] for fault in report["faults"]})

    def doctor(self) -> list[str]:
        """What doctor calls a fault."""
        done = self.run(self.repo, "--json", "doctor")
        assert done.code in (0, 1), done
        return [f"{line['topic']}: {line['message']}" for line in done.lines if line["state"] == "fault"]

    def unbelieved(self) -> list[str]:
        return [line for line in self.doctor() if line.startswith(("branch: not believed", "quarantine:"))]


@dataclass(frozen=True)
class Branch:
    """The branch gitmem/main of a repository, read and written by plain git."""

    repo: Path

    def tip(self) -> str:
        return git(self.repo, "rev-parse", MAIN).strip()

    def read(self, path: str, revision: str = MAIN) -> bytes:
        done = subprocess.run(
            ["git", "-C", str(self.repo), "cat-file", "blob", f"{revision}:{path}"], capture_output=True, check=True
        )
        return done.stdout

    def paths(self, prefix: str = "", revision: str = MAIN) -> list[str]:
        names = git(self.repo, "ls-tree", "-r", "--name-only", revision).splitlines()
        return [name for name in names if name.startswith(prefix)]

    def memory(self, identifier: str) -> Memory:
        return memory_from_bytes(self.read(memory_path(identifier)))

    def events(self, identifier: str | None = None, revision: str = MAIN) -> list[tuple[str, Event]]:
        """The events with their paths, oldest first; of one memory, or all."""
        paths = sorted(self.paths("events/", revision), key=lambda path: path.rsplit("/", 1)[-1])
        found = [(path, event_from_bytes(self.read(path, revision))) for path in paths]
        return [(path, event) for path, event in found if identifier is None or event.memory == identifier]

    def blob(self, data: bytes) -> str:
        return _fed(self.repo, data, "hash-object", "-w", "--stdin").strip()

    def tree(self, entries: Sequence[tuple[str, str, str]]) -> str:
        """A tree of (mode, name, object) as it stands, whatever git thinks of it."""
        rows = [b"%s %s\0%s" % (mode.encode(), os.fsencode(name), bytes.fromhex(oid)) for mode, name, oid in entries]
        return _fed(self.repo, b"".join(rows), "hash-object", "-t", "tree", "-w", "--literally", "--stdin").strip()

    def entries(self, tree: str) -> list[tuple[str, str, str]]:
        """(mode, name, object) of one folder."""
        lines = git(self.repo, "ls-tree", tree).splitlines()
        found = [(head.split(), name) for head, _, name in (line.partition("\t") for line in lines)]
        return [(mode.lstrip("0"), name, oid) for (mode, _, oid), name in found]

    def graft(self, folder: str, mode: str, name: str, oid: str) -> str:
        """The tree of the branch with one more entry in `folder`, made without git's own checks."""

        def grafted(tree: str, parts: list[str]) -> str:
            rows = self.entries(tree)
            if not parts:
                rows = [*(row for row in rows if row[1] != name), (mode, name, oid)]
            else:
                below = next((row[2] for row in rows if row[1] == parts[0]), _empty(self.repo))
                rows = [*(row for row in rows if row[1] != parts[0]), ("40000", parts[0], grafted(below, parts[1:]))]
            return self.tree(sorted(rows, key=lambda row: os.fsencode(row[1] + "/" * (row[0] == "40000"))))

        return grafted(git(self.repo, "rev-parse", f"{MAIN}^{{tree}}").strip(), folder.split("/") if folder else [])

    def tree_with(self, edits: Mapping[str, bytes | None], base: str = MAIN, mode: str = "100644") -> str:
        """The tree of `base` with files written (bytes) or taken away (None)."""
        index = {"GIT_INDEX_FILE": str(self.repo / ".git/by-hand")}
        environ = {**os.environ, **index}
        git(self.repo, "read-tree", base, env=environ)
        for path, data in edits.items():
            if data is None:
                git(self.repo, "update-index", "--force-remove", path, env=environ)
            else:
                entry = f"{mode},{self.blob(data)},{path}"
                git(self.repo, "update-index", "--add", "--cacheinfo", entry, env=environ)
        return git(self.repo, "write-tree", env=environ).strip()

    def commit_tree(self, tree: str, *parents: str, message: str = "by hand") -> str:
        named = [word for parent in parents for word in ("-p", parent)]
        return git(self.repo, "commit-tree", tree, *named, "-m", message).strip()

    def move(self, commit: str) -> str:
        git(self.repo, "update-ref", MAIN, commit)
        return commit

    def commit(self, edits: Mapping[str, bytes | None], *, message: str = "by hand", mode: str = "100644") -> str:
        """One more commit on the branch, by commit-tree and update-ref."""
        return self.move(self.commit_tree(self.tree_with(edits, mode=mode), self.tip(), message=message))

    def event(self, op: str, after: Memory | None, before: Memory | None = None, **changes: Any) -> Event:
        """An event as gitmem would write it, of the newest event's writer, with whatever is to be wrong with it."""
        events = self.events()
        path, last = events[-1]
        moment = datetime.fromisoformat(last.at).timestamp() + 60
        made = Event(
            id=event_id(int(moment * 1000), os.urandom(10)),
            at=datetime.fromtimestamp(moment, timezone.utc).isoformat().replace("+00:00", "Z"),
            op=op,  # type: ignore[arg-type]
            memory=(after or before or _nothing()).id,
            status_from=before.status if before else None,
            status_to=after.status if after else None,
            before=digest(memory_bytes(before)) if before else None,
            after=digest(memory_bytes(after)) if after else None,
            reason="said so",
            actor=Actor(channel="terminal"),
            gate=GateRecord(1, "admit", ("verified",)),
            writer=last.writer,
            prev=Previous(path, digest(self.read(path))),
        )
        return replace(made, **changes)

    def with_event(self, event: Event, *memories: Memory) -> dict[str, bytes | None]:
        """The files of a change by hand that brings the event it needs."""
        edits: dict[str, bytes | None] = {memory_path(memory.id): memory_bytes(memory) for memory in memories}
        edits[event_path(event.id, event.memory)] = event_bytes(event)
        return edits


def _nothing() -> Memory:
    raise AssertionError("an event needs a memory")


def _fed(repo: Path, data: bytes, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(repo), *arguments], input=data, capture_output=True, check=True)
    return done.stdout.decode()


def _empty(repo: Path) -> str:
    return _fed(repo, b"", "hash-object", "-t", "tree", "-w", "--stdin").strip()
