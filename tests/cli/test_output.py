"""What is shown: colour only where it is wanted, JSON lines, nothing raw from a record."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest

from tests.app.steps import POOL, Run, proposed, put

ESCAPE = "\x1b"
WHY = ("--because", "it is so")


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


def test_there_is_colour_on_a_terminal_and_nowhere_else(
    repo: Path, gitmem: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(gitmem, repo, POOL)
    assert ESCAPE not in gitmem(repo, "list").out
    assert ESCAPE in gitmem(repo, "list", "--color", "always").out
    assert ESCAPE in gitmem(repo, "--color=always", "list").out
    monkeypatch.setattr("tests.app.conftest.StringIO", Terminal)
    monkeypatch.setenv("TERM", "xterm")
    assert ESCAPE in gitmem(repo, "list").out
    assert ESCAPE not in gitmem(repo, "list", "--color", "never").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert ESCAPE not in gitmem(repo, "list").out and ESCAPE in gitmem(repo, "list", "--color", "always").out
    monkeypatch.setenv("NO_COLOR", "")
    assert ESCAPE in gitmem(repo, "list").out
    monkeypatch.setenv("TERM", "dumb")
    assert ESCAPE not in gitmem(repo, "list").out


def test_every_answer_in_json_is_lines_of_json(repo: Path, gitmem: Run) -> None:
    memory, waits = (
        put(gitmem, repo, POOL, "--key", "pool.size"),
        proposed(gitmem, repo, "Deploys wait for the weather"),
    )
    gitmem(repo, "remember", "-k", "fact", "A claim without proof")
    (repo / "draft.yaml").write_text("kind: fact\ntitle: Invoices are blue\nevidence: [file:src/pool.py:2]\n")
    for words in (
        ["init"], ["list"], ["list", "--inbox"], ["list", "--refused"], ["recall", "pool"], ["show", memory],
        ["show", waits], ["key", "pool.size"], ["log"], ["log", memory], ["blame", memory], ["export", "--all"],
        ["verify", "--all"], ["doctor"], ["hooks", "status"], ["policy"], ["reindex"], ["schema", "memory"],
        ["check", "draft.yaml"], ["remember", "-f", "draft.yaml", "--dry-run"], ["remember", "-f", "draft.yaml"],
        ["edit", memory, "--tag", "x", *WHY], ["dispute", memory, *WHY], ["restore", memory, *WHY],
        ["accept", waits], ["supersede", memory, "Jitter spreads retries", "-e", "file:src/pool.py:1", *WHY],
    ):  # fmt: skip
        for placed in ([*words, "--json"], ["--json", *words])[: 1 if WHY[0] in words or words[0] == "accept" else 2]:
            ran = gitmem(repo, *placed)
            assert ran.code == 0 and ran.err == "" and ran.out, (placed, ran)
            if words[0] == "schema":
                assert json.loads(ran.out)["type"] == "object"
                continue
            assert all(isinstance(line, dict) for line in ran.lines), placed


def test_talk_is_on_standard_error_and_data_on_standard_output(repo: Path, gitmem: Run) -> None:
    done = gitmem(repo, "remember", "-k", "fact", POOL, "-e", "file:src/pool.py:2")
    assert (
        done.out.count("\n") == 2
        and POOL in done.out
        and "src/pool.py" in done.out
        and "remembered: gitmem show" in done.err
    )
    listed = gitmem(repo, "list")
    assert listed.err == "" and listed.out.count("\n") == 1
    bad = gitmem(repo, "show", "zzzz")
    assert bad.out == "" and bad.err.startswith("gitmem: no memory begins with 'zzzz'\n→ ")


def test_show_names_every_part_of_a_memory(repo: Path, gitmem: Run) -> None:
    other = put(gitmem, repo, "Deploys wait for the weather")
    memory = put(
        gitmem, repo, "We keep the pool small", "--ruled-out", "A large pool: the database has 100 slots", "--tag",
        "db", "--path", "src/**", "--alias", "how large is the pool", "--relates-to", other, "--valid-from",
        "2026-01-01", "--key", "pool.choice", "--body", "First.\n\nSecond.", kind="decision",
    )  # fmt: skip
    shown = gitmem(repo, "show", memory).out
    for text in (
        f"{memory}  decision  active", "We keep the pool small", "  First.\n\n  Second.\n", "origin        human",
        "rejected      A large pool: the database has 100 slots", "tags          db", "paths         src/**",
        "aliases       how large is the pool", f"relates_to    {other}", "valid         from 2026-01-01",
        "key           pool.choice", "verified  file:src/pool.py@", 'size = 20"', "review        0, unproven",
    ):  # fmt: skip
        assert text in shown, text
    assert all(line == line.rstrip() for line in shown.splitlines())
    raw = gitmem(repo, "show", memory, "--raw").out
    assert raw.startswith("# yaml-language-server") and "kind: decision\n" in raw


def test_evidence_that_changed_is_shown_as_changed(repo: Path, gitmem: Run) -> None:
    import subprocess

    memory = put(gitmem, repo, POOL)
    assert gitmem(repo, "show", memory, "--json").lines[0]["resolutions"][0]["state"] == "verified"
    subprocess.run(["git", "-C", str(repo), "checkout", "-q", "--orphan", "empty"], check=True)
    assert gitmem(repo, "show", memory).code == 0
