from __future__ import annotations

import hashlib
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.errors import GitmemError, NotFound, UsageError
from gitmem.evidence.resolvers import expand, resolve
from gitmem.model.nouns import CommitRef
from tests.conftest import git
from tests.evidence.world import World


def cite(short: str, world: World) -> CommitRef:
    ref = expand(short, world.sources())
    assert isinstance(ref, CommitRef)
    return ref


def forget(repo: Path) -> None:
    git(repo, "reflog", "expire", "--expire=now", "--all")
    git(repo, "gc", "-q", "--prune=now")


def plain_patch_id(repo: Path, commit: str) -> str:
    diff = git(repo, "diff-tree", "--root", "-p", commit)
    done = subprocess.run(["git", "patch-id", "--stable"], input=diff, capture_output=True, text=True, check=True)
    return done.stdout.split(" ")[0]


def test_the_record_can_be_proved_with_git_and_sha256sum(world: World) -> None:
    head = git(world.repo, "rev-parse", "HEAD").strip()
    ref = cite("commit:HEAD", world)
    raw = git(world.repo, "cat-file", "commit", head).encode()
    assert (ref.commit, ref.sha256) == (head, hashlib.sha256(raw).hexdigest())
    assert ref.quote == "reports: keep the run of monday"
    assert ref.patch == plain_patch_id(world.repo, head)


def test_root_has_a_patch_id_merge_and_empty_commit_have_none(world: World) -> None:
    root = git(world.repo, "rev-list", "--max-parents=0", "HEAD").strip()
    assert cite(f"commit:{root[:8]}", world).patch == plain_patch_id(world.repo, root) != ""
    git(world.repo, "commit", "-q", "--allow-empty", "-m", "nothing")
    assert cite("commit:HEAD", world).patch is None
    git(world.repo, "checkout", "-q", "-b", "side", "HEAD~1")
    world.commit("side", "x")
    git(world.repo, "merge", "-q", "--no-ff", "-m", "join", "main")
    assert cite("commit:HEAD", world).patch is None
    assert resolve(cite("commit:HEAD", world), world.sources()).state == "verified"


def test_the_patch_id_does_not_hang_on_configuration(world: World) -> None:
    world.commit("src/pool.py", "class Pool:\n    size = 21\n", "size")
    before = cite("commit:HEAD", world).patch
    for key, value in {
        "diff.noprefix": "true", "diff.context": "9", "diff.algorithm": "patience", "diff.indentHeuristic": "false",
        "diff.external": "false", "diff.renames": "copies", "color.ui": "always",
        "diff.x.command": f"touch '{world.repo}/ran'; :",
    }.items():  # fmt: skip
        git(world.repo, "config", key, value)
    (world.repo / ".git/info").mkdir(exist_ok=True)
    (world.repo / ".git/info/attributes").write_text("*.py diff=x\n")
    from gitmem.evidence.patch import _patch_ids

    _patch_ids.cache_clear()
    assert before == cite("commit:HEAD", world).patch is not None
    assert not (world.repo / "ran").exists()
    git(world.repo, "diff-tree", "-p", "--ext-diff", "HEAD")
    assert (world.repo / "ran").exists()  # the trap is a real one


@pytest.mark.parametrize(
    "revision", ["--output=x", "-n1", "HEAD:src", "HEAD..HEAD", "^HEAD", "a\0b", "x" * 5000, "\ud800"]
)
def test_what_is_no_revision_never_reaches_git(world: World, revision: str) -> None:
    assert cite("commit:HEAD~1", world).commit
    with pytest.raises(UsageError):
        expand(f"commit:{revision}", world.sources())
    assert not (world.repo / "x").exists() and not Path("x").exists()


@pytest.mark.parametrize("revision", ["nope", "0" * 40, "HEAD~99", "HEAD^{tree}"])
def test_a_revision_that_names_no_commit(world: World, revision: str) -> None:
    with pytest.raises(NotFound):
        expand(f"commit:{revision}", world.sources())


def rewritten(world: World) -> CommitRef:
    world.commit("f", "a\n", "fix pool")
    return cite("commit:HEAD", world)


def test_amended_message(world: World) -> None:
    ref = rewritten(world)
    git(world.repo, "commit", "-q", "--amend", "-m", "fix pool size")
    assert resolve(ref, world.sources()) == resolve(ref, world.sources())
    assert resolve(ref, world.sources()).detail == ""  # still here, in the reflog
    forget(world.repo)
    found = resolve(ref, world.sources())
    now = git(world.repo, "rev-parse", "HEAD").strip()
    assert (found.state, found.quoted) == ("verified", True)
    assert f"rewritten, now {now[:12]}" in found.detail and ref.commit[:12] in found.detail


def test_amended_to_another_message_can_not_show_the_words(world: World) -> None:
    ref = rewritten(world)
    git(world.repo, "commit", "-q", "--amend", "-m", "another story")
    forget(world.repo)
    found = resolve(ref, world.sources())
    assert found.state == "unobservable" and "rewritten, now" in found.detail and ref.commit[:12] in found.detail
    assert resolve(replace(ref, quote=None), world.sources()).state == "verified"


def test_rebased_then_cherry_picked_then_pruned(world: World) -> None:
    ref = rewritten(world)
    git(world.repo, "commit", "-q", "--amend", "-m", "fix pool size")
    git(world.repo, "checkout", "-q", "-b", "other", "HEAD~1")
    world.commit("g", "z\n", "z")
    git(world.repo, "cherry-pick", "main")
    git(world.repo, "checkout", "-q", "main")
    git(world.repo, "rebase", "-q", "other")
    forget(world.repo)
    with pytest.raises(GitmemError):
        world.sources().read(ref.commit)
    found = resolve(ref, world.sources())
    assert (found.state, found.quoted) == ("verified", True)
    git(world.repo, "checkout", "-q", "HEAD~1")  # a branch that is not checked out counts too
    assert resolve(ref, world.sources()).state == "verified"


def test_a_change_that_is_gone_altogether_is_shown_as_last_seen(world: World) -> None:
    ref = rewritten(world)
    git(world.repo, "reset", "-q", "--hard", "HEAD~1")
    forget(world.repo)
    found = resolve(ref, world.sources())
    assert found.state == "unobservable" and f"last seen as {ref.commit[:12]}" in found.detail
    # gitmem's own branches are no place where code comes back
    git(world.repo, "checkout", "-q", "-b", "gitmem/main")
    world.commit("f", "a\n", "again: fix pool")
    git(world.repo, "checkout", "-q", "main")
    assert resolve(ref, world.sources()).state == "unobservable"
    git(world.repo, "branch", "feature", "gitmem/main")
    assert resolve(ref, world.sources()).state == "verified"


def test_forged_ids(world: World) -> None:
    ref = cite("commit:HEAD", world)
    sources = world.sources()
    blob = git(world.repo, "rev-parse", "HEAD:README.md").strip()
    assert resolve(ref, sources).state == "verified"
    assert resolve(replace(ref, commit=blob), sources).state == "changed"
    assert resolve(replace(ref, commit=ref.commit[:8]), sources).state == "missing"
    other = cite("commit:HEAD~1", world)
    assert resolve(replace(ref, commit=other.commit), sources).state == "changed"
    # A made-up id with a real patch cannot bring words of its own.
    invented = replace(ref, commit="1" * 40, quote="we decided to drop redis")
    assert resolve(invented, sources).state == "unobservable"


def test_words_come_from_the_message_only(world: World) -> None:
    ref = cite("commit:HEAD", world)
    assert resolve(replace(ref, quote="Test Person"), world.sources()).quoted is False
    assert resolve(replace(ref, quote="run of monday"), world.sources()).quoted is True


def test_a_shallow_clone_does_not_know_old_commits(world: World, tmp_path: Path) -> None:
    ref = cite("commit:HEAD~1", world)
    git(tmp_path, "clone", "-q", "--depth=1", world.repo.as_uri(), str(tmp_path / "shallow"))
    assert resolve(ref, world.elsewhere(tmp_path / "shallow").sources()).state == "unobservable"


def test_a_message_in_another_encoding_has_no_quote(world: World) -> None:
    git(world.repo, "-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-F", "-", input="plain\n")
    assert cite("commit:HEAD", world).quote == "plain"
    message = world.repo.parent / "message"
    message.write_bytes(b"gr\xf6\xdfe\n")
    git(world.repo, "-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-F", str(message))
    ref = cite("commit:HEAD", world)
    assert ref.quote is None and resolve(ref, world.sources()).state == "verified"


def test_a_sha256_repository(world: World, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "--object-format=sha256", "long")
    long = world.elsewhere(tmp_path / "long")
    long.commit("g", "b\n", "start")
    ref = rewritten(long)
    assert len(ref.commit) == 64 and ref.patch
    assert resolve(ref, long.sources()).state == "verified"
    assert resolve(expand("file:f:1", long.sources()), long.sources()).quoted is None
    git(long.repo, "commit", "-q", "--amend", "-m", "fix pool size")
    forget(long.repo)
    assert "rewritten, now" in resolve(ref, long.sources()).detail
    assert resolve(replace(ref, commit="0" * 40), long.sources()).state == "missing"
