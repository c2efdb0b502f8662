"""Shell completion: a real bash completes; the other shells' scripts are read by them where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.cli.completion import SCRIPTS
from tests.app.steps import POOL, WEATHER, Run, proposed, put


@pytest.fixture
def begun(repo: Path, gitmem: Run) -> Path:
    assert gitmem(repo, "init").code == 0
    return repo


def bash(repo: Path, *words: str) -> list[str]:
    """What a bash with the script would offer for the last of `words`."""
    script = """
        eval "$(gitmem completion bash)"
        complete -p gitmem >/dev/null || exit 9
        COMP_WORDS=(gitmem "$@")
        COMP_CWORD=$#
        _gitmem_complete
        [ ${#COMPREPLY[@]} -eq 0 ] || printf '%s\\n' "${COMPREPLY[@]}"
    """
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", *words], cwd=repo, env=environ, capture_output=True, text=True,
        check=True, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.split("\n")[:-1]


def test_bash_completes_verbs_options_values_and_ids(begun: Path, gitmem: Run) -> None:
    active, waits = put(gitmem, begun, POOL), proposed(gitmem, begun, WEATHER)
    assert bash(begun, "re") == [
        "recall",
        "reindex",
        "reject",
        "related",
        "remember",
        "restore",
        "retract",
        "reverify",
        "review",
    ]
    assert "show" in bash(begun, "") and "hook-impl" not in bash(begun, "")
    assert bash(begun, "list", "--st") == ["--status"]
    assert bash(begun, "list", "--status", "arch") == ["archived"]
    assert bash(begun, "remember", "-k", "prob") == ["problem"]
    assert bash(begun, "show", active[:2]) == [active]
    assert sorted(bash(begun, "show", "")) == sorted([active, waits])
    assert bash(begun, "accept", "") == [waits]
    assert bash(begun, "completion", "z") == ["zsh"]


def test_options_before_the_verb_do_not_shift_what_is_completed(begun: Path, gitmem: Run, tmp_path: Path) -> None:
    active = put(gitmem, begun, POOL)
    assert bash(tmp_path, "-C", str(begun), "show", active[:3]) == [active]
    assert bash(tmp_path, "--json", "li") == ["lift", "list"]
    assert bash(tmp_path, "-C") == [] and bash(tmp_path, "show", "") == []


def test_before_init_and_for_nonsense_nothing_is_said(repo: Path) -> None:
    assert bash(repo, "show", "") == [] and bash(repo, "no-such-verb", "x") == []
    assert bash(repo, "remember", "--ev") == ["--evidence"]


@pytest.mark.parametrize("shell", SCRIPTS)
def test_each_script_is_read_by_its_shell(repo: Path, gitmem: Run, shell: str) -> None:
    text = gitmem(repo, "completion", shell).out
    assert text == SCRIPTS[shell] and "_GITMEM_COMPLETE" in text and "git-mem" in text
    program = shutil.which(shell)
    if program is None:  # then at least its brackets and quotes are even
        assert shell != "bash"
        for opening, closing in ("()", "{}", "[]"):
            assert text.count(opening) == text.count(closing)
        assert text.count('"') % 2 == text.count("'") % 2 == 0
        return
    subprocess.run([program, "-n", "-c" if shell == "fish" else "/dev/stdin"] + ([text] if shell == "fish" else []),
                   input=text, text=True, check=True)  # fmt: skip
