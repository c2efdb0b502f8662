"""The seal: no test sees the user's home, git configuration, agent host or network."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SEALED_PREFIXES = ("GIT_", "XDG_", "CLAUDE", "CODEX", "CURSOR", "GEMINI", "OPENCODE", "COPILOT", "GITMEM_", "AI_AGENT")
SEALED_NAMES = ("CI", "GITHUB_ACTIONS", "EDITOR", "VISUAL", "PAGER", "NO_COLOR", "FORCE_COLOR", "TERM", "AGENT")
# What is compiled is kept beside the source, whatever the outside says: the installed command starts in half the time.
COMPILE_ANEW = ("PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX")
sys.dont_write_bytecode = False
FIXED_DATE = "2026-03-02T10:00:00Z"


def sealed_environment(home: Path) -> dict[str, str]:
    """A whole environment for a child process: this one's, less everything that could leak in."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(SEALED_PREFIXES) and name not in (*SEALED_NAMES, *COMPILE_ANEW)
    }
    return {
        **kept,
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local/share"),
        "XDG_STATE_HOME": str(home / ".local/state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": FIXED_DATE,
        "GIT_COMMITTER_DATE": FIXED_DATE,
        "GIT_TERMINAL_PROMPT": "0",
        "EDITOR": "false",
        "GITMEM_SEMANTIC": "off",  # where the extra is installed, the same is tested as where it is not
        "TERM": "dumb",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
    }


@pytest.fixture(autouse=True)
def seal(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give every test a home of its own, with a known git identity and nothing else."""
    home = tmp_path_factory.mktemp("home")
    (home / ".gitconfig").write_text(
        "[user]\n\tname = Test Person\n\temail = person@example.invalid\n"
        '[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n[advice]\n\tdetachedHead = false\n'
        "[maintenance]\n\tauto = false\n"  # two processes less for each commit, fetch and push, which had nothing to do
    )
    environment = sealed_environment(home)
    for name in set(os.environ) - set(environment):
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    import pygit2
    from pygit2.enums import ConfigLevel

    for level in (ConfigLevel.SYSTEM, ConfigLevel.XDG, ConfigLevel.GLOBAL):
        pygit2.settings.search_path[level] = str(home)
    yield home


def git(where: Path, *arguments: str, check: bool = True, **kwargs: object) -> str:
    """Run plain git in `where` and give its standard output."""
    done = subprocess.run(
        ["git", "-C", str(where), *arguments],
        capture_output=True,
        text=True,
        check=False,
        **kwargs,  # type: ignore[call-overload]
    )
    if check and done.returncode:
        raise AssertionError(f"git {' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return str(done.stdout)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A real repository on `main` with one commit: src/pool.py and README.md."""
    where = tmp_path / "shop"
    (where / "src").mkdir(parents=True)
    git(where, "init", "-q", "-b", "main")
    lines = [
        "class Pool:",
        "    size = 20",
        "",
        "    def acquire(self):",
        "        return retry(self.connect, tries=3)",
        "",
    ]
    (where / "src/pool.py").write_text("\n".join(lines))
    (where / "README.md").write_text("# shop\n")
    git(where, "add", ".")
    git(where, "commit", "-q", "-m", "pool: retry the connect")
    return where
