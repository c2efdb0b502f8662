"""The built wheel: what is in it, and that it works alone in a fresh environment, away from the source."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import git

pytestmark = pytest.mark.wheel
ROOT = Path(__file__).resolve().parents[2]


class Installed(NamedTuple):
    """The wheel, and the folder of programs of the environment that it was installed in."""

    wheel: Path
    programs: Path


# The fixtures of a module run before the seal of each test, so pip finds its cache and its settings.
@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built by the back end itself from the tracked files: no download, nothing left in the tree."""
    return build("wheel", ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """A fresh environment with the wheel and its dependencies, made without the source in sight."""
    where = tmp_path_factory.mktemp("fresh")
    venv.create(where / "venv", with_pip=False)
    programs = where / "venv/bin"
    run([sys.executable, "-m", "pip", "--python", str(programs / "python"), "install", "--quiet", str(wheel)], where)
    return Installed(wheel, programs)


def build(target: str, source: Path, where: Path) -> Path:
    """Build `target` ("wheel" or "sdist") of the tree `source` into `where`."""
    run([sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(where)], source)
    (made,) = where.iterdir()
    return made


def run(command: list[str], where: Path, code: int = 0, **environ: str) -> str:
    done = subprocess.run(
        command, cwd=where, env={**os.environ, **environ}, capture_output=True, text=True, stdin=subprocess.DEVNULL
    )
    assert done.returncode == code, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if not name.endswith("/")}


def test_the_wheel_holds_the_package_what_ships_with_it_and_nothing_else(wheel: Path) -> None:
    tracked = set(git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard").splitlines())
    there = {name for name in tracked if (ROOT / name).is_file()}
    package = {name for name in there if name.startswith("gitmem/")}
    shipped = {f"gitmem/_shipped/{name}" for name in there if name.startswith(("hooks/", "packages/", "schemas/"))}
    some = ("hooks/agent/doorbell", "packages/skill.md", "schemas/memory.schema.json")
    assert {f"gitmem/_shipped/{name}" for name in some} <= shipped
    version = wheel.name.split("-")[1]
    about = {
        f"git_mem-{version}.dist-info/{name}"
        for name in ("METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE", "licenses/NOTICE")
    }
    assert names(wheel) == package | shipped | about


def test_the_metadata_names_licence_python_and_both_commands(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (archive.read(name).decode() for name in archive.namelist() if name.endswith("/METADATA"))
        (points,) = (archive.read(name).decode() for name in archive.namelist() if name.endswith("entry_points.txt"))
    assert "\nName: git-mem\n" in metadata
    assert "\nLicense-Expression: Apache-2.0\n" in metadata
    assert "\nRequires-Python: >=3.11\n" in metadata
    required = [line for line in metadata.splitlines() if line.startswith("Requires-Dist: ")]
    assert required and all("<" in line for line in required), "every dependency has an upper bound"
    for command in ("gitmem", "git-mem"):
        assert f"{command} = gitmem.cli.main:main" in points


def test_the_source_archive_builds_the_same_wheel(wheel: Path, tmp_path: Path) -> None:
    archive = build("sdist", ROOT, tmp_path / "sdist")
    with tarfile.open(archive) as tar:
        tar.extractall(tmp_path / "source", filter="data")
    (source,) = (tmp_path / "source").iterdir()
    again = build("wheel", source, tmp_path / "again")
    assert names(again) == names(wheel)
    with zipfile.ZipFile(again) as one, zipfile.ZipFile(wheel) as other:
        for name in names(wheel):
            if not name.endswith("/RECORD"):
                assert one.read(name) == other.read(name), name


def test_the_wheel_works_alone(installed: Installed, repo: Path) -> None:
    gitmem = str(installed.programs / "gitmem")
    python = str(installed.programs / "python")
    where = run([python, "-c", "import gitmem; print(gitmem.__file__)"], repo)
    assert Path(where.strip()).is_relative_to(installed.programs.parent), "the source is not what is imported"
    assert run([gitmem, "--version"], repo).startswith("gitmem ")
    assert run([str(installed.programs / "git-mem"), "--version"], repo) == run([gitmem, "--version"], repo)
    path = os.pathsep.join([str(installed.programs), os.environ["PATH"]])
    assert run(["git", "mem", "--version"], repo, PATH=path) == run([gitmem, "--version"], repo)

    before = git(repo, "status", "--porcelain=v2", "--branch")
    assert "created gitmem/main" in run([gitmem, "init"], repo)
    assert git(repo, "show", "gitmem/main:gitmem.yaml")
    # No terminal here, so what is remembered is a proposal.
    words = ["remember", "-k", "fact", "The pool tries three times to connect", "-e", "file:src/pool.py:4-5"]
    assert "waits in the inbox" in run([gitmem, *words], repo)
    assert "tries three times" in run([gitmem, "list", "--inbox"], repo)
    assert "evidence.missing" in run([gitmem, "remember", "-k", "fact", "The pool is fast"], repo, code=3)
    assert '"gitmem memory' in run([gitmem, "schema", "memory"], repo)
    assert "clean" in run([gitmem, "verify", "--all"], repo)
    assert git(repo, "status", "--porcelain=v2", "--branch") == before

    assert "installed" in run([gitmem, "hooks", "install"], repo)
    hook = (repo / ".git/hooks/pre-push").read_text()
    assert gitmem in hook, "the hook calls the environment that installed it"
    bare = repo.parent / "bare.git"
    git(repo, "init", "-q", "--bare", str(bare))
    git(repo, "push", "-q", str(bare), "main", "gitmem/main")
    assert git(bare, "rev-parse", "gitmem/main") == git(repo, "rev-parse", "gitmem/main")
