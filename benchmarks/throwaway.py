"""A repository to be thrown away, a person and an agent who write to it through the product, and what plain git says.

The other benchmarks stand on this. What was written is read back with git alone, so that a fault of gitmem cannot
hide itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timezone
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

MAIN = "refs/heads/gitmem/main"
INBOX = "refs/gitmem/inbox"
GITMEM = Path(sys.executable).with_name("gitmem")
SEALED = ("GIT_", "XDG_", "CLAUDE", "CODEX", "CURSOR", "GEMINI", "OPENCODE", "COPILOT", "GITMEM_", "AI_AGENT", "AGENT")


@contextmanager
def sealed(prefix: str) -> Iterator[Path]:
    """A folder that is removed again, and this process with a home in it that nobody else has.

    Has to be entered before anything of gitmem is imported.
    """
    with TemporaryDirectory(prefix=f"gitmem-{prefix}-", ignore_cleanup_errors=True) as name:
        home = Path(name) / "home"
        home.mkdir()
        (home / ".gitconfig").write_text(
            "[user]\n\tname = Test Person\n\temail = person@example.invalid\n[init]\n\tdefaultBranch = main\n"
        )
        for variable in list(os.environ):
            if variable.startswith(SEALED) or variable in ("CI", "GITHUB_ACTIONS"):
                del os.environ[variable]
        os.environ |= {"HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        yield Path(name)


def git(where: Path, *arguments: str, check: bool = True, stdin: bytes | None = None) -> str:
    done = subprocess.run(["git", "-C", str(where), *arguments], input=stdin, capture_output=True, check=False)
    if check and done.returncode:
        raise SystemExit(f"git {' '.join(arguments)}: {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return done.stdout.decode(errors="replace")


def gitmem(where: Path, *arguments: str, check: bool = True) -> tuple[int, str, str]:
    """The installed command: (exit code, standard output, standard error)."""
    done = subprocess.run([str(GITMEM), *arguments], cwd=where, capture_output=True, text=True, check=False)
    if check and done.returncode:
        raise SystemExit(f"gitmem {' '.join(arguments)}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.returncode, done.stdout, done.stderr


def repository(where: Path, files: int = 1) -> Path:
    """A repository on `main` with one commit of README.md and src/*, and an empty memory."""
    (where / "src").mkdir(parents=True)
    git(where, "init", "-q", "-b", "main")
    (where / "README.md").write_text("# shop\n\nThe pool retries a connect three times.\n")
    for number in range(files):
        folder = where / "src" / f"{number % 40:02}"
        folder.mkdir(exist_ok=True)
        (folder / f"part{number}.py").write_text(f"def part{number}():\n    return {number}\n" * 20)
    git(where, "add", ".")
    git(where, "commit", "-q", "-m", "the shop")
    return where


def warm() -> None:
    """Import all that a write needs, so that a forked writer begins at once."""
    import ryaml  # noqa: F401
    import tantivy  # noqa: F401

    import gitmem.app.catch_up
    import gitmem.app.remember
    import gitmem.app.verify
    import gitmem.model.read
    import gitmem.store.git_backend
    import gitmem.store.libgit2_backend  # noqa: F401


class Writer:
    """One process's hold on the repository: a person at a terminal, and an agent when `channel` says so.

    `attempts` counts the commits that were made for a ref to take, whether it took them or not.
    """

    def __init__(self, where: Path, *, libgit2: bool = False) -> None:
        from gitmem.app.env import Env
        from gitmem.app.workspace import open_workspace

        env = Env(
            cwd=where, environ=dict(os.environ), stdin=StringIO(), stdout=StringIO(), stderr=StringIO(),
            now=lambda: datetime.now(timezone.utc), random=os.urandom, channel="terminal",
        )  # fmt: skip
        self.workspace = open_workspace(env, long_lived=libgit2)
        self.attempts = 0
        really = self.workspace.backend.move_refs

        def counted(moves: Any) -> None:
            self.attempts += 1
            really(moves)

        self.workspace.backend.move_refs = counted  # type: ignore[method-assign]

    def remember(self, seed: str, channel: Any = "terminal") -> tuple[str, str]:
        """(id, result) of the one draft that `seed` makes. The same seed is the same request."""
        from gitmem.app.remember import remember

        env = replace(self.workspace.env, channel=channel)
        (done,) = remember(replace(self.workspace, env=env), [draft(seed)])
        return done.memory.id, done.result

    def init(self) -> None:
        from gitmem.app.init import init

        init(self.workspace, offline=True)

    def trust(self) -> None:
        """What was copied came from elsewhere to gitmem, and this process made it."""
        from gitmem.app.belief import inert_view
        from gitmem.app.trust import grant

        grant(inert_view(self.workspace), "asked")

    def close(self) -> None:
        self.workspace.close()


def draft(seed: str) -> Any:
    """A fact that says what no other seed says, with a file as evidence."""
    from gitmem.model.nouns import Draft

    chance = random.Random(seed)
    words = ["".join(chance.choices("bcdfghklmnprstvz", k=2)) + chance.choice("aeiou") + "x" for _ in range(40)]
    return Draft(
        kind="fact",
        title=f"{seed}: {' '.join(words[:6])}",
        body=f"{' '.join(words[6:])}.",
        evidence=("file:README.md:3",),
    )


def fork(work: Callable[[int], None], *, own_group: bool = False) -> tuple[int, int]:
    """Run `work` in a child that is this process as it is now; gives its pid and where its output can be read."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    code = 1
    try:
        os.close(reading)
        if own_group:
            os.setpgid(0, 0)
        work(writing)
        code = 0
    except BaseException as error:
        os.write(2, f"writer {os.getpid()}: {type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(code)


def records(where: Path, ref: str) -> dict[str, bytes]:
    """Every file of a ref by its path, by git alone."""
    rows = [line.split("\t") for line in git(where, "ls-tree", "-r", ref, check=False).splitlines()]
    asked = "".join(f"{row[0].split()[2]}\n" for row in rows).encode()
    done = subprocess.run(
        ["git", "-C", str(where), "cat-file", "--batch"], input=asked, capture_output=True, check=True
    )
    found, at = {}, 0
    for _, path in rows:
        end = done.stdout.index(b"\n", at)
        size = int(done.stdout[at:end].split()[2])
        found[path] = done.stdout[end + 1 : end + 1 + size]
        at = end + 2 + size
    return found


def titles(files: dict[str, bytes]) -> Counter[str]:
    """How often each seed is there."""
    counted: Counter[str] = Counter()
    for path, raw in files.items():
        if path.startswith("memories/"):
            line = next(line for line in raw.decode().splitlines() if line.startswith("title:"))
            counted[line.removeprefix("title:").strip().strip("'\"").split(":")[0]] += 1
    return counted


def chains(files: dict[str, bytes]) -> tuple[int, list[str]]:
    """(chains, what is wrong with them): each event names the one before it by path and digest, and none forks."""
    events = {path: json.loads(raw) for path, raw in files.items() if path.startswith("events/")}
    wrong: list[str] = []
    begun: Counter[str] = Counter()
    followed: dict[str, list[str]] = defaultdict(list)
    for path, event in events.items():
        before = event.get("prev")
        if before is None:
            begun[event["writer"]] += 1
            continue
        followed[before["path"]].append(path)
        earlier = events.get(before["path"])
        if earlier is None:
            wrong.append(f"{path}: {before['path']} is not there")
        elif hashlib.sha256(files[before["path"]]).hexdigest() != before["sha256"]:
            wrong.append(f"{path}: {before['path']} has another digest")
        elif earlier["writer"] != event["writer"]:
            wrong.append(f"{path}: {before['path']} is of another chain")
    wrong += [f"{path} is followed by {len(after)} events" for path, after in followed.items() if len(after) > 1]
    wrong += [f"chain {writer} begins {count} times" for writer, count in begun.items() if count > 1]
    return len(begun), wrong


def fsck_faults(where: Path) -> list[str]:
    """What `git fsck --strict` complains of; what merely dangles is no fault."""
    done = subprocess.run(
        ["git", "-C", str(where), "fsck", "--strict", "--no-dangling", "--no-progress"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = [line for line in (done.stdout + done.stderr).splitlines() if line and not line.startswith("notice:")]
    return said + ([f"git fsck: exit {done.returncode}"] if done.returncode and not said else [])


def verify_faults(where: Path) -> list[str]:
    """What `gitmem verify --all` complains of."""
    code, out, err = gitmem(where, "verify", "--all", "--json", check=False)
    if code == 0:
        return []
    return [f"exit {code}", *(out or err).splitlines()[:5]]


def loose_objects(where: Path) -> int:
    objects = where / ".git/objects"
    return sum(len(os.listdir(objects / name)) for name in os.listdir(objects) if len(name) == 2)


def report(figures: dict[str, Any], faults: list[str], as_json: bool) -> int:
    """Print what was found; the exit code."""
    if as_json:
        print(json.dumps({**figures, "faults": faults}))
    else:
        for name, value in figures.items():
            print(f"{name:<44} {value}")
        for fault in faults[:40]:
            print(f"FAULT {fault}")
        print("nothing was lost" if not faults else f"{len(faults)} faults")
    return 1 if faults else 0
