from __future__ import annotations

import hashlib
import os
from dataclasses import replace
from pathlib import Path

import pytest

from gitmem.errors import GitmemError, NotFound, UsageError
from gitmem.evidence.resolvers import expand, resolve
from gitmem.evidence.sources import SIZE_LIMIT, Sources, TooLarge
from gitmem.model.nouns import FileRef
from tests.conftest import git
from tests.evidence.world import World


def cite(short: str, sources: Sources) -> FileRef:
    ref = expand(short, sources)
    assert isinstance(ref, FileRef)
    return ref


def refusal(short: str, world: World) -> GitmemError:
    with pytest.raises(GitmemError) as caught:
        expand(short, world.sources())
    return caught.value


def test_the_record_can_be_proved_with_git_and_sha256sum(world: World) -> None:
    ref = cite("file:src/pool.py:4-5", world.sources())
    raw = git(world.repo, "cat-file", "blob", ref.blob).encode()
    lines = raw.splitlines(keepends=True)[3:5]
    assert ref.sha256 == hashlib.sha256(b"".join(lines)).hexdigest()
    assert git(world.repo, "rev-parse", f"{ref.commit}:{ref.path}").strip() == ref.blob
    assert (ref.lines, ref.quote) == ("4-5", "return retry(self.connect, tries=3)")


def test_line_ends_are_bytes_of_the_citation(world: World) -> None:
    world.commit("mixed.txt", b"one\r\ntwo\nthree\rstill three\nlast")
    sources = world.sources()
    for lines, cited in {
        "1": b"one\r\n",
        "2": b"two\n",
        "3": b"three\rstill three\n",
        "3-4": b"three\rstill three\nlast",
    }.items():
        ref = cite(f"file:mixed.txt:{lines}", sources)
        assert ref.sha256 == hashlib.sha256(cited).hexdigest()
        assert resolve(ref, sources).state == "verified"


def test_content_filters_never_touch_what_is_cited(world: World) -> None:
    git(world.repo, "config", "core.autocrlf", "true")
    world.commit(".gitattributes", "* text=auto\n*.txt -text\n")
    raw = b"lf\ncrlf\r\nlf\n"
    world.commit("mixed.txt", raw)
    world.commit("turned.log", b"a\r\nb\r\n")
    sources = world.sources()
    assert cite("file:mixed.txt", sources).sha256 == hashlib.sha256(raw).hexdigest()
    turned = cite("file:turned.log", sources)
    assert turned.sha256 == hashlib.sha256(b"a\nb\n").hexdigest()  # what git stored, not the work tree's CRLF
    found = resolve(turned, sources)
    assert (found.state, found.detail) == ("verified", "")


@pytest.mark.parametrize(
    "path",
    ["with space.py", "a:12", "größe.py", "a#b.py", "@types/x.ts", "a@b@c", "-option.py", "quo\"te'.py", "x:1-2:3"],
)
def test_paths_that_look_like_something_else(world: World, path: str) -> None:
    world.commit(path, "first line\nsecond line\n")
    sources = world.sources()
    whole, second = cite(f"file:{path}", sources), cite(f"file:{path}:2", sources)
    assert (whole.path, whole.lines) == (path, None)
    assert (second.path, second.lines, second.quote) == (path, "2", "second line")
    assert cite(f"file:{path}@HEAD:1", sources).quote == "first line"
    assert resolve(second, sources).state == "verified"


def test_a_revision_cites_what_stood_there_then(world: World) -> None:
    git(world.repo, "tag", "-a", "v1@2", "-m", "old")
    old = git(world.repo, "rev-parse", "HEAD").strip()
    world.commit("src/pool.py", "size = 50\n")
    sources = world.sources()
    then = cite("file:src/pool.py@v1@2:2", sources)
    assert (then.commit, then.quote) == (old, "size = 20")
    assert cite("file:src/pool.py@HEAD@{1}:2", sources) == then
    assert cite("file:src/pool.py:1", sources).quote == "size = 50"


def test_quotes_keep_to_what_may_be_stored(world: World) -> None:
    world.commit("odd.txt", "\u202e hidden\n" + "long " * 100 + "\n")
    sources = world.sources()
    assert cite("file:odd.txt:1", sources).quote is None
    long = cite("file:odd.txt:2", sources)
    assert long.quote is not None and len(long.quote) <= 160
    assert resolve(long, sources).quoted is True


def test_binary_files_are_cited_whole_and_without_words(world: World) -> None:
    world.commit("logo.png", b"\x89PNG\0\nreadable words in here\n")
    ref = cite("file:logo.png", world.sources())
    assert ref.quote is None and resolve(ref, world.sources()).state == "verified"
    assert isinstance(refusal("file:logo.png:1", world), UsageError)


@pytest.mark.parametrize("lines", ["99", "6-7", "0", "3-2"])
def test_lines_that_are_not_there(world: World, lines: str) -> None:
    assert cite("file:src/pool.py:1-5", world.sources()).lines == "1-5"
    error = refusal(f"file:src/pool.py:{lines}", world)
    assert "5 lines" in error.message if lines in ("99", "6-7") else isinstance(error, UsageError)


def test_an_empty_file_has_no_first_line(world: World) -> None:
    world.commit("empty", b"")
    assert cite("file:empty", world.sources()).quote is None
    assert "0 lines" in refusal("file:empty:1", world).message


def test_what_is_wrong_is_said_with_what_is_near(world: World) -> None:
    world.write("new file.py", "x\n")
    assert "git add -- 'new file.py' && git commit" in refusal("file:new file.py", world).hint
    assert "file:src/pool.py" in refusal("file:pool.py", world).hint
    assert "file:src/pool.py" in refusal("file:src/poll.py:3", world).hint
    assert "no revision 'nope'" in refusal("file:src/pool.py@nope:1", world).message
    assert "is not in HEAD" in refusal("file:src/none.py@HEAD", world).message
    assert "no range of lines" in refusal("file:src/pool.py:L4,6", world).message
    assert "folder" in refusal("file:src", world).message


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../shop/src/pool.py", "src/../src/pool.py", "src//pool.py", ".git/config", "a\0b", "."]
)
def test_paths_outside_the_repository_are_refused(world: World, path: str) -> None:
    assert isinstance(refusal(f"file:{path}", world), UsageError)
    forged = replace(cite("file:src/pool.py", world.sources()), path=path)
    assert resolve(forged, world.sources()).state == "missing"


def test_links_and_submodules_are_no_files(world: World) -> None:
    os.symlink("src/pool.py", world.repo / "link.py")
    os.symlink("/etc", world.repo / "away")
    git(
        world.repo, "update-index", "--add", "--cacheinfo", f"160000,{git(world.repo, 'rev-parse', 'HEAD').strip()},sub"
    )
    git(world.repo, "add", "link.py", "away")
    git(world.repo, "commit", "-q", "-m", "links")
    assert "symbolic link" in refusal("file:link.py", world).message
    assert "submodule" in refusal("file:sub", world).message
    assert isinstance(refusal("file:away/passwd", world), NotFound)
    assert world.sources().read_work_tree("away/passwd") is None
    assert world.sources().read_work_tree("link.py") is None
    assert world.sources().read_work_tree("src/pool.py") is not None
    target = cite("file:src/pool.py", world.sources())
    assert resolve(replace(target, path="link.py"), world.sources()).state == "changed"


def test_nothing_large_is_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.commit("large.bin", b"x" * (SIZE_LIMIT + 1))
    sources = world.sources()
    read: list[str] = []
    original = type(sources.backend).read

    def watched(self: object, oid: str) -> tuple[str, bytes]:
        read.append(oid)
        return original(self, oid)  # type: ignore[arg-type]

    monkeypatch.setattr(type(sources.backend), "read", watched)
    blob = git(world.repo, "rev-parse", "HEAD:large.bin").strip()
    with pytest.raises(TooLarge):
        expand("file:large.bin", sources)
    forged = replace(cite("file:src/pool.py", sources), path="large.bin", blob=blob)
    assert resolve(forged, sources).state == "unobservable"
    assert blob not in read and read
    with pytest.raises(TooLarge):
        sources.read_work_tree("large.bin")


def test_drift_of_the_work_tree_is_told_and_changes_nothing(world: World) -> None:
    world.write("src/pool.py", "class Pool:\n    size = 50\n")
    sources = world.sources()
    changed, same = cite("file:src/pool.py@HEAD:2", sources), cite("file:src/pool.py:1", sources)
    assert changed.quote == "size = 20"
    found = resolve(changed, sources)
    assert found.state == "verified" and "work tree" in found.detail
    assert resolve(same, sources).detail == ""


def test_before_the_first_commit(world: World, tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "-b", "main", "new")
    world = world.elsewhere(tmp_path / "new")
    world.write("a.py", "x\n")
    assert "git commit" in refusal("file:a.py", world).hint
    assert isinstance(refusal("file:b.py", world), NotFound)


def test_a_real_blob_at_another_place_is_no_evidence(world: World) -> None:
    ref = cite("file:src/pool.py:2", world.sources())
    (world.repo / "forged").write_text("class Pool:\n    size = 99\n")
    blob = git(world.repo, "hash-object", "-w", "forged").strip()
    cited = b"    size = 99\n"
    forged = replace(ref, blob=blob, sha256=hashlib.sha256(cited).hexdigest(), quote="size = 99")
    sources = world.sources()
    assert resolve(ref, sources).state == "verified"
    assert resolve(forged, sources).state == "changed"
    assert resolve(replace(forged, commit="0" * 40), sources).state == "unobservable"
    assert resolve(replace(ref, path="README.md"), sources).state == "changed"
    assert resolve(replace(ref, path="src/gone.py"), sources).state == "missing"
    assert resolve(replace(ref, lines="50"), sources).state == "missing"


def test_after_a_rewrite_the_same_bytes_are_found_in_history(world: World) -> None:
    world.commit("cited.py", "answer = 42\n", "add")
    ref = cite("file:cited.py:1", world.sources())
    git(world.repo, "commit", "-q", "--amend", "-m", "add, with a better message")
    world.commit("cited.py", "answer = 43\n", "moved on")
    git(world.repo, "reflog", "expire", "--expire=now", "--all")
    git(world.repo, "gc", "-q", "--prune=now")
    found = resolve(ref, world.sources())
    assert (found.state, found.quoted) == ("verified", True)
    assert found.detail.startswith("rewritten; the same bytes are in")
    git(world.repo, "checkout", "-q", "--orphan", "fresh")
    world.commit("other", "x")
    found = resolve(ref, world.sources())
    assert found.state == "unobservable" and ref.commit[:12] in found.detail


def test_clones_that_lack_the_bytes(world: World, tmp_path: Path) -> None:
    world.commit("old.py", "old = 1\n")
    ref = cite("file:old.py:1", world.sources())
    world.commit("old.py", "new = 1\n")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", world.repo.as_uri(), str(shallow))
    assert resolve(ref, world.elsewhere(shallow).sources()).state == "unobservable"
    assert resolve(ref, world.sources()).state == "verified"


def test_a_damaged_object_is_told_not_raised(world: World) -> None:
    ref = cite("file:src/pool.py", world.sources())
    loose = world.repo / ".git/objects" / ref.blob[:2] / ref.blob[2:]
    assert resolve(ref, world.sources()).state == "verified"
    loose.chmod(0o644)
    loose.write_bytes(loose.read_bytes()[:10])
    found = resolve(ref, world.sources())
    assert found.state == "unobservable" and found.detail
