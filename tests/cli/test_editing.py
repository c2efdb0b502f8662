"""Drafts from the editor: opened again with the reasons until they are taken or left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.steps import POOL, Run, ids, put, tips

GOOD = f"kind: fact\ntitle: {POOL}\nevidence:\n  - file:src/pool.py:2\n"
WHY = ("--because", "it is so")


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0


def editor(folder: Path, monkeypatch: pytest.MonkeyPatch, *texts: str) -> Path:
    """An editor that leaves each of `texts` in turn and then changes nothing; the folder of what it was shown."""
    seen = folder / "seen"
    seen.mkdir()
    for number, text in enumerate(texts):
        (seen / f"write-{number}").write_text(text)
    script = folder / "editor.sh"
    script.write_text(
        f'#!/bin/sh\nn=$(ls "{seen}" | grep -c shown)\ncp "$1" "{seen}/shown-$n"\n'
        f'[ -f "{seen}/write-$n" ] && cp "{seen}/write-$n" "$1"\nexit 0\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(script))
    return seen


def test_a_draft_is_written_in_the_editor(
    repo: Path, gitmem: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = editor(tmp_path, monkeypatch, GOOD)
    done = gitmem(repo, "remember", "--edit")
    assert done.code == 0 and POOL in done.out
    template = (seen / "shown-0").read_text()
    assert template.startswith("# yaml-language-server: $schema=") and 'title: ""' in template


def test_a_refused_draft_is_opened_again_with_the_reasons(
    repo: Path, gitmem: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = f"kind: fact\ntitle: {POOL}\n"
    broken = "kind: fact\n title: [\n"
    seen = editor(tmp_path, monkeypatch, broken, bare, GOOD)
    assert gitmem(repo, "remember", "--edit").code == 0
    assert "not valid YAML" in (seen / "shown-1").read_text() and broken in (seen / "shown-1").read_text()
    again = (seen / "shown-2").read_text()
    assert "#! evidence.missing" in again and again.endswith(bare)
    assert ids(gitmem(repo, "list", "--json")) != []


def test_a_refused_draft_that_is_left_as_it_is_ends_with_its_reasons(
    repo: Path, gitmem: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare = f"kind: fact\ntitle: {POOL}\n"
    before = tips(repo)
    editor(tmp_path, monkeypatch, bare)
    left = gitmem(repo, "remember", "--edit")
    assert left.code == 3 and "evidence.missing" in left.err and tips(repo) == before
    # An editor that writes the same again, without the reasons, is no endless loop.
    (tmp_path / "two").mkdir()
    seen = editor(tmp_path / "two", monkeypatch, bare, bare, bare)
    assert gitmem(repo, "remember", "--edit").code == 3
    assert len(list(seen.glob("shown-*"))) == 2


def test_what_is_left_unchanged_is_not_written(repo: Path, gitmem: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    memory, before = put(gitmem, repo, POOL), None
    before = tips(repo)
    monkeypatch.setenv("EDITOR", "true")
    for words in (["remember", "--edit"], ["edit", memory, "--edit", *WHY]):
        left = gitmem(repo, *words)
        assert left.code == 2 and "nothing was written" in left.err
    monkeypatch.setenv("EDITOR", "false")
    failed = gitmem(repo, "remember", "--edit")
    assert failed.code == 1 and "the editor 'false' ended with 1" in failed.err
    assert tips(repo) == before


def test_a_file_is_finished_in_the_editor(
    repo: Path, gitmem: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "start.yaml").write_text(f"# mine\nkind: fact\ntitle: {POOL}\n")
    seen = editor(tmp_path, monkeypatch, GOOD)
    assert gitmem(repo, "remember", "--edit", "--file", "start.yaml").code == 0
    assert (seen / "shown-0").read_text() == (repo / "start.yaml").read_text()


def test_a_memory_is_edited_in_the_editor_with_new_evidence_in_short(
    repo: Path, gitmem: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = put(gitmem, repo, POOL, "--tag", "db")
    shown = editor(tmp_path, monkeypatch) / "shown-0"
    gitmem(repo, "edit", memory, "--edit", *WHY)
    text = shown.read_text()
    (tmp_path / "two").mkdir()
    changed = text.replace(POOL, f"{POOL}, no more").rstrip("\n") + "\n  - file:src/pool.py:1\n"
    editor(tmp_path / "two", monkeypatch, changed)
    done = gitmem(repo, "edit", memory, "--edit", "--tag", "new", *WHY)
    assert done.code == 0, done.err
    now = gitmem(repo, "show", memory, "--json").lines[0]
    assert now["title"] == f"{POOL}, no more" and now["tags"] == ["db", "new"] and len(now["evidence"]) == 2
    assert now["evidence"][1]["lines"] == "1" and gitmem(repo, "verify", "--all").code == 0


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [("kind: fact", "kind: convention", "field.immutable"), ("audience: team", "audience: private", "audience.store")],
)
def test_what_stays_cannot_be_edited_away(
    repo: Path, gitmem: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, code: str
) -> None:
    memory = put(gitmem, repo, POOL)
    shown = editor(tmp_path, monkeypatch) / "shown-0"
    gitmem(repo, "edit", memory, "--edit", *WHY)
    (tmp_path / "two").mkdir()
    editor(tmp_path / "two", monkeypatch, shown.read_text().replace(old, new))
    refused = gitmem(repo, "edit", memory, "--edit", *WHY)
    assert refused.code == 3 and code in refused.err
