from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from gitmem.app import githooks_shim as shims
from gitmem.app.githooks import hook_note, install
from tests.conftest import git
from tests.hooks.stand_in import StandIn, place_of, run, stand_in

MAIN = "refs/heads/gitmem/main"


@pytest.fixture(autouse=True)
def no_gitmem_on_path(seal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = os.environ["PATH"].split(os.pathsep)
    monkeypatch.setenv("PATH", os.pathsep.join(name for name in folders if not (Path(name) / "gitmem").exists()))


@pytest.fixture
def program(tmp_path: Path) -> StandIn:
    return stand_in(tmp_path / "bin")


@pytest.fixture
def bare(repo: Path, tmp_path: Path) -> Path:
    """A plain remote named origin, and a memory branch here with two commits."""
    where = tmp_path / "bare.git"
    git(tmp_path, "init", "-q", "--bare", str(where))
    git(repo, "remote", "add", "origin", str(where))
    tree = git(repo, "hash-object", "-t", "tree", "-w", "/dev/null").strip()
    first = git(repo, "commit-tree", tree, "-m", "one").strip()
    second = git(repo, "commit-tree", tree, "-p", first, "-m", "two").strip()
    git(repo, "update-ref", MAIN, second)
    return where


def test_code_never_starts_the_program(repo: Path, bare: Path, program: StandIn) -> None:
    program.exits(3)
    install(place_of(repo), program.program, strict=True)
    git(repo, "commit", "-q", "--allow-empty", "-m", "code")
    git(repo, "push", "-q", "origin", "main", "HEAD:refs/heads/gitmem-ui", "HEAD:refs/tags/v1")
    git(repo, "push", "-q", "--force", "origin", "HEAD~:main")
    git(repo, "push", "-q", "origin", ":gitmem-ui")
    git(repo, "branch", "topic")
    git(repo, "checkout", "-q", "--detach")
    git(repo, "commit", "-q", "--allow-empty", "-m", "detached")
    git(repo, "fetch", "-q")
    assert program.calls == ""
    assert run("git", "push", "origin", "gitmem/main", where=repo).returncode != 0
    assert program.calls != ""


def test_a_refused_push_leaves_the_remote_as_it_was(repo: Path, bare: Path, program: StandIn) -> None:
    install(place_of(repo), program.program)
    tip, first = git(repo, "rev-parse", MAIN).strip(), git(repo, "rev-parse", f"{MAIN}~").strip()
    git(repo, "push", "-q", "origin", "gitmem/main")
    assert f"{MAIN} {tip} {MAIN} {'0' * 40}\n" in program.calls
    program.exits(3)
    for refspec, line in (
        (f"+{first}:{MAIN}", f"{first} {first} {MAIN} {tip}\n"),
        (f":{MAIN}", f"(delete) {'0' * 40} {MAIN} {tip}\n"),
        (f"{MAIN}:refs/heads/gitmem/propose/x", f"{MAIN} {tip} refs/heads/gitmem/propose/x {'0' * 40}\n"),
        (f"{MAIN}:refs/gitmem/inbox", f"{MAIN} {tip} refs/gitmem/inbox {'0' * 40}\n"),
    ):
        done = run("git", "push", "origin", refspec, where=repo)
        assert done.returncode != 0 and "stand-in speaks" in done.stderr
        assert line in program.calls
    assert git(bare, "for-each-ref", "--format=%(refname) %(objectname)") == f"{MAIN} {tip}\n"
    program.exits(0)
    git(repo, "push", "-q", "origin", f":{MAIN}", check=False)
    assert git(bare, "for-each-ref") == ""


@pytest.mark.parametrize("status", [1, 2, 70, 75])
def test_a_check_that_cannot_be_made_lets_a_person_go_on_with_a_note(
    repo: Path, bare: Path, program: StandIn, status: int
) -> None:
    install(place_of(repo), program.program)
    program.exits(status)
    git(repo, "push", "-q", "origin", "gitmem/main")
    note = hook_note(repo / ".git")
    assert note is not None and f"status {status}" in note and "\n" not in note
    assert git(bare, "rev-parse", MAIN) == git(repo, "rev-parse", MAIN)


def test_a_missing_program_leaves_one_note_and_no_noise(repo: Path, bare: Path, program: StandIn) -> None:
    """B114: the program is gone and none is on PATH."""
    install(place_of(repo), program.program, strict=True)
    shutil.rmtree(program.folder)
    git(repo, "symbolic-ref", "HEAD", MAIN)
    for number in range(3):
        done = run("git", "commit", "-q", "--allow-empty", "-m", str(number), where=repo)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    note = hook_note(repo / ".git")
    assert note is not None and "not found" in note and "\n" not in note
    assert [path.name for path in (repo / ".git/gitmem").iterdir() if "note" in path.name] == ["hook-note"]


@pytest.mark.parametrize("broken", ["gone", "interpreter"])
def test_a_program_elsewhere_on_path_is_found(
    repo: Path, bare: Path, program: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    install(place_of(repo), program.program)
    other = stand_in(tmp_path / "new bin", 3)
    if broken == "gone":
        program.program.unlink()
    else:
        program.program.write_text("#!/gone/venv-3.11/bin/python3.11\nprint(1)\n")
    monkeypatch.setenv("PATH", f"{other.folder}:{os.environ['PATH']}")
    done = run("git", "push", "origin", "gitmem/main", where=repo)
    assert done.returncode != 0
    assert other.calls.startswith("call [hook-impl] [pre-push]") and program.calls == ""
    assert "interpreter" not in done.stderr and "not found" not in done.stderr


@pytest.mark.parametrize("shell", [shutil.which(name) for name in ("sh", "dash", "bash") if shutil.which(name)])
def test_bare_environments(repo: Path, program: StandIn, shell: str) -> None:
    """B068: as a desktop client calls hooks: no PATH, no HOME, standard input closed, another folder."""
    install(place_of(repo), program.program, strict=True)
    git(repo, "update-ref", MAIN, "HEAD")
    called = program.calls
    for name in (*shims.CLIENT_HOOKS, *shims.STRICT_HOOKS):
        hook = repo / ".git/hooks" / name
        argument = "prepared" if name == "reference-transaction" else "origin"
        for command in (
            'PATH=/usr/bin:/bin; export PATH; cd "$1" && exec "$2" "$3" </dev/null',
            'cd "$1" && exec "$2" "$3" <&-',
            'cd / && exec "$2" "$3" <&-',
        ):
            done = run("env", "-i", shell, "-c", command, "sh", repo, hook, argument, where=repo)
            assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), (name, command)
    assert program.calls == called
    line = f"{MAIN} {'a' * 40} {MAIN} {'0' * 40}\n"
    hook = repo / ".git/hooks/pre-push"
    done = run("env", "-i", shell, "-c", '"$1" origin url', "sh", hook, where=repo, input=line)
    assert done.returncode == 0 and line in program.calls


def test_strict_hook_sees_every_way_to_move_the_branch(repo: Path, bare: Path, program: StandIn) -> None:
    install(place_of(repo), program.program, strict=True)
    tip = git(repo, "rev-parse", MAIN).strip()
    program.exits(3)
    for command in (
        ("update-ref", MAIN, "HEAD"),
        ("branch", "-f", "gitmem/main", "HEAD"),
        ("branch", "-D", "gitmem/main"),
        ("branch", "-m", "gitmem/main", "elsewhere"),
        ("update-ref", "-d", MAIN),
        ("fetch", "-q", ".", f"+HEAD:{MAIN}"),
    ):
        assert run("git", *command, where=repo).returncode != 0, command
        assert git(repo, "rev-parse", MAIN).strip() == tip
    assert "call [hook-impl] [reference-transaction] [prepared]" in program.calls
    assert "[committed]" not in program.calls and "[aborted]" not in program.calls
    program.exits(0)
    git(repo, "update-ref", MAIN, "HEAD")
    assert git(repo, "rev-parse", MAIN) == git(repo, "rev-parse", "HEAD")


def test_strict_hook_hands_every_state_to_the_earlier_hook(repo: Path, program: StandIn, tmp_path: Path) -> None:
    hook = repo / ".git/hooks/reference-transaction"
    hook.write_text(f'#!/bin/sh\necho "$1" >>"{tmp_path}/log"\ncat >>"{tmp_path}/log"\n')
    hook.chmod(0o755)
    git(repo, "branch", "one")
    alone = (tmp_path / "log").read_text()
    (tmp_path / "log").unlink()
    install(place_of(repo), program.program, strict=True)
    git(repo, "branch", "two")
    assert (tmp_path / "log").read_text() == alone.replace("heads/one", "heads/two")


class TestServer:
    """A bare repository that takes pushes: the hooks run inside git's quarantine and refuse when in doubt."""

    @pytest.mark.parametrize("name", ["pre-receive", "update"])
    def test_each_hook_refuses_alone(self, repo: Path, bare: Path, program: StandIn, name: str) -> None:
        install(place_of(bare), program.program, which=(name,))
        tip = git(repo, "rev-parse", MAIN).strip()
        (program.folder / "look-for").write_text(f"{tip}\n")
        git(repo, "push", "-q", "origin", "main")
        assert program.calls == ""
        program.exits(3)
        done = run("git", "push", "origin", "gitmem/main", where=repo)
        assert done.returncode != 0 and "stand-in speaks" in done.stderr
        assert git(bare, "for-each-ref", "--format=%(refname)") == "refs/heads/main\n"
        program.exits(0)
        git(repo, "push", "-q", "origin", "gitmem/main")
        assert git(bare, "rev-parse", MAIN).strip() == tip
        if name == "pre-receive":
            assert f"call [hook-impl] [pre-receive]\n{'0' * 40} {tip} {MAIN}\n" in program.calls
            assert "quarantine yes yes yes\nsees commit\n" in program.calls
        else:
            assert f"call [hook-impl] [update] [{MAIN}] [{'0' * 40}] [{tip}]\n" in program.calls

    @pytest.mark.parametrize("trouble", ["gone", "fails"])
    def test_what_cannot_be_checked_is_refused(self, repo: Path, bare: Path, program: StandIn, trouble: str) -> None:
        install(place_of(bare), program.program, server=True)
        if trouble == "gone":
            program.program.unlink()
        else:
            program.exits(70)
        git(repo, "push", "-q", "origin", "main")
        done = run("git", "push", "origin", "gitmem/main", where=repo)
        assert done.returncode != 0
        assert len(re.findall(r"remote: gitmem: refused: .*cannot be checked", done.stderr)) == 1
        assert git(bare, "for-each-ref", "--format=%(refname)") == "refs/heads/main\n"

    def test_input_that_cannot_be_read_is_refused(self, bare: Path, program: StandIn) -> None:
        install(place_of(bare), program.program, server=True)
        hook = bare / "hooks/pre-receive"
        line = f"{'0' * 40} {'a' * 40} refs/heads/code\n"
        assert run(hook, where=bare, input=line).returncode == 0
        for source in ("</dev/null", "<&-"):
            done = run("sh", "-c", f'"$1" {source}', "sh", hook, where=bare)
            assert done.returncode == 1 and "no input came" in done.stderr


def test_code_stays_in_the_shell_and_input_arrives_whole(repo: Path, program: StandIn) -> None:
    install(place_of(repo), program.program)
    hook = repo / ".git/hooks/pre-push"
    wanted = f"{MAIN} {'a' * 40} {MAIN} {'0' * 40}\n"
    for count in (20_000, 9, 8, 7, 0):
        lines = "".join(f"refs/heads/b{n} {'a' * 40} refs/heads/b{n} {'0' * 40}\n" for n in range(count))
        assert run(hook, "o", "u", where=repo, input=lines).returncode == 0
        assert program.calls == ""
        assert run(hook, "o", "u", where=repo, input=lines + wanted).returncode == 0
        assert program.calls == f"call [hook-impl] [pre-push] [o] [u]\n{lines}{wanted}quarantine   \n"
        (program.folder / "calls").unlink()


def test_shellcheck_finds_nothing_in_a_shim(repo: Path, program: StandIn) -> None:
    shellcheck = shutil.which("shellcheck")
    text = shims.Shim("pre-push", "it's", '/a b/$HOME/"q"/new\nline/gitmem').text()
    for shell in ("sh", "dash", "bash"):
        if shutil.which(shell):
            assert run(shell, "-n", where=repo, input=text.decode()).returncode == 0
    if shellcheck:
        done = run(shellcheck, "-s", "sh", "-", where=repo, input=text.decode())
        assert done.stdout == ""
