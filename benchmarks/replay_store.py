"""The memory of the replay: notes, histories, what the sessions teach, and look-alikes that nobody may be shown."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from replay_sessions import KEPT, Moment, Sample
from throwaway import GITMEM, INBOX, MAIN, Writer, git

NOTES = Path(__file__).with_name("replay") / "notes.jsonl"
SHOWN = "zqcontrol"  # a word of each look-alike that may be told
# A word of each that may not: how it differs from the control.
HIDDEN: dict[str, dict[str, Any]] = {
    "zqsuperseded": {"status": "superseded"}, "zqrejected": {"status": "wrong"}, "zqarchived": {"status": "archived"},
    "zqdisputed": {"status": "disputed"}, "zqquarantined": {"status": "quarantined"},
    "zqcandidate": {"status": "candidate"}, "zqforeign": {"project": "depot-000000"},
    "zqprivate": {"audience": "private"}, "zqexpired": {"until": "2026-01-01"},
    "zqinbox": {"status": "candidate", "ref": INBOX},
}  # fmt: skip


def checkout(where: Path, samples: Iterable[Sample]) -> None:
    """A repository with a file at each place that an edit or a note names."""
    paths = {moment.path for sample in samples for moment in sample.moments if moment.path}
    paths |= {path for note in notes() for path in note.get("applies_to", ()) if "*" not in path}
    where.mkdir()
    git(where, "init", "-q", "-b", "main")
    (where / "CITED.md").write_text("# replayed\n\nA file to be cited.\n")
    for path in sorted(paths):
        (where / path).parent.mkdir(parents=True, exist_ok=True)
        (where / path).write_text("a stand-in\n")
    git(where, "add", ".")
    git(where, "commit", "-q", "-m", "the files")


def notes() -> list[dict[str, Any]]:
    return [json.loads(line) for line in NOTES.read_text(encoding="utf-8").splitlines()]


def remembered(where: Path, histories: Sequence[Path]) -> dict[str, str]:
    """Memory id to the name by which the labels know it, of notes and of imported changes."""
    from gitmem.app.imports import import_notes
    from gitmem.app.remember import remember
    from gitmem.model.nouns import Draft

    cited = ("file:CITED.md:3",)
    drafts = [
        Draft(note["kind"], note["title"], note.get("body", ""), key=note["key"], evidence=cited,
              applies_to=tuple(note.get("applies_to", ())))
        for note in notes()
    ]  # fmt: skip
    writer = Writer(where)
    writer.init()
    done = remember(writer.workspace, drafts)
    names = {made.memory.id: f"note {made.memory.key}" for made in done}
    commits = _committed(where, histories)
    import_notes(writer.workspace, [str(where.parent / "changes.jsonl")], accept=True)
    writer.close()
    for row in listed(where):
        named = [commits[ref["commit"]] for ref in row.get("evidence", ()) if ref.get("commit") in commits]
        names |= dict.fromkeys([row["id"]] if named else [], named[0] if named else "")
    return names


def listed(where: Path) -> list[dict[str, Any]]:
    done = subprocess.run([str(GITMEM), "list", "--json", "-n", "10000"], cwd=where, check=True, capture_output=True)
    return [row for row in map(json.loads, done.stdout.splitlines()) if "title" in row]


def _committed(where: Path, histories: Sequence[Path]) -> dict[str, str]:
    """Commits with those messages, on a branch of their own; commit to `project id`."""
    rows = [
        (path.name.split(".")[0], json.loads(line))
        for path in histories
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    said = bytearray()
    for number, (_, row) in enumerate(rows, 1):
        message = f"{row['title']}\n\n{row['body']}".encode()
        said += b"commit refs/heads/histories\nmark :%d\ncommitter P <p@example.invalid> %d +0000\ndata %d\n%s\n" % (
            number, 1_500_000_000 + number * 600, len(message), message,
        )  # fmt: skip
    marks = where.parent / "marks"
    command = ["git", "fast-import", "--quiet", f"--export-marks={marks}"]
    subprocess.run(command, cwd=where, input=bytes(said), check=True)
    oids = dict(line.split() for line in marks.read_text().splitlines())
    named = {oids[f":{number}"]: f"{project} {row['id']}" for number, (project, row) in enumerate(rows, 1)}
    lines = [{**row, "commit": oids[f":{number}"]} for number, (_, row) in enumerate(rows, 1)]
    (where.parent / "changes.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return named


def captured(where: Path, home: Path, samples: Iterable[Sample]) -> dict[str, str]:
    """Store the sessions and let them teach; memory id to name of what was learned: its kind and where it was said."""
    for sample in samples:
        place = KEPT.get(sample.host)
        path = home / (place.format(sample.path.stem) if place else f"named/{sample.host}/{sample.path.name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(sample.stored)
        if not place:
            command = [str(GITMEM), "capture", str(path), "--host", sample.host]
            subprocess.run(command, cwd=where, check=True, capture_output=True)
    for verb in (["capture"], ["lessons"]):
        subprocess.run([str(GITMEM), *verb], cwd=where, check=True, capture_output=True)
    learned = {}
    for row in listed(where):
        said = [ref for ref in row.get("evidence", ()) if ref.get("type") == "transcript"]
        if said:
            learned[row["id"]] = f"{row['kind']} of {said[0]['session']}#{said[0]['record']}"
    return learned


def plant(where: Path, moments: Sequence[Moment]) -> None:
    """For each prompt and edited file a control that answers it, and beside it one of each sort that is withheld, put
    there by hand and believed: readers do not rely on the gate."""
    from gitmem.model.layout import memory_path
    from gitmem.model.nouns import Draft, Scope, Valid
    from gitmem.model.records import memory_bytes

    asked = list(dict.fromkeys((_words(moment.prompt), moment.path) for moment in moments))
    drafts = [
        Draft("convention", f"{words or path} {SHOWN}", f"control {number}", applies_to=(path,) if path else (),
              evidence=("file:CITED.md:3",))
        for number, (words, path) in enumerate(asked)
    ]  # fmt: skip
    from gitmem.app.remember import remember

    writer = Writer(where)
    controls = [done.memory for done in remember(writer.workspace, drafts)]
    writer.close()
    files: dict[str, dict[str, bytes]] = {MAIN: {}, INBOX: {}}
    for number, control in enumerate(controls):
        for kind, (word, how) in enumerate(HIDDEN.items()):
            scope = Scope(how.get("project", control.scope.project), how.get("audience", "team"))
            made = replace(
                control, id=f"{number:03}{kind:02}abcdefg", title=control.title.replace(SHOWN, word),
                status=how.get("status", "active"), scope=scope, valid=Valid(until=how.get("until")),
            )  # fmt: skip
            files[how.get("ref", MAIN)][memory_path(made.id)] = memory_bytes(made)
    tips = {ref: _by_hand(where, ref, more) for ref, more in files.items()}
    believed = where / ".git/gitmem/belief.json"
    said = json.loads(believed.read_text())
    believed.write_text(json.dumps(said | {"commit": tips[MAIN], "tip": tips[MAIN], "inbox": tips[INBOX]}))


def _words(prompt: str) -> str:
    """The first words of a prompt, without what no title may hold."""
    kept = "".join(char if char.isalnum() or char in " -_./" else " " for char in prompt[:400])
    return " ".join(kept.split())[:90].strip()


def _by_hand(where: Path, ref: str, files: dict[str, bytes]) -> str:
    """A commit of plain git that adds `files`; its id."""
    environ = {**os.environ, "GIT_INDEX_FILE": str(where / ".git/replay.index")}

    def run(*words: str, stdin: bytes = b"") -> str:
        done = subprocess.run(["git", *words], cwd=where, env=environ, input=stdin, check=True, capture_output=True)
        return done.stdout.decode().strip()

    before = git(where, "rev-parse", "-q", "--verify", ref, check=False).strip()
    run("read-tree", *([ref] if before else ["--empty"]))
    rows = [f"100644 {run('hash-object', '-w', '--stdin', stdin=raw)}\t{path}\n" for path, raw in files.items()]
    run("update-index", "--add", "--index-info", stdin="".join(rows).encode())
    commit = run("commit-tree", run("write-tree"), *(["-p", before] if before else []), "-m", "by hand")
    run("update-ref", ref, commit)
    return commit
