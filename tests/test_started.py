"""A command line answers the same from the process that has all loaded as it does afresh."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import started
from tests.conftest import git
from tests.installed import Ran, agent, person

SAME = (
    ("list", "--json"), ("recall", "twenty", "connections"), ("log",), ("verify", "--all"), ("nonsense",), ("--help",),
    ("show", "none0000"), ("remember", "-f", "-"), ("completion", "bash"), ("brief", "--peek"), ("context", "src/"),
)  # fmt: skip


def both(monkeypatch: pytest.MonkeyPatch, run: Callable[[], Ran]) -> tuple[Ran, Ran]:
    """What is answered by the process that has all loaded, and afresh."""
    asked = []
    really = started.ask
    with monkeypatch.context() as patched:
        patched.setattr(started, "PLAIN", False)
        patched.setattr(started, "ask", lambda *a, **k: asked.append(really(*a, **k)) or asked[-1])
        quick = run()
    assert started.PLAIN or asked[-1] is not None  # the control: it was the quick one
    with monkeypatch.context() as patched:
        patched.setattr(started, "PLAIN", True)
        return quick, run()


def test_it_answers_the_same_as_afresh(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert person(repo, "init").code == 0
    assert person(repo, "remember", "-k", "fact", "It opens twenty connections", "-e", "file:src/pool.py:2").code == 0
    for words in SAME:
        for run in (agent, person):
            typed = {"stdin": "kind: what\n"} if run is agent else {"typed": "kind: what\n\x04"}
            quick, afresh = both(monkeypatch, lambda: run(repo, *words, **typed))  # noqa: B023
            assert quick == afresh, words


def test_streams_environment_and_folder_are_those_of_each_command(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a process that was loaded before could keep of the one before."""
    assert person(repo, "init").code == 0
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Other One\n\temail = other@example.invalid\n")
    channels = []
    for number, plain in enumerate((False, True)):
        monkeypatch.setattr(started, "PLAIN", plain)
        said = ("remember", "--json", "-k", "fact", "-e", "file:src/pool.py:2")
        assert agent(tmp_path, "list").code == 6
        of_it = {**os.environ, "HOME": str(home)}  # the state of the user stays where it was
        titles = [f"{word} {'ab'[number] * 9}" for word in ("Tides turn", "Ships wait", "Cranes lift")]
        made = [
            agent(repo, *said, titles[0]),
            person(repo, *said, titles[1], environ=of_it),
            person(repo, *said, titles[2], environ={**of_it, "CLAUDECODE": "1"}),
        ]
        assert [one.code for one in made] == [0, 0, 0], made
        channels.append([one.lines[0]["result"] for one in made])
        assert git(repo, "log", "-1", "--format=%an", "gitmem/main").strip() == "Other One"
    assert channels == [["candidate", "active", "candidate"]] * 2
