"""The first-parent history, read commit by commit: whatever is configured, the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.errors import CorruptRecord, GitmemError
from gitmem.store.first_parent import LATEST, FileChange, Made, made
from gitmem.store.repository import Location, locate
from tests.conftest import git


@pytest.fixture
def commit(repo: Path) -> Callable[..., str]:
    """`commit({"a": "text", "b": None}, *parents)` on top of nothing but its parents; the id."""

    def made_of(files: dict[str, str | None], *parents: str, at: int = 1_770_000_000) -> str:
        environ = {**os.environ, "GIT_INDEX_FILE": str(repo / ".git/by-hand"), "GIT_COMMITTER_DATE": f"{at} +0000"}
        git(repo, "read-tree", parents[0] if parents else "--empty", env=environ)
        for path, text in files.items():
            if text is None:
                git(repo, "update-index", "--force-remove", path, env=environ)
                continue
            blob = git(repo, "hash-object", "-w", "--stdin", input=text).strip()
            git(repo, "update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", env=environ)
        tree = git(repo, "write-tree", env=environ).strip()
        named = [word for parent in parents for word in ("-p", parent)]
        return git(repo, "commit-tree", tree, *named, "-m", "commit of colours", env=environ).strip()

    return made_of


def blob(repo: Path, text: str) -> str:
    return git(repo, "hash-object", "--stdin", input=text).strip()


def told(location: Location, tip: str, base: str | None = None) -> list[Made]:
    return list(made(location, tip, base))


def test_every_commit_is_told_with_what_it_changed(repo: Path, location: Location, commit: Callable[..., str]) -> None:
    root = commit({"memories/a": "1", "b": "1"}, at=1_600_000_005)
    second = commit({"memories/a": "2", "c": "1"}, root, at=1_600_000_003)  # a clock that went backwards
    third = commit({"memories/a": None}, second, at=1_600_000_009)
    empty = commit({}, third)
    one, two = blob(repo, "1"), blob(repo, "2")
    history = told(location, empty)
    assert [(m.commit, m.parent, m.at) for m in history] == [
        (root, None, 1_600_000_005), (second, root, 1_600_000_003), (third, second, 1_600_000_009),
        (empty, third, 1_770_000_000),
    ]  # fmt: skip
    assert [sorted(m.changes) for m in history] == [
        [FileChange("b", None, one), FileChange("memories/a", None, one)],
        [FileChange("c", None, one), FileChange("memories/a", one, two)],
        [FileChange("memories/a", two, None)],
        [],
    ]
    assert told(location, empty, second) == history[2:]
    assert told(location, second, empty) == told(location, empty, empty) == []


def test_of_a_merge_only_the_first_parent_is_followed(
    repo: Path, location: Location, commit: Callable[..., str]
) -> None:
    root = commit({"a": "1"})
    ours, theirs = commit({"b": "1"}, root), commit({"c": "1"}, root)
    more = commit({"d": "1"}, theirs)
    merge = commit({"c": "1", "d": "1"}, ours, more)
    one = blob(repo, "1")
    assert [m.commit for m in told(location, merge)] == [root, ours, merge]
    (last,) = told(location, merge, ours)
    assert (last.parent, sorted(last.changes)) == (ours, [FileChange("c", None, one), FileChange("d", None, one)])
    # From what became the second parent: where the first-parent line leaves what it reaches.
    turned = commit({"b": "1"}, more, ours)
    assert [(m.commit, m.parent) for m in told(location, turned, ours)] == [
        (theirs, root), (more, theirs), (turned, more),
    ]  # fmt: skip
    octopus = commit({}, merge, theirs, turned)
    assert [m.commit for m in told(location, octopus, merge)] == [octopus]
    # A file that differs from both sides is told once, against the first.
    evil = commit({"a": "2"}, ours, theirs)
    assert told(location, evil, ours)[0].changes == (FileChange("a", one, blob(repo, "2")),)


def test_a_file_that_moved_is_one_that_went_and_one_that_came(
    repo: Path, location: Location, commit: Callable[..., str]
) -> None:
    text = "the same words in the same order\n" * 20
    root = commit({"old": text})
    moved = commit({"old": None, "new": text, "copy": text}, root)
    same = blob(repo, text)
    for value in ("true", "copies"):
        git(repo, "config", "diff.renames", value)
        assert sorted(told(location, moved, root)[0].changes, key=lambda c: c.path) == [
            FileChange("copy", None, same), FileChange("new", None, same), FileChange("old", same, None),
        ]  # fmt: skip


def test_a_name_that_git_quotes_is_no_name_of_a_record(
    repo: Path, location: Location, commit: Callable[..., str]
) -> None:
    odd = commit({'qu"ote': "1", "grün": "1", "tab\there": "1", "back\\slash": "1", "sp ace": "1", "plain": "1"})
    for value in ("false", "true"):
        git(repo, "config", "core.quotePath", value)
        paths = {change.path for change in told(location, odd)[0].changes}
        assert {"plain", "sp ace"} <= paths
        assert not paths & {'qu"ote', "grün", "tab\there", "back\\slash"}


SETTINGS = {
    "log.showRoot": "false",
    "diff.noPrefix": "true",
    "log.showSignature": "true",
    "diff.orderFile": "no-such-file",
    "core.abbrev": "7",
    "color.ui": "always",
    "color.diff": "always",
    "format.pretty": "fuller",
    "log.diffMerges": "off",
    "diff.external": "false",
    "diff.renames": "copies",
    "diff.relative": "true",
    "log.decorate": "full",
    "log.date": "relative",
    "log.follow": "true",
    "log.abbrevCommit": "true",
    "log.mailmap": "true",
    "i18n.logOutputEncoding": "UTF-16",
    "i18n.commitEncoding": "latin1",
    "notes.displayRef": "refs/notes/*",
    "diff.ignoreSubmodules": "all",
    "diff.submodule": "log",
    "diff.statGraphWidth": "3",
    "diff.wordRegex": ".",
    "diff.mnemonicPrefix": "true",
    "core.pager": "false",
    "pager.log": "false",
    "core.worktree": "..",
    "core.attributesFile": "/dev/null",
    "gpg.program": "false",
    "alias.log": "version",
    "core.commitGraph": "false",
    "core.quotePath": "false",
    "log.initialDecorationSet": "all",
    "diff.dirstat": "files",
    "diff.algorithm": "patience",
    "grep.lineNumber": "true",
}


@pytest.fixture
def history(repo: Path, commit: Callable[..., str]) -> str:
    root = commit({"memories/b": "1", "a": "1", "z": "1"})
    ours, theirs = commit({"a": "2"}, root), commit({"c": "1"}, root)
    merge = commit({"c": "1"}, ours, theirs)
    git(repo, "notes", "add", "-m", "commit 12 34", merge)
    return commit({"memories/b": None, "d": "1"}, merge)


@pytest.mark.parametrize("name", SETTINGS)
def test_no_setting_changes_what_is_read(name: str, repo: Path, location: Location, history: str) -> None:
    before = told(location, history)
    assert len(before) == 4 and len(before[0].changes) == 3  # the control
    git(repo, "config", name, SETTINGS[name])
    assert told(locate(repo, environ=os.environ), history) == before


@pytest.mark.parametrize("name", [name for name in SETTINGS if name != "core.worktree"])
def test_no_setting_of_the_user_does_either(name: str, seal: Path, location: Location, history: str) -> None:
    before = told(location, history)
    git(seal, "config", "--global", name, SETTINGS[name])
    assert told(location, history) == before


def test_attributes_and_variables_change_nothing(
    repo: Path, location: Location, history: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = told(location, history)
    (repo / ".git/info").mkdir(exist_ok=True)
    (repo / ".git/info/attributes").write_text("* diff=broken filter=broken -text working-tree-encoding=UTF-16\n")
    git(repo, "config", "diff.broken.command", "false")
    git(repo, "config", "diff.broken.textconv", "false")
    for name in ("GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_PAGER", "GIT_TRACE2"):
        monkeypatch.setenv(name, "false")
    monkeypatch.setenv("GIT_TRACE", "1")
    assert told(locate(repo, environ=os.environ), history) == before


def test_a_replaced_object_is_not_the_history(
    repo: Path, location: Location, history: str, commit: Callable[..., str]
) -> None:
    before = told(location, history)
    other = commit({"evil": "1"})
    git(repo, "replace", history, other)
    assert told(location, history) == before
    git(repo, "replace", "-d", history)


def test_in_a_shallow_clone_it_begins_where_the_clone_does(
    repo: Path, tmp_path: Path, history: str, location: Location
) -> None:
    whole = told(location, history)
    git(repo, "update-ref", "refs/heads/far", history)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth=2", "--branch=far", f"file://{repo}", str(clone))
    there = told(locate(clone, environ=os.environ), history)
    assert [m.commit for m in there] == [m.commit for m in whole][-2:]
    assert there[-1] == whole[-1]
    assert there[0].parent is None  # as far as is known here, it came with everything
    assert {change.path for change in there[0].changes} == {"a", "c", "memories/b", "z"}
    assert all(change.old is None for change in there[0].changes)


@pytest.mark.parametrize("which", ["commit", "tree", "root"])
@pytest.mark.parametrize("harm", ["gone", "emptied", "garbage"])
def test_what_is_missing_or_damaged_is_said(
    repo: Path, location: Location, commit: Callable[..., str], which: str, harm: str
) -> None:
    root = commit({"memories/a": "1"})
    second = commit({"memories/a": "2"}, root)
    tip = commit({"memories/a": "3"}, second)
    assert len(told(location, tip)) == 3  # the control
    victim = {"commit": second, "tree": git(repo, "rev-parse", f"{second}:memories").strip(), "root": root}[which]
    path = repo / ".git/objects" / victim[:2] / victim[2:]
    path.chmod(0o644)
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes(b"" if harm == "emptied" else b"no zlib stream")
    with pytest.raises(CorruptRecord) as caught:
        told(location, tip)
    assert caught.value.message and "\n" not in caught.value.message.strip()


def test_a_tip_or_base_that_is_not_there_is_said(location: Location, history: str) -> None:
    assert told(location, history)
    for tip, base in (("0" * 39 + "1", None), (history, "0" * 39 + "1")):
        with pytest.raises(GitmemError):
            told(location, tip, base)


def test_who_stops_reading_leaves_no_git_behind(location: Location, history: str) -> None:
    reading = made(location, history, None)
    assert next(reading).parent is None
    reading.close()  # warnings are errors: a process or pipe left open would fail this


@pytest.mark.parametrize(
    ("when", "at"),
    [("1770000000 +0000", 1_770_000_000), ("0 +0000", 0), ("-5 +0000", None), ("9" * 17 + " +0000", None),
     ("9" * 30 + " +0000", None), ("soon", None), ("", None)],
)  # fmt: skip
def test_a_commit_may_say_any_time(
    repo: Path, location: Location, commit: Callable[..., str], when: str, at: int | None
) -> None:
    root = commit({"a": "1"})
    tree = git(repo, "rev-parse", f"{root}^{{tree}}").strip()
    who = "A <a@example.invalid>"
    text = f"tree {tree}\nparent {root}\nauthor {who} 1 +0000\ncommitter {who} {when}\n\nx\n"
    odd = git(repo, "hash-object", "-t", "commit", "-w", "--literally", "--stdin", input=text).strip()
    (one,) = told(location, odd, root)
    assert (one.commit, one.parent, one.changes) == (odd, root, ())
    assert 0 <= one.at <= LATEST and at in (None, one.at)
