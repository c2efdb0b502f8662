"""`make demo`: gitmem on a small repository, as a newcomer would use it. Real commands, real output, no network.

It is a test too: it ends with an error when a step does otherwise than it says.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from shop import EMAIL, PERSON, build, commit
from terminal import as_agent, as_person

CLAIM = "Redis holds the carts for 30 days"


class Unexpected(Exception):
    """A step did otherwise than the demonstration says."""


class Demo:
    """The folder, the environment and the program of one run."""

    def __init__(self, folder: Path) -> None:
        self.shop = folder / "shop"
        self.shop.mkdir()
        home = folder / "home"
        home.mkdir()
        (home / ".gitconfig").write_text(f"[user]\n\tname = {PERSON}\n\temail = {EMAIL}\n", encoding="utf-8")
        self.program = _program()
        # A whole environment of its own: nothing of an agent, of continuous integration or of git leaks in.
        self.environ = {
            "PATH": os.pathsep.join([str(self.program.parent), os.environ.get("PATH", os.defpath)]),
            "HOME": str(home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "LC_ALL": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",  # an agent's two streams in the order in which they were written
            "TERM": os.environ.get("TERM", "dumb"),
        }
        if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
            self.environ["NO_COLOR"] = "1"

    def person(self, *words: str, code: int = 0, says: str | None = None) -> str:
        """A command that stands for one typed by a person."""
        return self._step("$", words, code, says)

    def agent(self, *words: str, code: int = 0, says: str | None = None) -> str:
        """A command that an agent runs: no terminal."""
        return self._step("agent $", words, code, says)

    def _step(self, prompt: str, words: tuple[str, ...], code: int, says: str | None) -> str:
        run = as_person if prompt == "$" else as_agent
        show(f"\n{prompt} {shlex.join(('gitmem', *words))}")
        ran = run([str(self.program), *words], self.shop, self.environ)
        show(ran.text.rstrip("\n"))
        plain = re.sub(r"\x1b\[[0-9;]*m", "", ran.text)
        if ran.code != code:
            raise Unexpected(f"exit code {ran.code} where {code} was expected")
        if says is not None and says not in plain:
            raise Unexpected(f"the output does not say {says!r}")
        return plain


def show(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def caption(text: str) -> None:
    show(f"\n── {text}")


def identifier(text: str) -> str:
    """The id that a line of output begins with."""
    found = re.search(r"^[0-9a-hjkmnp-tv-z]{8}(?=  )", text, re.MULTILINE)
    if found is None:
        raise Unexpected("the output names no memory")
    return found.group()


def _program() -> Path:
    """The installed gitmem: beside this Python, else on the path."""
    beside = Path(sys.executable).parent / "gitmem"
    found = beside if beside.is_file() else shutil.which("gitmem")
    if found is None:
        raise Unexpected("gitmem is not installed; run: make demo")
    return Path(found)


def story(demo: Demo) -> None:
    """The demonstration, step by step."""
    show("A shop service with four commits, a CLAUDE.md, a decision record, a changelog and a test report.")
    show('"$" stands for a person typing: a terminal of its own, which is all that gitmem can see. "agent $" has none.')

    caption("Begin. This makes the branch gitmem/main and touches nothing else.")
    demo.person("init", says="created gitmem/main")

    caption("The notes that are here already come in as candidates, each citing the lines it was read from.")
    demo.person("import", "--list")
    demo.person("import")
    waiting = demo.person("list", "--inbox", says="(candidate)")
    first = next(line for line in waiting.splitlines() if "pytest" in line)
    demo.person("accept", identifier(first), "--because", "it is how we work", says="accepted")

    caption("Remember, with evidence: a file, a commit, a stored test report, a person's own words.")
    size = identifier(demo.person(
        "remember", "-k", "fact", "The connection pool holds 20 connections",
        "-e", "file:src/shop/pool.py:2", "-t", "database",
    ))  # fmt: skip
    problem = identifier(demo.person(
        "remember", "-k", "problem", "A gateway timeout charged customers twice",
        "-b", "The first request had gone through; our retry was a second charge.",
        "-e", "commit:HEAD~1", "-t", "payment",
    ))  # fmt: skip
    demo.person(
        "remember", "-k", "solution", "Send the order id as idempotency key when charging",
        "--solves", problem, "-e", "test:reports/junit.xml#tests.test_checkout::test_timeout_charges_once",
        "-e", "file:src/shop/checkout.py:2-3", "-t", "payment",
    )  # fmt: skip
    demo.person(
        "remember", "-k", "decision", "Refunds are made by hand", "--ruled-out", "automatic refunds: fraud in 2025",
        "-e", 'human:"refunds stay manual until the fraud check is in"', "-t", "payment",
    )  # fmt: skip

    caption("An agent may propose. What it says waits for a person.")
    proposed = identifier(demo.agent(
        "remember", "-k", "fact", "The pool reconnects when a connection was idle for 300 seconds",
        "-e", "file:src/shop/pool.py:3-7", says="waits in the inbox",
    ))  # fmt: skip
    demo.agent("accept", proposed, code=3, says="channel.authority")
    demo.person("accept", proposed, says="accepted")

    caption("Bad writes are refused, each with its reasons. No evidence; evidence that is not there;")
    show("   what is known already; and a secret (made up: it is put together while this runs).")
    demo.agent("remember", "-k", "fact", "Customers love the new checkout", code=3, says="evidence.missing")
    demo.agent(
        "remember", "-k", "fact", "Sessions live in Redis", "-e", "file:src/shop/session.py:10-20",
        code=3, says="evidence.gone",
    )  # fmt: skip
    demo.agent(
        "remember", "-k", "fact", "The database connection pool holds 20 connections",
        "-e", "file:src/shop/pool.py:2", code=3, says="duplicate",
    )  # fmt: skip
    demo.agent(
        "remember", "-k", "fact", "Receipts are stored in a bucket", "-b", "Read it with the key " + made_up_key(),
        "-e", "commit:HEAD", code=3, says="secret",
    )  # fmt: skip

    caption("The pool grows. The new fact takes the place of the old one, both sides in one commit.")
    pool = (demo.shop / "src/shop/pool.py").read_text(encoding="utf-8").replace("size = 20", "size = 50")
    commit(demo.shop, demo.environ, "2026-03-02T11:00:00Z", "pool: 50 connections", {"src/shop/pool.py": pool})
    demo.person(
        "supersede", size, "The connection pool holds 50 connections", "-e", "file:src/shop/pool.py:2",
        "-t", "database", "--because", "raised before the spring sale", says="supersedes",
    )  # fmt: skip

    caption("A mistake is marked wrong, and cannot be learned again, whoever tries.")
    mistake = identifier(demo.person("remember", "-k", "fact", CLAIM, "-e", "commit:HEAD"))
    demo.person("wrong", mistake, "--because", "there is no Redis here; carts are in PostgreSQL", says="found wrong")
    demo.agent("remember", "-k", "fact", CLAIM, "-e", "commit:HEAD", code=3, says="tombstoned")

    caption("Recall gives what still holds: the size that was superseded is not in it.")
    found = demo.agent("recall", "pool connections", says="holds 50 connections")
    if "holds 20 connections" in found:
        raise Unexpected("a superseded memory was recalled")
    demo.agent("recall", "charged twice", says="idempotency key")

    caption("Every state stays on record: who, when, through which channel, and why.")
    demo.person("show", size, says="superseded")
    demo.person("log", size, says="because raised before the spring sale")

    caption("And all of it can be checked by anybody, commit by commit.")
    demo.person("verify", "--all", says="clean")
    demo.person("doctor")


def made_up_key() -> str:
    """What looks like an access key. It is put together here so that no file holds one."""
    return "AKIA" + "Z3MQ7RVX" + "K2WPT5NB"


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="gitmem-demo-") as folder:
        try:
            demo = Demo(Path(folder))
            build(demo.shop, demo.environ)
            story(demo)
        except Unexpected as error:
            sys.stderr.write(f"\nthe demonstration went otherwise than it says: {error}\n")
            return 1
    show("\nThe repository was temporary and is gone. In your own: gitmem init")
    return 0


if __name__ == "__main__":
    sys.exit(main())
