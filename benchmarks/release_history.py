"""A git history of a public Python package: one commit for each release, of what its wheel holds.

    python benchmarks/release_history.py FOLDER PACKAGE VERSION [VERSION]...

Downloads the wheels with pip, oldest version first, and makes the repository FOLDER/PACKAGE.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path


def main() -> None:
    folder, package, versions = Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
    where = folder / package
    where.mkdir(parents=True)
    _git(where, "init", "-q", "-b", "main")
    for version in versions:
        with tempfile.TemporaryDirectory() as scratch:
            subprocess.run(
                [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", scratch,
                 f"{package}=={version}"],
                check=True,
            )  # fmt: skip
            for old in where.iterdir():
                if old.name != ".git":
                    shutil.rmtree(old) if old.is_dir() else old.unlink()
            (wheel,) = Path(scratch).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                archive.extractall(where, [name for name in archive.namelist() if ".dist-info/" not in name])
        _git(where, "add", "-A")
        _git(where, "commit", "-q", "-m", f"{package} {version}")
        print(f"{package} {version}")


def _git(where: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(where), *arguments], check=True)


if __name__ == "__main__":
    main()
