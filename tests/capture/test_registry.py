"""The table of adapters: lazy, open to plugins, and not to be taken over by one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import pytest

from gitmem.capture import codex, registry
from gitmem.capture.registry import GROUP, adapters
from gitmem.errors import GitmemError

Plugins = Callable[..., None]


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Plugins:
    """Install entry points: names to what they load."""

    def install(**loaded: object) -> None:
        module = SimpleNamespace(**loaded)
        monkeypatch.setitem(sys.modules, "some_plugin", module)
        entries = [EntryPoint(name.replace("_", "-"), f"some_plugin:{name}", GROUP) for name in loaded]
        entries.append(EntryPoint("broken", "no_such_package", GROUP))
        monkeypatch.setattr("importlib.metadata.entry_points", lambda group: entries if group == GROUP else [])
        registry._plugins.cache_clear()

    monkeypatch.setattr(registry, "_plugins", registry._plugins)
    yield install
    registry._plugins.cache_clear()


def adapter(host: str, **more: object) -> SimpleNamespace:
    names = ("rules", "suffix", "origins", "watched", "open", "turns")
    return SimpleNamespace(**{"host": host, **{name: getattr(codex, name) for name in names}, **more})


def test_a_plugin_is_an_adapter_like_ours(plugins: Plugins) -> None:
    mine = adapter("my-host")
    plugins(my_host=mine)
    table = adapters()
    assert table["my-host"] is mine
    assert "my-host" in table
    assert list(table)[:2] == ["claude-code", "codex"]
    assert len(table) == len(list(table)) == 12
    assert table["codex"] is codex


def test_a_plugin_does_not_take_the_name_of_a_host_that_is_known(plugins: Plugins) -> None:
    plugins(codex=adapter("codex"), other=adapter("other"))
    assert adapters()["codex"] is codex
    assert list(adapters()).count("codex") == 1
    assert "other" in adapters()


def test_a_plugin_that_does_not_load_or_fit_is_named(plugins: Plugins) -> None:
    half = SimpleNamespace(host="half", rules=1)
    plugins(half=half, liar=adapter("codex"), good=adapter("good"))
    assert adapters()["good"]
    for name, reason in [("broken", "no_such_package"), ("half", "suffix"), ("liar", "calls itself 'codex'")]:
        with pytest.raises(GitmemError, match=reason) as error:
            adapters()[name]
        assert name in error.value.message
        assert error.value.hint


def test_an_unknown_host_is_no_key(plugins: Plugins) -> None:
    plugins()
    assert "emacs" not in adapters()
    with pytest.raises(KeyError):
        adapters()["emacs"]


def test_one_adapter_loads_no_other_and_nothing_heavy() -> None:
    program = (
        "import sys; from gitmem.capture.registry import adapters; adapters()['claude-code'].rules; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "gitmem.capture.claude_code" in loaded
    assert not loaded & {"gitmem.capture.codex", "sqlite3", "pydantic", "importlib.metadata", "tempfile", "subprocess"}
