"""`file:PATH::NAME` and `file:PATH::NAME=LITERAL`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from gitmem.errors import Ambiguous, NotFound, UsageError
from gitmem.evidence.resolvers import expand, resolve
from gitmem.evidence.sources import Sources
from gitmem.model.citations import citation
from gitmem.model.nouns import FileRef
from gitmem.model.records import evidence_from_data, to_data
from gitmem.store.repository import locate, open_backend
from tests.conftest import git

SOURCE = """\
TIMEOUT: int = 300
NAMES = ('a', "b")


class Pool:
    size = 20

    def acquire(self):
        return 1


class Lake:
    size = 30

    def acquire(self):
        return 2
"""


@pytest.fixture
def sources(repo: Path) -> Iterator[Sources]:
    (repo / "src/pool.py").write_text(SOURCE)
    (repo / "src/odd::name.py").write_text("x = 1\n")
    git(repo, "add", ".")
    git(repo, "commit", "-qm", "more")
    location = locate(repo, environ=os.environ)
    backend = open_backend(location, long_lived=False)
    yield Sources(backend, location.head, location.work_tree, lambda _: None, "terminal")
    backend.close()


def test_a_symbol_is_cited_by_its_whole_name_and_the_lines_that_define_it(sources: Sources, repo: Path) -> None:
    for asked in ("Pool.acquire", "Pool::acquire"):
        ref = expand(f"file:src/pool.py::{asked}", sources)
        assert isinstance(ref, FileRef)
        assert (ref.symbol, ref.lines) == ("Pool.acquire", "8-9")
    lines = SOURCE.splitlines(keepends=True)[7:9]
    assert ref.sha256 == sha256("".join(lines).encode()).hexdigest()
    assert resolve(ref, sources).state == "verified"
    assert citation(ref) == f"file:src/pool.py@{ref.commit[:10]}::Pool.acquire"
    assert expand(citation(ref), sources) == ref  # what is shown can be typed
    keys = list(to_data(ref))
    assert keys[:5] == ["type", "path", "lines", "symbol", "blob"]
    assert evidence_from_data(to_data(ref)) == ref
    assert "symbol" not in to_data(expand("file:src/pool.py:8-9", sources))


def test_a_value_is_cited_as_the_file_spells_it(sources: Sources) -> None:
    ref = expand("file:src/pool.py::TIMEOUT=300", sources)
    assert isinstance(ref, FileRef) and (ref.symbol, ref.lines) == ("TIMEOUT=300", "1")
    ref = expand("file:src/pool.py::NAMES = ('a',  'b')", sources)
    assert isinstance(ref, FileRef) and ref.symbol == "NAMES=('a', \"b\")"
    with pytest.raises(UsageError, match="sets TIMEOUT to 300, not to 30") as caught:
        expand("file:src/pool.py::TIMEOUT=30", sources)
    assert caught.value.hint == "file:src/pool.py::TIMEOUT=300"


def test_what_is_none_or_several_is_told_with_what_is_near(sources: Sources) -> None:
    with pytest.raises(NotFound) as missing:
        expand("file:src/pool.py::Pool.aquire", sources)
    assert missing.value.hint == "did you mean file:src/pool.py::Pool.acquire?"
    with pytest.raises(Ambiguous, match=r"Lake\.acquire, lines 15-16"):
        expand("file:src/pool.py::acquire", sources)
    with pytest.raises(UsageError, match=r"definitions are not found in README\.md"):
        expand("file:README.md::shop", sources)
    with pytest.raises(NotFound) as nowhere:
        expand("file:src/pol.py::Pool", sources)
    assert "file:src/pool.py" in nowhere.value.hint


def test_a_file_whose_name_holds_the_mark_is_that_file(sources: Sources) -> None:
    ref = expand("file:src/odd::name.py", sources)
    assert isinstance(ref, FileRef) and (ref.path, ref.symbol) == ("src/odd::name.py", None)
    ref = expand("file:src/odd::name.py::x", sources)
    assert isinstance(ref, FileRef) and (ref.path, ref.symbol) == ("src/odd::name.py", "x")


def test_a_symbol_is_cited_at_a_revision(sources: Sources) -> None:
    ref = expand("file:src/pool.py@HEAD~1::Pool.acquire", sources)
    assert isinstance(ref, FileRef) and ref.lines == "4-5"
