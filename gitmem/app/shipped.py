"""The files that ship beside the code: hook shims, schemas, and what packages for agent hosts are made of."""

from __future__ import annotations

from pathlib import Path

from gitmem.errors import GitmemError


def shipped(name: str) -> Path:
    """The shipped folder `name`: hooks, packages or schemas; inside the installed package, or in the source tree."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "_shipped" / name, package.parent / name):
        if folder.is_dir():
            return folder
    raise GitmemError(f"the installation lacks its folder {name!r}", hint="reinstall git-mem")
