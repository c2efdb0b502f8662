"""The quick reading of a command line says what Typer says, or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.main import get_command

from gitmem.cli import remember as face
from gitmem.cli.main import application
from gitmem.cli.remembering import FLAGS

# The parameter of the Typer function and that of the run: the one is named for one flag, the other for all of them.
PLURAL = {
    "tag": "tags", "path": "paths", "alias": "aliases", "step": "steps", "claim": "claims", "grounding": "groundings",
}  # fmt: skip
ODD = ["", "-", "--", "-x", "--help", "--kind=fact", "-kfact", "--body=", "--tag=a=b", "--edit=1", "--dry", "--none"]
WORDS = st.sampled_from([*FLAGS.one, *FLAGS.many, *FLAGS.yes, *ODD, "a title", "fact", "file:a.py:1-2", "ü"])


def by_typer(words: list[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any] | None:
    """What Typer gives to the run; None when it does not run."""
    told: list[dict[str, Any]] = []
    monkeypatch.setattr(face, "run", lambda door, **flags: told.append(flags))
    try:
        get_command(application("remember")).main(list(words), standalone_mode=False)
    except (typer.Exit, Exception):
        return None
    return {name: _plain(value) for name, value in told[0].items() if value} if told else None


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


def test_every_flag_of_remember_is_known_and_no_other() -> None:
    options = {name: p for p in get_command(application("remember")).params for name in p.opts if name.startswith("-")}
    told = {**FLAGS.one, **FLAGS.many, **FLAGS.yes}
    assert {name: PLURAL.get(str(p.name), str(p.name)) for name, p in options.items()} == told
    assert {name for name, p in options.items() if p.multiple} == set(FLAGS.many)
    assert {name for name, p in options.items() if p.is_flag} == set(FLAGS.yes)


@settings(deadline=None, max_examples=300)
@given(words=st.lists(WORDS, max_size=8))
def test_what_is_read_quickly_is_what_typer_reads(words: list[str]) -> None:
    quick = FLAGS.read(words)
    if quick is None:
        return
    with pytest.MonkeyPatch.context() as patch:
        assert by_typer(words, patch) == {name: value for name, value in quick.items() if value}


def test_a_usual_command_line_is_read_quickly() -> None:
    words = ["-k", "fact", "a title", "--body=x", "-e", "file:a:1", "--evidence", "commit:HEAD", "--dry-run"]
    told = {"kind": "fact", "title": "a title", "body": "x", "evidence": ["file:a:1", "commit:HEAD"], "dry_run": True}
    assert FLAGS.read(words) == told


@pytest.mark.parametrize(
    "words", [["--help"], ["--nope", "x"], ["a", "b"], ["-kfact"], ["--kind"], ["--", "a"], ["-k", "-x"], ["--edit=1"]]
)
def test_on_doubt_typer_reads(words: list[str]) -> None:
    assert FLAGS.read(["-k", "fact", "a title"]) is not None
    assert FLAGS.read(words) is None
