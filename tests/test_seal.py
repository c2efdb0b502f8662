from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import COMPILE_ANEW, SEALED_NAMES, SEALED_PREFIXES, sealed_environment


def test_no_variable_of_the_outside_gets_in(seal: Path, monkeypatch) -> None:
    for name in ("GIT_DIR", "CLAUDECODE", "CODEX_SANDBOX", "XDG_RUNTIME_DIR", "CURSOR_TRACE_ID", "CI"):
        monkeypatch.setenv(name, "/leak")
    inside = sealed_environment(seal)
    leaked = {name for name, value in inside.items() if value == "/leak"}
    assert leaked == set()
    assert inside["HOME"] == str(seal)
    assert inside["PATH"] == os.environ["PATH"]  # the seal lets through what it should


def test_git_sees_only_the_sealed_configuration(seal: Path) -> None:
    done = subprocess.run(["git", "config", "--list", "--show-origin"], capture_output=True, text=True, cwd=seal)
    origins = {line.split("\t")[0] for line in done.stdout.splitlines()}
    assert origins == {f"file:{seal}/.gitconfig"}


def test_the_seal_is_on_in_every_test() -> None:
    assert not [n for n in os.environ if n in SEALED_NAMES and n not in ("EDITOR", "TERM")]
    agents = [p for p in SEALED_PREFIXES if p not in ("GIT_", "XDG_")]
    assert [n for n in os.environ if n.startswith(tuple(agents))] == ["GITMEM_SEMANTIC"]
    assert os.environ["GITMEM_SEMANTIC"] == "off"


def test_a_child_finds_what_was_compiled_before_it(tmp_path: Path) -> None:
    """Else half of the time of the suite is spent on compiling the same modules again."""
    assert not set(COMPILE_ANEW) & set(os.environ)
    (tmp_path / "once.py").write_text("")
    asked = "import once, pathlib; print(pathlib.Path(once.__cached__).exists())"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, cwd=tmp_path)
    assert done.stdout == "True\n", done.stderr
