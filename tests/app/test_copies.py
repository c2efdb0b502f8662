"""`scan-secrets --value-file`: every copy of one value, wherever and however it is kept; never repeated."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.app import copies as looking
from gitmem.policy.spellings import spellings
from tests.app.steps import POOL, Run, put
from tests.conftest import git
from tests.installed import agent, person

VALUE = 'harbour "Lamp"/9 für'  # no rule knows it, and each encoding changes it


@settings(deadline=None)
@given(st.text(st.characters(codec="utf-8"), min_size=6, max_size=40), st.binary(max_size=8), st.binary(max_size=8))
def test_what_an_encoder_makes_of_a_value_holds_one_of_its_spellings(value: str, before: bytes, after: bytes) -> None:
    raw = value.encode()
    needles = spellings(value)
    around = before + raw + after
    for made in (
        raw, raw.hex().encode(), base64.b64encode(around), base64.urlsafe_b64encode(around),
        json.dumps({"a": value}).encode(), json.dumps(value, ensure_ascii=False).encode(),
        json.dumps(json.dumps(value)).encode(),
    ):  # fmt: skip
        assert any(needle in made for needle in needles)
    assert not any(needle in b"nothing of the sort" for needle in spellings("harbour-Lamp-9"))


def test_every_copy_is_found_in_every_encoding_and_never_repeated(repo: Path, seal: Path, tmp_path: Path) -> None:
    def look(*flags: str) -> list[dict[str, str]]:
        ran = agent(repo, "scan-secrets", "--json", "--value-file", *flags, stdin=VALUE)
        *lines, last = ran.lines
        assert ran.code == (3 if lines else 0) and last["found"] == len(lines), ran.err
        assert last["looked_at"]["objects"] > 10 and last["looked_at"]["files"] > 1 and not last["unread"]
        shown = agent(repo, "scan-secrets", "--value-file", *flags, stdin=VALUE)
        for said in (ran.out + ran.err, shown.out + shown.err):
            assert not any(needle.decode() in said for needle in spellings(VALUE))
        return lines

    person(repo, "init")
    person(repo, "remember", "-k", "fact", "Invoices are numbered", "--evidence", "human:they are numbered")
    value = tmp_path / "value"
    value.write_text(f"{VALUE}\n")
    before = {path for path in (repo / ".git").rglob("*") if path.is_file()}
    assert look(str(value)) == look("-") == []  # a control for all that follows
    assert {path for path in (repo / ".git").rglob("*") if path.is_file()} == before  # the canaries are gone again

    stored = person(
        repo, "remember", "-k", "fact", f"The pool is {VALUE} and has a limit", "--evidence", "human:so it is"
    )
    assert stored.code == 0, stored.err
    loose = git(repo, "hash-object", "-w", "--stdin", input=base64.b64encode(f"ab {VALUE}".encode()).decode()).strip()
    hexed = git(repo, "hash-object", "-w", "--stdin", input=VALUE.encode().hex()).strip()
    git(repo, "gc", "--quiet")  # what is on a ref lies in a pack now
    (repo / ".git/gitmem/outbox").mkdir(exist_ok=True)
    (repo / ".git/gitmem/outbox/one.json").write_text(json.dumps({"draft": VALUE}))
    (seal / ".local/state/gitmem").mkdir(parents=True, exist_ok=True)
    (seal / ".local/state/gitmem/note").write_text(VALUE)
    git(repo, "update-ref", "--create-reflog", "-m", f"kept for {VALUE}", "refs/gitmem/kept",
        "refs/heads/gitmem/main")  # fmt: skip

    found = look("-")
    kinds = {(one["encoding"], one["place"], one["held"]) for one in found}
    assert ("JSON", "blob", "refs") in kinds or ("plain", "blob", "refs") in kinds
    assert {one["name"]: (one["encoding"], one["held"]) for one in found if one["name"] in (loose, hexed)} == {
        loose: ("base64", "elsewhere"), hexed: ("hexadecimal", "elsewhere"),
    }  # fmt: skip
    files = {one["name"] for one in found if one["place"] == "file"}
    assert {"gitmem/outbox/one.json", "gitmem/note"} <= files
    assert any(one["place"] == "reflog" and one["name"] == "refs/gitmem/kept" for one in found)


def test_a_search_that_misses_its_canary_proves_nothing(
    repo: Path, gitmem: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gitmem(repo, "init")
    put(gitmem, repo, POOL)
    value, short = tmp_path / "value", tmp_path / "short"
    value.write_text("harbour-Lamp-9")
    short.write_text("abc")
    assert gitmem(repo, "scan-secrets", "--value-file", str(value)).code == 0
    assert gitmem(repo, "scan-secrets", "--value-file", str(short)).code == 2
    monkeypatch.setattr(looking, "write_loose", lambda *_: None)
    ran = gitmem(repo, "scan-secrets", "--value-file", str(value))
    assert ran.code == 7 and "proves nothing" in ran.err
