"""What a pattern of `applies_to` covers. git's own pathspecs with `:(glob)` are the judge where they say the same."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.model.globs import covers
from tests.conftest import git

COVERED = [
    ("src", "src/a.py"), ("src/", "src/a/b.py"), ("src/pool.py", "src/pool.py"), ("./src", "src/a.py"),
    ("**", "a"), ("**", "a/b"), (".", "a/b"), ("**/*", "a"), ("src/**", "src/a"), ("src/**", "src/a/b/c"),
    ("src/*.py", "src/a.py"), ("src/**/*.py", "src/a.py"), ("src/**/*.py", "src/a/b/c.py"),
    ("**/test_*.py", "test_a.py"), ("**/test_*.py", "a/b/test_a.py"), ("*.ts", "a.ts"), ("*.ts", "web/ui/a.ts"),
    ("a/**/z", "a/z"), ("a/**/z", "a/b/c/z"), ("a/**/m/**/z", "a/m/b/m/z"), ("file?.[ch]", "file1.h"),
    ("[a-c]*", "beta"), ("[!a]b", "bb"), ("[^a]b", "cb"), ("[]]", "]"), ("a[", "a["), ("a/*/", "a/b/c/d"),
    ("app/[id]/page.tsx", "app/[id]/page.tsx"), ("app/[id]", "app/[id]/page.tsx"), ("docs/ü*", "docs/über.md"),
    ("a**b", "axxb"), ("src/*/", "src/a/b"),
]  # fmt: skip
NOT_COVERED = [
    ("src", "srcs/a.py"), ("src/pool.py", "src/pool.pyc"), ("pool.py", "src/pool.py"), ("src/*.py", "src/a/b.py"),
    ("src/**", "src"), ("src/**", "lib/src/a"), ("src/**/*.py", "src/a.pyi"), ("*.ts", "a.tsx"), ("a?c", "a/c"),
    ("a[!b]c", "a/c"), ("a*c", "a/c"), ("[!a]b", "ab"), ("[a-c]", "d"), ("SRC", "src/a.py"), ("src/*", "src/a/b"),
    ("a**b", "ax/xb"), ("src/*/", "src/a"), ("a/**/z", "a/b"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "path"), COVERED)
def test_what_is_covered(pattern: str, path: str) -> None:
    assert covers(pattern, path)


@pytest.mark.parametrize(("pattern", "path"), NOT_COVERED)
def test_what_is_not(pattern: str, path: str) -> None:
    assert not covers(pattern, path)


def test_a_hostile_pattern_takes_no_longer_than_its_length_times_that_of_the_path() -> None:
    assert not covers("*a" * 500 + "b", "a" * 4000)
    assert not covers("**/a/" * 200 + "b", "/".join(["a"] * 1000))
    assert covers("*a" * 500, "a" * 4000)


FILES = ("a", "b.py", "a.b/c", "ab/c.py", "ab/a/c.py", "ab/a/b/c", "c/[a]/x", "c/a/x")
PART = st.text("ab*?.[]!c-", min_size=1, max_size=5)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("globs")
    git(where, "init", "-q")
    for name in FILES:
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).write_text("")
    git(where, "add", ".")
    return where


def by_git(where: Path, pattern: str) -> set[str]:
    done = subprocess.run(
        ["git", "-C", str(where), "ls-files", "-z", "--", f":(glob){pattern}"],
        capture_output=True,
        check=True,
        text=True,
    )
    return set(done.stdout.split("\0")) - {""}


@settings(deadline=None, max_examples=150)
@given(parts=st.lists(st.one_of(PART, st.just("**")), min_size=2, max_size=4))
def test_whole_paths_match_as_gits_do(files: Path, parts: list[str]) -> None:
    pattern = "/".join(parts)
    # Where git differs: a literal name that has brackets, `.` and `..`, brackets that do not close or hold nothing.
    if any(part in (".", "..") for part in parts) or "[" in pattern or "]" in pattern:
        return
    assert {name for name in FILES if covers(pattern, name)} == by_git(files, pattern)
