"""Which files of a work tree hold secrets, and that the gate refuses what stands in them."""

# ruff: noqa: E501
from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.app.secrets_known import is_secret_file, known_secrets, secret_files, user_list
from gitmem.store.repository import Location, locate
from tests.app.conftest import Ran

VALUE = "Zq7" + "-winter-vT3"  # no rule knows it where no label stands


def located(repo: Path) -> Location:
    return locate(repo, environ=dict(os.environ))


@pytest.mark.parametrize("name", [".env", ".env.local", ".env.production", "prod.env", "server.pem", "tls.KEY", "credentials", "credentials.json", ".npmrc", "secrets.yaml", "x.tfvars", ".envrc"])  # fmt: skip
def test_a_secret_file_by_its_name(name: str) -> None:
    assert is_secret_file(name)


@pytest.mark.parametrize("name", [".env.example", ".env.sample", ".environment", "env.py", "credentials.py", "secrets.md", "keys.txt", "README.md", "secret.ts", "server.pem.template"])  # fmt: skip
def test_no_secret_file_by_its_name(name: str) -> None:
    assert not is_secret_file(name) and is_secret_file(".env")


def test_files_are_found_below_the_top_and_noticed_when_they_come_and_go(repo: Path) -> None:
    location = located(repo)
    (location.private).mkdir()
    for folder in ("packages/web", "node_modules/x", "a/b/c/d", ".hidden"):
        (repo / folder).mkdir(parents=True)
        (repo / folder / ".env").write_text(f"MY_SECRET={VALUE}{len(folder)}\n")
    (repo / "link.pem").symlink_to(repo / "packages/web/.env")
    assert secret_files(location) == [repo / "packages/web/.env"]
    (repo / ".env").write_text(f"MY_SECRET={VALUE}\n")
    assert secret_files(location) == [repo / ".env", repo / "packages/web/.env"]
    assert known_secrets(location, os.environ) == (f"{VALUE}12", VALUE)
    (repo / ".env").write_text(f"MY_SECRET={VALUE}new\n")
    assert f"{VALUE}new" in known_secrets(location, os.environ), "values are read each time"
    (repo / ".env").unlink()
    (repo / "packages/web/.env").unlink()
    assert secret_files(location) == [] and known_secrets(location, os.environ) == ()
    stored = [path.read_bytes() for path in location.private.rglob("*") if path.is_file()]
    assert stored and not any(VALUE.encode() in data for data in stored), "no value is ever kept"


def test_a_pipe_or_an_unreadable_file_holds_nothing_up(repo: Path) -> None:
    os.mkfifo(repo / "queue.pem")
    (repo / ".env").write_text(f"MY_SECRET={VALUE}\n")
    (repo / "gone.key").symlink_to("nowhere")
    assert known_secrets(located(repo), os.environ) == (VALUE,)


def test_the_users_list_is_where_the_specification_says(repo: Path) -> None:
    assert user_list({"XDG_CONFIG_HOME": "/c", "HOME": "/h"}) == Path("/c/gitmem/secrets")
    assert user_list({"XDG_CONFIG_HOME": "relative", "HOME": "/h"}) == Path("/h/.config/gitmem/secrets")
    assert user_list({}) is None
    listed = user_list(os.environ)
    assert listed is not None
    listed.parent.mkdir(parents=True)
    listed.write_text("swordfish\n")
    assert known_secrets(located(repo), os.environ) == ("swordfish",)


def test_the_gate_refuses_a_value_of_the_work_trees_secret_files(repo: Path, gitmem: Callable[..., Ran]) -> None:
    assert gitmem(repo, "init").code == 0
    said = ("remember", "-k", "fact", "-e", "file:README.md")
    (repo / ".env").write_text(f"MY_SECRET={VALUE}\n")
    refused = gitmem(repo, *said, f"The words for the box are {VALUE} since March")
    assert refused.code == 3 and "exact" in refused.err and VALUE not in refused.err
    kept = [path.read_bytes() for path in (repo / ".git/gitmem").rglob("*") if path.is_file()]
    assert not any(VALUE.encode() in data for data in kept)
    assert gitmem(repo, *said, "The words for the box changed in March").code == 0
    (repo / ".env").unlink()
    assert gitmem(repo, *said, f"The words for the old box were {VALUE}").code == 0, (
        "what stood there before is no secret"
    )
