"""`gitmem sync`: every state that a clone and its remotes can be in has a name, a way on, and loses nothing."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.app.sync import push
from gitmem.app.workspace import open_workspace
from gitmem.errors import RemoteError, UsageError
from gitmem.store.lock import sole
from gitmem.store.port import RefMove
from gitmem.store.repository import locate
from tests.app.conftest import Ran
from tests.conftest import git
from tests.sync.conftest import MAIN, Clone, Team
from tests.verify.forge import Branch

TITLES = (
    "Invoices are numbered by the year",
    "Deploys go out on Tuesday mornings",
    "The cache is warmed before the first request",
    "Timeouts are counted in seconds everywhere",
)


def everything(where: Path) -> tuple[str, str]:
    """All refs and all objects of a repository."""
    refs = git(where, "for-each-ref", "--format=%(refname) %(objectname)")
    objects = git(where, "cat-file", "--batch-all-objects", "--batch-check=%(objectname) %(objecttype)")
    return refs, "\n".join(sorted(objects.splitlines()))


def test_two_clones_write_and_meet(team: Team) -> None:
    ben = team.clone("ben")
    assert ben.ids() == team.ana.ids() and ben.sync()["state"] == "same"
    one, two = team.ana.remember(TITLES[0]), ben.remember(TITLES[1])
    assert team.ana.sync()["state"] == "pushed"
    met = ben.sync()
    assert (met["joined"], met["pulled"]) == ("merged", 1) and met["pushed"] >= 1
    assert team.ana.sync()["state"] == "pulled"
    assert team.ana.ids() == ben.ids() >= {one, two}
    assert team.ana.tip() == ben.tip() == team.tip()
    assert ben.ok("verify", "--all").out.startswith("clean")
    for clone in (team.ana, ben):
        assert clone.tip("refs/gitmem/remotes/origin/main") == team.tip()
        assert not list((clone.repo / ".git/gitmem/quarantine").iterdir())


def test_pull_and_push_alone_and_a_dry_run(team: Team) -> None:
    ben = team.clone("ben")
    team.ana.remember(TITLES[0])
    before = everything(team.hub), everything(team.ana.repo)
    foreseen = team.ana.sync("--dry-run")
    assert (foreseen["pushed"], foreseen["dry_run"]) == (1, True)
    assert team.ana.sync("--pull")["state"] == "same"
    assert (everything(team.hub), everything(team.ana.repo)) == before
    assert team.ana.sync("--push")["pushed"] == 1
    mine = everything(ben.repo)
    foreseen = ben.sync("--dry-run")
    assert (foreseen["joined"], foreseen["pulled"]) == ("fast-forward", 1)
    assert everything(ben.repo) == mine
    ben.remember(TITLES[1])
    ben.fails("--push", code=5, state="behind")
    assert ben.sync("--pull")["joined"] == "merged" and ben.tip() != team.tip()
    assert ben.sync("--push")["pushed"] == 2 and ben.tip() == team.tip()
    assert ben.run("sync", "--pull", "--push").code == 2


def test_an_empty_remote_is_never_pushed_to_first(team: Team) -> None:
    new = team.top / "new.git"
    git(team.top, "init", "-q", "--bare", str(new))
    git(team.ana.repo, "remote", "add", "new", f"file://{new}")
    done = team.ana.fails("new", code=8, state="empty")
    assert "git push -u new HEAD" in done.err and everything(new) == ("", "")
    with pytest.raises(RemoteError):
        _push(team.ana, "new")
    git(team.ana.repo, "push", "-q", "new", "main")
    assert team.ana.sync("new")["state"] == "pushed"


def test_a_rollback_is_named_by_this_clone_and_by_a_new_one(team: Team) -> None:
    first = team.tip()
    team.ana.remember(TITLES[0])
    team.ana.sync()
    git(team.hub, "update-ref", MAIN, first)
    before = everything(team.ana.repo)
    team.ana.fails(code=3, state="rolled back")
    fresh = team.clone("fresh", trusted=False)
    done = fresh.fails(code=3, state="rewritten")  # the commit that it had is nowhere to be seen
    assert "does not contain" in done.err and not fresh.tip()
    git(team.hub, "update-ref", "-d", MAIN)
    team.ana.fails(code=3, state="gone")
    assert everything(team.ana.repo) == before and not team.tip()
    assert team.ana.run("sync", "--accept-rewrite", channel="agent").code == 3
    assert team.ana.sync("--accept-rewrite")["state"] == "pushed" and team.tip() == team.ana.tip()
    assert fresh.sync()["state"] == "adopted"  # what it had is back


def test_a_rewritten_history_is_named(team: Team) -> None:
    team.ana.remember(TITLES[0])
    ben = team.clone("ben")
    start = team.tip()
    team.ana.sync()
    team.ana.sync()
    git(team.hub, "update-ref", MAIN, start)
    ben.remember(TITLES[1])
    git(ben.repo, "push", "-q", "origin", f"{MAIN}:{MAIN}")
    done = team.ana.fails(code=3, state="rewritten")
    assert "--accept-rewrite" in done.err
    assert team.ana.sync("--accept-rewrite")["joined"] == "merged"
    assert len(team.ana.ids()) == 3


def test_another_root_is_refused_whole(team: Team) -> None:
    git(team.hub, "update-ref", "refs/heads/gitmem/main", "refs/heads/main")
    ben = team.clone("ben", trusted=False)
    before = everything(ben.repo)
    state = Path(os.environ["XDG_STATE_HOME"]) / "gitmem/remotes"
    for left in state.iterdir():
        left.unlink()
    assert "history.root" in ben.fails(code=3, state="unrelated").err
    assert everything(ben.repo) == before
    team.ana.fails(code=3, state="rewritten")


@pytest.mark.parametrize(
    ("said", "state"),
    [
        ("remote: error: GH006: Protected branch update failed for refs/heads/gitmem/main.", "protected"),
        ("error: GH013: Repository rule violations found", "protected"),
        ("GitLab: You are not allowed to push code to protected branches on this project.", "protected"),
        ("the disk quota of this project is used up", "refused"),
    ],
)
def test_a_protected_branch_and_any_other_refusal(said: str, state: str, team: Team) -> None:
    hook = team.hub / "hooks/pre-receive"
    hook.write_text(f'#!/bin/sh\necho "{said}" >&2\nexit 1\n')
    hook.chmod(0o755)
    mine = team.ana.remember(TITLES[0])
    before = team.tip()
    done = team.ana.fails(code=8, state=state)
    assert said.removeprefix("remote: ")[:40] in done.err and "gitmem propose --push" in done.err
    assert team.tip() == before and mine in team.ana.ids()
    assert _push(team.ana, "origin").state == state
    hook.unlink()
    assert team.ana.sync()["state"] == "pushed"


def _push(clone: Clone, remote: str) -> object:
    workspace = open_workspace(clone_env(clone))
    try:
        return push(workspace, remote, [RefMove(MAIN, clone.tip(), None, "test")])
    finally:
        workspace.close()


def clone_env(clone: Clone) -> object:
    from gitmem.app.env import observe

    return observe(str(clone.repo))


def test_push_of_proposals_by_lease(team: Team) -> None:
    ref = "refs/heads/gitmem/propose/one"
    workspace = open_workspace(clone_env(team.ana))
    old, new = git(team.ana.repo, "rev-parse", f"{MAIN}~1").strip(), team.ana.tip()
    assert push(workspace, "origin", [RefMove(ref, new, None, "")]).state == "done"
    assert push(workspace, "origin", [RefMove(ref, old, None, "")]).state == "moved"
    assert push(workspace, "origin", [RefMove(ref, old, new, "")]).state == "done"
    assert git(team.hub, "rev-parse", ref).strip() == old
    for bad in ("refs/heads/main", "refs/gitmem/inbox", "refs/gitmem/private"):
        with pytest.raises(UsageError):
            push(workspace, "origin", [RefMove(bad, new, None, "")])
    with pytest.raises(UsageError):
        push(workspace, "origin", [RefMove(MAIN, None, new, "")])
    assert push(workspace, "origin", [RefMove(ref, None, old, "")]).state == "done"
    workspace.close()


def test_offline_loses_nothing(team: Team) -> None:
    mine = team.ana.remember(TITLES[0])
    before = everything(team.ana.repo)
    away = team.hub.rename(team.top / "away.git")
    team.ana.fails(code=8, state="missing")
    git(team.ana.repo, "remote", "set-url", "origin", "https://127.0.0.1:1/shop.git")
    team.ana.fails(code=8, state="offline")
    git(team.ana.repo, "remote", "set-url", "origin", f"file://{away}")
    assert everything(team.ana.repo) == before and mine in team.ana.ids()
    assert team.ana.sync()["state"] == "pushed"


def test_a_remote_whose_name_no_ref_can_hold(team: Team, repo: Path) -> None:
    before = everything(repo)
    for name in ("../x", "c d", "a\x07b", "x.lock", ".y"):
        git(repo, "config", f"remote.{name}.url", f"file://{team.hub}")
        done = team.ana.run("sync", name)
        assert done.code == 2 and "git config --local --edit" in done.err and "\x07" not in done.err, name
        git(repo, "config", "--remove-section", f"remote.{name}")
    assert everything(repo) == before
    git(repo, "remote", "add", "team/fork-2.x", f"file://{team.hub}")
    assert team.ana.run("sync", "team/fork-2.x").code == 0  # the control


def test_which_remote(team: Team, repo: Path, gitmem: Callable[..., Ran]) -> None:
    other = team.top / "fork.git"
    git(team.top, "clone", "-q", "--bare", f"file://{team.hub}", str(other))
    git(repo, "remote", "add", "fork", f"file://{other}")
    team.ana.remember(TITLES[0])
    lines = team.ana.ok("sync", "--json", "origin", "fork").lines
    assert [line["remote"] for line in lines] == ["origin", "fork"] and {line["pushed"] for line in lines} == {1}
    git(repo, "remote", "add", "gone", f"file://{team.top}/nowhere")
    team.ana.remember(TITLES[1])
    some = team.ana.run("sync", "--json", "gone", "origin")
    assert some.code == 8 and [line["state"] for line in some.lines] == ["missing", "pushed"]
    git(repo, "remote", "remove", "origin")
    asked = team.ana.run("sync")
    assert asked.code == 2 and "fork" in asked.err
    for words in (["absent"], [f"file://{team.hub}"], ["--upload-pack=x"], ["-x"]):
        assert team.ana.run("sync", *words).code == 2, words
    git(repo, "remote", "remove", "fork")
    git(repo, "remote", "remove", "gone")
    none = team.ana.run("sync")
    assert none.code == 2 and "git remote add" in none.err


def test_neither_side_has_memory(team: Team) -> None:
    git(team.hub, "update-ref", "-d", MAIN)
    state = Path(os.environ["XDG_STATE_HOME"]) / "gitmem/remotes"
    for left in state.iterdir():
        left.unlink()
    ben = team.clone("ben", trusted=False)
    assert "gitmem init" in ben.fails(code=4, state="nowhere").err
    assert team.ana.run("sync", "--pull").code == 3  # it had one: this clone knows


@pytest.mark.parametrize("how", ["--depth=1", "--single-branch", "--no-single-branch", "--filter=blob:none", "--bare"])
def test_clones_of_every_kind_heal(how: str, team: Team) -> None:
    git(team.hub, "config", "uploadpack.allowFilter", "true")
    options = [how, "--no-single-branch"] if how == "--depth=1" else [how]
    ben = team.clone("ben", *options, trusted=False)
    assert bool(git(ben.repo, "rev-parse", "--is-shallow-repository").strip() == "true") == (how == "--depth=1")
    if how == "--depth=1":  # the branch is there as a stump
        git(ben.repo, "update-ref", MAIN, "refs/remotes/origin/gitmem/main")
        git(ben.repo, "update-ref", "-d", MAIN)
    if how == "--bare":
        git(ben.repo, "update-ref", "-d", MAIN)
    assert ben.sync()["state"] == "adopted"
    ben.ok("trust", "--yes")
    assert ben.ids() == team.ana.ids() and ben.ok("verify", "--all").out.startswith("clean")
    team.ana.remember(TITLES[0])
    team.ana.sync()
    assert ben.sync()["state"] == "pulled" and ben.ids() == team.ana.ids()
    if how == "--depth=1":  # the code is as shallow as it was
        assert git(ben.repo, "rev-list", "--count", "HEAD").strip() == "1"
    assert git(ben.repo, "fsck", "--connectivity-only", "--no-dangling") == ""


def test_a_plain_clone_adopts_its_branch_without_a_network(team: Team) -> None:
    team.ana.remember(TITLES[0])
    team.ana.sync()
    away = team.top / "away.git"
    for name, words in {"ben": ("init",), "cai": ("init", "--offline")}.items():
        made = team.clone(name, trusted=False)
        team.hub.rename(away)
        told = made.run("sync", "--json").lines[-1]["error"]
        assert "gitmem init --offline" in told["hint"] and made.tip() == ""
        (line,) = made.ok(*words, "--json").lines
        assert (line["result"], line["asked"], line["trusted"]) == ("adopted", False, False)
        assert made.run("list").code == 3  # inert, as any branch that came from elsewhere
        made.ok("trust", "--yes")
        assert made.ids() == team.ana.ids()
        away.rename(team.hub)
        assert made.sync()["state"] == "same"
    # What git brought is judged as what a sync brings; and the stump of a shallow clone is none of it.
    bad = team.clone("dee", trusted=False)
    tip = bad.tip("refs/remotes/origin/gitmem/main")
    forged = git(bad.repo, "commit-tree", f"{tip}^{{tree}}", "-m", "another beginning").strip()
    git(bad.repo, "update-ref", "refs/remotes/origin/gitmem/main", forged)
    refused = bad.run("init", "--offline")
    assert refused.code == 3 and bad.tip() == ""
    stump = team.clone("eve", "--depth=1", "--no-single-branch", trusted=False)
    team.hub.rename(away)
    assert stump.run("init").code == 8 and stump.tip() == ""


def test_a_branch_that_is_a_stump_is_made_whole(team: Team) -> None:
    team.ana.remember(TITLES[0])
    team.ana.sync()
    ben = team.clone("ben", "--depth=1", "--no-single-branch", trusted=False)
    git(ben.repo, "update-ref", MAIN, "refs/remotes/origin/gitmem/main")
    stump = ben.run("list")
    assert stump.code == 3 and "not in this clone" in stump.err
    assert ben.sync()["state"] == "same"
    ben.ok("trust", "--yes")
    assert ben.ids() == team.ana.ids()


def test_worktrees_share_and_a_checked_out_branch_is_left_alone(team: Team) -> None:
    ben = team.clone("ben")
    team.ana.remember(TITLES[0])
    team.ana.sync()
    git(ben.repo, "worktree", "add", "-q", "-b", "side", str(team.top / "side"))
    side = Clone(team.top / "side", team.gitmem)
    assert side.sync()["state"] == "pulled" and side.ids() == ben.ids() == team.ana.ids()
    team.ana.remember(TITLES[1])
    team.ana.sync()
    git(ben.repo, "worktree", "add", "-q", str(team.top / "memory"), "gitmem/main")
    before = ben.tip()
    done = ben.run("sync")
    assert done.code == 3 and "checked out" in done.err and ben.tip() == before
    git(ben.repo, "worktree", "remove", str(team.top / "memory"))
    assert ben.sync()["state"] == "pulled"


def test_memory_that_was_begun_twice_is_joined_by_a_person_and_trusted_anew(team: Team) -> None:
    ben = team.clone("ben", trusted=False)
    git(ben.repo, "update-ref", "-d", "refs/remotes/origin/gitmem/main")  # else that would be adopted
    ben.ok("init", "--offline")
    mine = ben.remember(TITLES[0])
    before = everything(ben.repo)
    refused = ben.run("sync", channel="agent")
    assert refused.code == 3 and "begun twice" in refused.err and ben.tip() in before[0]
    done = ben.ok("sync")
    assert "merged" in done.out and "gitmem trust" in done.out
    assert ben.run("list").code == 3  # what the other beginning brought was never looked at
    ben.ok("trust", "--yes")
    assert ben.ids() == {mine} | team.ana.ids()
    assert team.ana.sync()["state"] == "pulled" and team.ana.ids() == ben.ids()
    assert ben.ok("verify", "--all").out.startswith("clean")


def test_a_bad_record_comes_in_and_is_not_believed_and_is_not_pushed_elsewhere(team: Team) -> None:
    ben = team.clone("ben")
    (known,) = ben.ids()
    branch = Branch(ben.repo)
    path = f"memories/{known[0]}/{known[1]}/{known}.yaml"
    branch.commit({path: branch.read(path).replace(b"twenty", b"thirty")})
    git(ben.repo, "push", "-q", "origin", f"{MAIN}:{MAIN}")
    cleo = team.clone("cleo", trusted=False)
    assert cleo.sync()["left_out"] == [path]
    cleo.ok("trust", "--yes")
    assert cleo.ids() == set()
    done = team.ana.sync()
    assert done["left_out"] == [path] and done["state"] == "pulled"
    assert team.ana.ids() == set() and "event.missing" in team.ana.run("doctor").out
    mine = team.ana.remember(TITLES[0])
    assert team.ana.sync()["pushed"] == 1 and team.ana.ids() == {mine}
    other = team.top / "fork.git"
    git(team.top, "init", "-q", "--bare", str(other))
    git(team.ana.repo, "push", "-q", str(other), "main:main")
    git(team.ana.repo, "remote", "add", "fork", f"file://{other}")
    team.ana.fails("fork", code=3, state="unsound")


def test_a_bad_record_is_never_merged_with_one_of_ours(team: Team) -> None:
    ben = team.clone("ben")
    (known,) = ben.ids()
    branch = Branch(ben.repo)
    path = f"memories/{known[0]}/{known[1]}/{known}.yaml"
    branch.commit({path: branch.read(path).replace(b"twenty", b"thirty")})
    git(ben.repo, "push", "-q", "origin", f"{MAIN}:{MAIN}")
    team.ana.ok("edit", known, "--tag", "pool", "--because", "to find it")
    before = team.ana.tip()
    done = team.ana.fails(code=3, state="torn")
    assert path in done.err and team.ana.tip() == before


def test_one_sync_at_a_time_and_what_a_killed_one_left_goes(team: Team) -> None:
    left = team.ana.repo / ".git/gitmem/quarantine/0123456789abcdef/objects/pack"
    left.mkdir(parents=True)
    (left / "tmp_pack_x").write_bytes(b"x")
    with sole(locate(team.ana.repo, environ=os.environ), "sync"):
        busy = team.ana.run("sync")
        assert busy.code == 5 and "another gitmem sync" in busy.err and left.exists()
    assert team.ana.sync()["state"] == "same" and not left.exists()


def test_credentials_are_never_shown(team: Team) -> None:
    secret = "hunter2hunter2"
    git(team.ana.repo, "remote", "set-url", "origin", f"https://ana:{secret}@127.0.0.1:1/shop.git")
    for words in (["sync"], ["sync", "--json"], ["trust"], ["trust", "--json"], ["sync", "--dry-run"]):
        done = team.ana.run(*words)
        assert secret not in done.out + done.err, words
    state = Path(os.environ["XDG_STATE_HOME"])
    assert not any(secret in path.read_text(errors="replace") for path in state.rglob("*") if path.is_file())


def test_no_setting_of_the_repository_starts_a_program(team: Team) -> None:
    mark = team.top / "PWNED"
    touch = f"touch {mark}; false"
    ben = team.clone("ben")
    keys = {
        "core.sshCommand": touch, "core.fsmonitor": touch, "core.gitProxy": touch, "core.askPass": touch,
        "core.alternateRefsCommand": touch, "credential.helper": f"!{touch}", "core.pager": touch, "core.editor": touch,
        "gpg.program": touch, "gpg.ssh.program": touch, "diff.external": touch, "remote.origin.uploadpack": touch,
        "remote.origin.receivepack": touch, "remote.origin.vcs": "ext", "uploadpack.packObjectsHook": touch,
        "core.hooksPath": str(team.top / "hooks"), "transfer.credentialsInUrl": "allow", "push.gpgSign": "true",
        "url.ext::sh -c touch% PWNED.insteadOf": "https://evil", "protocol.ext.allow": "always",
        "filter.x.clean": touch, "alias.fetch": f"!{touch}", "http.proxy": "",
    }  # fmt: skip
    for key, value in keys.items():
        git(ben.repo, "config", key, value)
    (team.top / "hooks").mkdir()
    for name in ("pre-push", "reference-transaction", "post-merge", "post-checkout"):
        (team.top / "hooks" / name).write_text(f"#!/bin/sh\n{touch}\n")
        (team.top / "hooks" / name).chmod(0o755)
    team.ana.remember(TITLES[0])
    team.ana.sync()
    ben.remember(TITLES[1])
    assert ben.sync()["joined"] == "merged"
    for url in ("ssh://127.0.0.1:1/x", "https://evil/x", "ext::touch " + str(mark), "ssh://-oProxyCommand=x/y"):
        git(ben.repo, "remote", "set-url", "origin", url)
        assert ben.run("sync").code == 8, url
    assert not mark.exists()
    subprocess.run(["sh", "-c", touch], check=False)
    assert mark.exists()  # the control
