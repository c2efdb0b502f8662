"""The git hooks as a person installs them, with the installed command behind them and real git before them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.conftest import git
from tests.hooks.stand_in import folder_digest, script
from tests.installed import Ran, agent, person
from tests.verify.forge import MAIN, Branch

FACT = ("remember", "--kind", "fact")


def ok(ran: Ran) -> Ran:
    assert ran.code == 0, ran
    return ran


def attempt(where: Path, *arguments: str, **environ: str) -> tuple[int, str]:
    """Plain git, with whatever it says."""
    done = subprocess.run(
        ["git", "-C", str(where), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environ},
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def shop(repo: Path, tmp_path: Path) -> Path:
    """A repository with one memory and a bare remote that has the code only."""
    git(tmp_path, "init", "-q", "--bare", "-b", "main", str(tmp_path / "origin.git"))
    git(repo, "remote", "add", "origin", str(tmp_path / "origin.git"))
    git(repo, "push", "-q", "origin", "main")
    ok(person(repo, "init"))
    ok(person(repo, *FACT, "The pool retries the connect three times", "--evidence", "file:src/pool.py:4-5"))
    return repo


@pytest.fixture
def origin(shop: Path) -> Path:
    return shop.parent / "origin.git"


def spoilt(shop: Path, parent: str = MAIN) -> str:
    """A commit on the memory branch in which a memory was edited and no event says so. No ref names it yet."""
    branch = Branch(shop)
    (path,) = branch.paths("memories/", parent)
    text = branch.read(path, parent).replace(b"three times", b"four times")
    return branch.commit_tree(branch.tree_with({path: text}, parent), git(shop, "rev-parse", parent).strip())


def code_commit(shop: Path, name: str) -> None:
    (shop / "src/pool.py").write_text(f"# {name}\n")
    git(shop, "commit", "-q", "-a", "-m", name)


def test_pre_push_lets_good_memory_and_all_code_through_and_refuses_the_rest(shop: Path, origin: Path) -> None:
    ok(person(shop, "hooks", "install"))
    good = git(shop, "rev-parse", MAIN).strip()
    assert attempt(shop, "push", "origin", "gitmem/main")[0] == 0  # the first push of the branch
    code_commit(shop, "more")
    assert attempt(shop, "push", "origin", "main", "HEAD:refs/heads/topic")[0] == 0
    ok(person(shop, *FACT, "Invoices are numbered by the year", "--evidence", "commit:HEAD"))
    assert attempt(shop, "push", "origin", "gitmem/main")[0] == 0
    pushed = git(origin, "rev-parse", MAIN)
    for what, words in (
        ([f"{spoilt(shop, good)}:{MAIN}", "--force"], "may only move forward"),
        ([f"{good}:{MAIN}", "--force"], "may only move forward"),
        ([f":{MAIN}"], "may not be deleted"),
        ([f"{good}:refs/gitmem/inbox"], "private to one clone"),
        ([f"{MAIN}:refs/heads/GitMem/Main"], "one file on some disks"),
        ([f"{good}:refs/heads/gitmem/other"], "no branch of gitmem"),
        (["--mirror"], "private to one clone"),
    ):
        ok(agent(shop, *FACT, "A proposal waits", "--evidence", "commit:HEAD")) if what == ["--mirror"] else None
        status, said = attempt(shop, "push", "origin", *what)
        assert status != 0 and words in said, (what, said)
        assert git(origin, "rev-parse", MAIN) == pushed
    by_hand = Branch(shop)
    (first, _) = by_hand.paths("memories/")
    bad = by_hand.commit({first: by_hand.read(first).replace(b"title: ", b"title: Not ")})
    status, said = attempt(shop, "push", "origin", "gitmem/main")
    assert status != 0 and "event.missing" in said and first in said
    assert git(origin, "rev-parse", MAIN) == pushed
    assert attempt(shop, "push", "origin", "main:refs/heads/topic2")[0] == 0
    # What a hook cannot stop, the reader of another clone does not believe.
    assert attempt(shop, "push", "--no-verify", "origin", "gitmem/main")[0] == 0
    reader = shop.parent / "reader"
    git(shop.parent, "clone", "-q", str(origin), str(reader))
    git(reader, "fetch", "-q", "origin", "gitmem/main:gitmem/main")
    assert git(reader, "rev-parse", MAIN).strip() == bad
    ok(person(reader, "trust", "--yes"))
    listed = ok(agent(reader, "list"))
    assert len(listed.out.splitlines()) == 1 and "left out" in listed.err


def test_a_hand_made_commit_is_refused_where_the_branch_is_checked_out_and_code_is_not(shop: Path) -> None:
    ok(person(shop, "hooks", "install"))
    code_commit(shop, "before")
    where = shop.parent / "by-hand"
    git(shop, "worktree", "add", "-q", str(where), "gitmem/main")
    code_commit(shop, "beside it")
    (path,) = where.glob("memories/*/*/*.yaml")
    path.write_text(path.read_text().replace("three", "four"))
    status, said = attempt(where, "commit", "-a", "-m", "by hand")
    assert status != 0 and "event.missing" in said
    refused = person(shop, *FACT, "Invoices are numbered by the year", "--evidence", "commit:HEAD")
    assert refused.code == 3 and "checked out" in refused.err and f"git -C {where} switch" in refused.err
    git(where, "checkout", "-q", "--", ".")
    (where / "README.md").write_text("# Memory of the shop\n")
    assert attempt(where, "commit", "-a", "-m", "a word for people")[0] == 0
    assert ok(agent(shop, "verify", "--all")).out.startswith("clean")
    git(shop, "worktree", "remove", str(where))
    ok(person(shop, *FACT, "Invoices are numbered by the year", "--evidence", "commit:HEAD"))


def test_strict_hooks_refuse_every_bad_move_of_the_ref_and_nothing_else(shop: Path, origin: Path) -> None:
    ok(person(shop, "hooks", "install", "--strict"))
    good, bad = git(shop, "rev-parse", MAIN).strip(), spoilt(shop)
    for words in (
        ["update-ref", MAIN, bad],
        ["update-ref", MAIN, f"{good}~"],
        ["update-ref", "-d", MAIN],
        ["branch", "-f", "gitmem/main", bad],
        ["branch", "-D", "gitmem/main"],
        ["branch", "-m", "gitmem/main", "other"],
        ["push", ".", f"+{bad}:{MAIN}"],
        ["fetch", ".", f"+{bad}:{MAIN}"],
        ["symbolic-ref", MAIN, "refs/heads/main"] if _sees_symbolic() else ["update-ref", MAIN, "main"],
    ):
        status, said = attempt(shop, *words)
        assert status != 0 and ": refused: " in said, (words, said)
        assert git(shop, "rev-parse", MAIN).strip() == good
    where = shop.parent / "by-hand"
    git(shop, "worktree", "add", "-q", str(where), "gitmem/main")
    assert attempt(where, "reset", "--hard", bad)[0] != 0
    git(where, "reset", "-q", "--hard", good)
    git(shop, "worktree", "remove", "--force", str(where))
    ok(person(shop, *FACT, "Invoices are numbered by the year", "--evidence", "commit:HEAD"))
    ok(agent(shop, *FACT, "Backups are taken at four at night", "--evidence", "commit:HEAD"))
    code_commit(shop, "code")
    for words in (
        ["gc", "-q", "--prune=now"],
        ["pack-refs", "--all", "--prune"],
        ["fetch", "-q", "origin"],
        ["branch", "topic"],
        ["branch", "-D", "topic"],
        ["push", "-q", "origin", "main", "gitmem/main"],
        ["reflog", "expire", "--expire=now", "--all"],
        ["update-ref", MAIN, MAIN],
        ["tag", "v1"],
    ):
        assert attempt(shop, *words)[0] == 0, words
    assert ok(agent(shop, "verify", "--all")).out.startswith("clean")
    assert len(ok(agent(shop, "list")).out.splitlines()) == 2


def _sees_symbolic() -> bool:
    """git 2.46 and later tell the hook of symbolic refs."""
    version = subprocess.run(["git", "version"], capture_output=True, text=True, check=True).stdout.split()[2]
    return tuple(int(part) for part in version.split(".")[:2]) >= (2, 46)


def test_a_server_refuses_bad_memory_inside_the_quarantine(shop: Path, origin: Path) -> None:
    ok(agent(origin, "hooks", "install", "--server"))
    assert attempt(shop, "push", "origin", "gitmem/main", "main:refs/heads/topic")[0] == 0
    pushed, bad = git(origin, "rev-parse", MAIN), spoilt(shop)
    status, said = attempt(shop, "push", "origin", f"{bad}:{MAIN}")
    assert status != 0 and "event.missing" in said
    assert git(origin, "rev-parse", MAIN) == pushed
    assert attempt(origin, "cat-file", "-e", bad)[0] != 0
    status, said = attempt(shop, "push", "origin", f"{bad}:{MAIN}", "HEAD:refs/heads/innocent")
    assert status != 0  # pre-receive judges a push as one
    assert attempt(shop, "push", "--force", "origin", f"{MAIN}~:{MAIN}")[0] != 0
    assert attempt(shop, "push", "origin", f":{MAIN}")[0] != 0
    assert attempt(shop, "push", "origin", f"{MAIN}:refs/gitmem/inbox")[0] != 0
    assert git(origin, "rev-parse", MAIN) == pushed
    ok(person(shop, *FACT, "Invoices are numbered by the year", "--evidence", "commit:HEAD"))
    assert attempt(shop, "push", "origin", "gitmem/main", "HEAD:refs/heads/topic3")[0] == 0
    assert git(origin, "rev-parse", MAIN) == git(shop, "rev-parse", MAIN)
    assert "installed" in ok(agent(origin, "hooks", "status")).out
    refused = agent(shop, "hooks", "install", "--server")
    assert refused.code == 2 and "bare" in refused.err


def test_hooks_run_without_any_environment_and_from_a_linked_worktree(shop: Path, origin: Path) -> None:
    ok(person(shop, "hooks", "install"))
    where = shop.parent / "linked"
    git(shop, "worktree", "add", "-q", str(where), "-b", "topic")
    bad = spoilt(shop)
    for place in (shop, where):
        done = subprocess.run(
            ["env", "-i", f"PATH={os.defpath}", "git", "-C", str(place), "push", "origin", f"{bad}:{MAIN}"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode != 0 and "event.missing" in done.stderr, done
    assert attempt(where, "push", "origin", "gitmem/main", "topic")[0] == 0
    (where / "src/pool.py").write_text("# linked\n")
    git(where, "commit", "-q", "-a", "-m", "linked")
    assert "installed" in ok(agent(where, "hooks", "status")).out


def test_a_hook_of_one_repository_does_not_lead_gitmem_astray_in_another(shop: Path, tmp_path: Path) -> None:
    """Case B035: git's variables of A are set, and the person works in B."""
    b = tmp_path / "b"
    git(tmp_path, "init", "-q", "-b", "main", str(b))
    git(b, "commit", "-q", "--allow-empty", "-m", "b")
    before = folder_digest(shop)
    leaked = {
        "GIT_DIR": str(shop / ".git"),
        "GIT_WORK_TREE": str(shop),
        "GIT_INDEX_FILE": str(shop / ".git/index"),
        "GIT_PREFIX": "",
    }
    environ = {**os.environ, **leaked}
    ok(person(b, "init", environ=environ))
    ok(person(b, *FACT, "Something of b", "--evidence", "commit:HEAD", environ=environ))
    assert folder_digest(shop) == before
    assert git(b, "rev-parse", MAIN)
    # In a hook of A, started by git in A, it is A that is meant.
    script(shop / ".git/hooks/post-commit", '#!/bin/sh\ngitmem --json list >"$(git rev-parse --git-dir)/listed"\n')
    path = f"{Path(os.environ['PATH'].split(os.pathsep)[0])}"
    from tests.installed import PROGRAM

    status, said = attempt(shop, "commit", "--allow-empty", "-m", "x", PATH=f"{PROGRAM.parent}:{path}:{os.defpath}")
    assert status == 0, said
    assert "three times" in (shop / ".git/listed").read_text()


def test_husky_keeps_its_generated_folder_and_its_hooks(shop: Path, origin: Path) -> None:
    """Case B064: core.hooksPath is husky's; the line to add is given, and proves itself once it is added."""
    script(shop / ".husky/_/h", '#!/bin/sh\ns=".husky/$(basename "$0")"\n[ ! -f "$s" ] || sh -e "$s" "$@"\n')
    for name in ("pre-commit", "pre-push"):
        script(shop / ".husky/_" / name, '#!/bin/sh\n. "${0%/*}/h"\n')
    script(shop / ".husky/pre-commit", "echo linted >>linted\n")
    git(shop, "config", "core.hooksPath", ".husky/_")
    generated = folder_digest(shop / ".husky/_")
    said = ok(person(shop, "hooks", "install")).out
    assert folder_digest(shop / ".husky/_") == generated
    assert "bypassed" in ok(agent(shop, "hooks", "status")).out
    bad = spoilt(shop)
    assert attempt(shop, "push", "--dry-run", "origin", f"{bad}:{MAIN}")[0] == 0
    lines = [
        line.strip() for line in said.splitlines() if line.strip().startswith("gitmem_hook=") and "pre-push" in line
    ]
    assert len(lines) == 1
    script(shop / ".husky/pre-push", lines[0] + "\n")
    status, said = attempt(shop, "push", "origin", f"{bad}:{MAIN}")
    assert status != 0 and "event.missing" in said
    assert "installed" in ok(agent(shop, "hooks", "status")).out
    code_commit(shop, "linted")
    assert (shop / "linted").read_text() == "linted\n"


def test_earlier_hooks_run_once_and_come_back_byte_for_byte(shop: Path, origin: Path) -> None:
    """Case B066: two installs change nothing more, both hooks run once, uninstall restores."""
    hooks = shop / ".git/hooks"
    script(hooks / "pre-commit", "#!/bin/sh\necho pre-commit >>ran\n")
    script(hooks / "pre-push", "#!/bin/sh\ncat >pushed\necho pre-push >>ran\n", 0o700)
    script(hooks / "pre-push.old", "#!/bin/sh\nexit 1\n")
    before = folder_digest(hooks)
    ok(person(shop, "hooks", "install", "--strict"))
    once = folder_digest(hooks)
    assert once != before
    assert "nothing to change" in ok(person(shop, "hooks", "install", "--strict")).out
    assert folder_digest(hooks) == once
    code_commit(shop, "code")
    assert attempt(shop, "push", "origin", "main")[0] == 0
    assert (shop / "ran").read_text() == "pre-commit\npre-push\n"
    assert "refs/heads/main" in (shop / "pushed").read_text()
    assert attempt(shop, "push", "origin", f"{spoilt(shop)}:{MAIN}")[0] != 0
    ok(person(shop, "hooks", "uninstall"))
    assert folder_digest(hooks) == before
    assert "absent" in agent(shop, "hooks", "status").out or "foreign" in agent(shop, "hooks", "status").out


def test_where_git_runs_no_hook_nothing_is_said_to_be_installed(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder\n")
    before = git(shop, "status", "--porcelain", "--ignored")
    for value in ("", ".", "/dev/null", str(tmp_path / "file")):
        git(shop, "config", "core.hooksPath", value)
        done = person(shop, "hooks", "install")
        assert done.code == 2 and "nothing was installed" in done.err and done.out == "", (value, done)
        assert " installed" not in person(shop, "hooks", "status").out
        git(shop, "config", "--unset", "core.hooksPath")
        assert git(shop, "status", "--porcelain", "--ignored") == before, value
    ok(person(shop, "hooks", "install"))
