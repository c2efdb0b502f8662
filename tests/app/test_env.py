"""The channel is observed and never claimed; the editor; where a user's own state lives."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
from typer.main import get_command

import gitmem
from gitmem.app.env import AGENT_PROCESSES, AGENT_VARIABLES, CI_VARIABLES, Env, edit_text, observe_channel
from gitmem.cli.main import GLOBAL_HELP, VERBS, application
from gitmem.errors import GitmemError, NoHome

SHELL = ("bash", "sshd")


@pytest.mark.parametrize(
    ("environ", "tty", "ancestors", "seen"),
    [
        ({}, True, SHELL, ("terminal", None)),
        ({}, False, SHELL, ("agent", None)),
        ({}, True, (), ("terminal", None)),
        ({"PATH": "/bin", "TERM": "xterm"}, True, ("zsh", "tmux", "login"), ("terminal", None)),
        ({"CLAUDECODE": "1"}, True, SHELL, ("agent", "claude-code")),
        ({"CLAUDECODE": ""}, True, SHELL, ("terminal", None)),
        ({"CODEX_SANDBOX": "seatbelt"}, False, SHELL, ("agent", "codex")),
        ({}, True, ("bash", "node", "codex"), ("agent", "codex")),
        ({}, True, ("bash", "claude"), ("agent", "claude-code")),
        ({}, True, ("claude-shim",), ("terminal", None)),
        ({"CI": "true"}, False, SHELL, ("ci", None)),
        ({"CI": "true"}, True, SHELL, ("ci", None)),
        ({"GITHUB_ACTIONS": "true"}, False, SHELL, ("ci", None)),
        ({"CI": "true", "AI_AGENT": "1"}, False, SHELL, ("agent", "agent")),
        ({"GITMEM_CHANNEL": "terminal", "GITMEM_ACTOR": "me", "USER": "root"}, False, SHELL, ("agent", None)),
    ],
)
def test_the_channel_is_what_can_be_seen(
    environ: dict[str, str], tty: bool, ancestors: tuple[str, ...], seen: tuple[str, str | None]
) -> None:
    assert observe_channel(environ, tty, ancestors) == seen


@pytest.mark.parametrize("name", AGENT_VARIABLES)
def test_every_variable_of_an_agent_host_is_seen(name: str) -> None:
    assert observe_channel({name: "1"}, True, SHELL) == ("agent", AGENT_VARIABLES[name])
    assert observe_channel({f"{name}X": "1"}, True, SHELL) == ("terminal", None)


@pytest.mark.parametrize("name", AGENT_PROCESSES)
def test_every_process_of_an_agent_host_is_seen(name: str) -> None:
    assert observe_channel({}, True, ("bash", name, "init")) == ("agent", AGENT_PROCESSES[name])


@pytest.mark.parametrize("name", CI_VARIABLES)
def test_every_variable_of_ci_is_seen(name: str) -> None:
    assert observe_channel({name: "1"}, True, SHELL) == ("ci", None)


ACTORS = {"actor", "author", "approver", "approved_by", "user", "channel", "principal", "host", "reviewer", "identity"}
# Where the observation is made or handed on as a fact: nothing that a door calls with a caller's words.
OBSERVED = {
    ("gitmem.app.facts", "gather"), ("gitmem.app.facts", "resolutions"), ("gitmem.app.facts", "sources"),
}  # fmt: skip
# Whose transcripts are looked at, whose settings are written, what is asked of a model, whose key a policy names, and
# for whom a memory is: something is chosen, and nobody is said to have acted.
CHOSEN = {
    ("gitmem.app.capture", "capture"), ("gitmem.app.sessions", "rows"), ("gitmem.app.transcripts", "adapter_of"),
    ("gitmem.cli.capture", "capture"), ("gitmem.cli.sessions", "listing"), ("gitmem.cli.sessions", "search"),
    ("gitmem.cli.install", "install"),
    ("gitmem.app.distill_model", "ask"), ("gitmem.app.packages", "package"), ("gitmem.cli.package", "package"),
    ("gitmem.app.injection", "injected"), ("gitmem.app.injection_hosts", "said"),
    ("gitmem.app.injection_hosts", "silence"), ("gitmem.app.injection_log", "fired"),
    ("gitmem.app.injection_log", "note_failure"), ("gitmem.app.shown", "session"), ("gitmem.app.shown", "told_since"),
    ("gitmem.app.sessions_search", "is_asked"), ("gitmem.app.policies", "remove_signer"), ("gitmem.cli.policy", "add"),
    ("gitmem.cli.policy", "remove"), ("gitmem.cli.audit", "show"), ("gitmem.cli.remember", "remember"),
    ("gitmem.cli.remembering", "run"),
}  # fmt: skip
CHOSEN_OPTIONS = {
    ("capture", "host"), ("sessions", "host"), ("install", "user"), ("remember", "user"), ("package", "host"),
    ("audit", "actor"), ("audit", "channel"), ("policy", "principal"),
}  # fmt: skip


def modules(room: str) -> Iterator[ModuleType]:
    package = import_module(f"gitmem.{room}")
    for found in pkgutil.iter_modules(package.__path__):
        yield import_module(f"gitmem.{room}.{found.name}")


@pytest.mark.parametrize("room", ["app", "cli"])
def test_no_public_function_takes_an_actor(room: str) -> None:
    named = []
    for module in modules(room):
        for name, thing in vars(module).items():
            if name.startswith("_") or not isinstance(thing, FunctionType) or thing.__module__ != module.__name__:
                continue
            if ACTORS & set(inspect.signature(thing).parameters):
                named.append((module.__name__, name))
    allowed = {item for item in OBSERVED | CHOSEN if item[0].startswith(f"gitmem.{room}.")}
    assert set(named) == allowed  # the search finds what is there


def parts(command: Any) -> Iterator[Any]:
    """A command and all below it."""
    yield command
    for below in getattr(command, "commands", {}).values():
        yield from parts(below)


def test_no_option_argument_or_variable_names_an_actor() -> None:
    seen = set()
    for verb in VERBS:
        command = get_command(application(verb))
        for part in parts(command):
            for parameter in part.params:
                words = {str(parameter.name), *(name.lstrip("-") for name in parameter.opts)}
                assert all((verb, word) in CHOSEN_OPTIONS for word in words & ACTORS), (verb, words)
                assert not getattr(parameter, "envvar", None), (verb, words)
                seen |= words
    assert {"because", "evidence", "title"} <= seen
    assert not ACTORS & set(GLOBAL_HELP.split())


def test_the_environment_is_read_for_these_names_only() -> None:
    """A name that is read is a way in: each new one has to be thought about."""
    root = Path(gitmem.__file__).parent
    text = "\n".join(file.read_text() for file in root.rglob("*.py"))
    # GITMEM_SEMANTIC turns an optional lane of ranking off: nothing about who acts or what may be seen.
    # GITMEM_DISTILL_KEY is what a model's server asks for.
    own = text.replace("_GITMEM_COMPLETE", "").replace("GITMEM_SEMANTIC", "").replace("GITMEM_DISTILL_KEY", "")
    assert "GITMEM_" not in own, "no variable of gitmem's own decides anything"


def test_the_observed_channel_is_in_the_event(repo: Path, gitmem: Callable[..., object]) -> None:
    from tests.app.steps import POOL, events, put

    assert gitmem(repo, "init").code == 0  # type: ignore[attr-defined]
    for channel, title in (("terminal", POOL), ("agent", "Deploys wait for the weather"), ("ci", "Invoices are blue")):
        memory = put(gitmem, repo, title, channel=channel)  # type: ignore[arg-type]
        assert events(gitmem, repo, memory)[0]["actor"]["channel"] == channel  # type: ignore[arg-type]


def editor(tmp_path: Path, script: str) -> dict[str, str]:
    file = tmp_path / "editor with spaces.sh"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return {"EDITOR": f'"{file}"', "PATH": "/usr/bin:/bin"}


def test_the_editor_is_run_as_git_runs_it(tmp_path: Path, env: Callable[..., Env]) -> None:
    world = env(tmp_path)
    added = replace(world, environ=editor(tmp_path, 'echo "more ü" >> "$1"'))
    assert edit_text(added, "text\n", ".yaml") == "text\nmore ü\n"
    assert edit_text(replace(world, environ={"EDITOR": "true"}), "text\n", ".yaml") is None
    chosen = replace(world, environ={"EDITOR": "false", "VISUAL": "false", "GIT_EDITOR": "true"})
    assert edit_text(chosen, "text\n", ".yaml") is None


def test_an_editor_that_fails_is_named(tmp_path: Path, env: Callable[..., Env]) -> None:
    for command in ("false", "/nonexistent/editor"):
        with pytest.raises(GitmemError, match=f"{command}.*nothing was written"):
            edit_text(replace(env(tmp_path), environ={"EDITOR": command}), "text\n", ".yaml")
    binary = replace(env(tmp_path), environ=editor(tmp_path, "printf '\\377' > \"$1\""))
    with pytest.raises(GitmemError, match="UTF-8"):
        edit_text(binary, "text\n", ".yaml")


def test_the_state_of_a_user_follows_the_xdg_rules(tmp_path: Path, env: Callable[..., Env]) -> None:
    def home(**environ: str) -> str:
        return str(replace(env(tmp_path), environ=environ).state_home())

    assert home(HOME="/h") == "/h/.local/state/gitmem"
    assert home(HOME="/h", XDG_STATE_HOME="/s") == "/s/gitmem"
    assert home(HOME="/h", XDG_STATE_HOME="relative") == "/h/.local/state/gitmem"
    with pytest.raises(NoHome, match="no HOME"):
        home()
