"""Whose name stands in a commit. It identifies nobody: git lets anyone write any name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from gitmem.model.vocabulary import Channel
from gitmem.store.objects import Identity
from gitmem.store.repository import Location
from gitmem.store.signing import SigningKey, signing_key
from gitmem.store.transaction import TOOL


class Writer(NamedTuple):
    """Who writes a commit, and what signs it."""

    author: Identity
    committer: Identity
    key: SigningKey | None


def writer(location: Location, environ: Mapping[str, str], channel: Channel) -> Writer:
    """The author is the person, when known; the committer too, but only at a terminal.

    A person is known by GIT_AUTHOR_NAME and the like, else by git's configuration, as in git itself; nobody known
    is `gitmem <gitmem@localhost.invalid>`, so a write in a bare container succeeds. Nothing is guessed from the
    login name or the host. Only what a person writes at a terminal is signed, when the user's own commits are.
    """
    roles: tuple[str, ...] = ("author", "committer") if channel == "terminal" else ("author",)
    named = all(f"GIT_{role.upper()}_{part}" in environ for role in roles for part in ("NAME", "EMAIL"))
    configured = {} if named and channel != "terminal" else _configured(location)
    people = [_person(role, environ, configured) for role in roles]
    if channel != "terminal":
        return Writer(people[0], TOOL, None)
    return Writer(people[0], people[1], signing_key(configured))


def _configured(location: Location) -> dict[str, str]:
    done = location.git(
        *("config", "--null", "--get-regexp"),
        r"^((user|author|committer)\.(name|email)|user\.signingkey|commit\.gpgsign|gpg\.(format|ssh\.program)|gitmem\.sign)$",
        user_config=True,
    )
    rows = (row.partition("\n") for row in done.out.decode("utf-8", "replace").split("\0") if row)
    return {key: value for key, _, value in rows}


def _person(role: str, environ: Mapping[str, str], configured: Mapping[str, str]) -> Identity:
    name = environ.get(f"GIT_{role.upper()}_NAME") or configured.get(f"{role}.name") or configured.get("user.name")
    email = (
        environ.get(f"GIT_{role.upper()}_EMAIL")
        or configured.get(f"{role}.email")
        or configured.get("user.email")
        or environ.get("EMAIL")
    )
    if not name:
        return TOOL
    return Identity(name, email or TOOL.email)


def authors(location: Location, tip: str) -> Counter[str]:
    """How many commits of a history each `name <address>` stands in. Anyone can write any name."""
    done = location.git("log", "--format=%an <%ae>", "--end-of-options", tip)
    if done.status:
        raise done.failure("the history cannot be read")
    return Counter(done.out.decode("utf-8", "replace").splitlines())
