"""What the verbs say about captured sessions, and giving one back."""

from __future__ import annotations

import json
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from tests.conftest import git
from tests.installed import person
from tests.sessions.hosts import SESSION, Host, line, make_host, said


def talk(host: Host) -> bytes:
    """A person, an assistant that runs a command, its result, and what the host puts in by itself."""
    rows = [
        said(1, "Why does the redis pool time out at night?", host.repo),
        said(2, "I look at the pool.", host.repo, "assistant"),
        said(3, "", host.repo, "assistant"),
        said(4, "", host.repo),
        said(5, "<system-reminder>The redis pool is watched.</system-reminder>", host.repo),
    ]
    tool = {
        "type": "tool_use",
        "id": "toolu_01",
        "name": "Edit",
        "input": {"file_path": str(host.repo / "src/pool.py")},
    }
    rows[2]["message"]["content"] = [tool]
    rows[3]["message"]["content"] = [
        {
            "type": "tool_result",
            "tool_use_id": "toolu_01",
            "content": "412 passed in 31.20s\n1 warning",
            "is_error": False,
        }
    ]
    data = b"".join(map(line, rows))
    host.write(data)
    host.capture()
    return data


def test_a_session_is_recorded_cited_deleted_verified_and_restored(host: Host) -> None:
    data = talk(host)
    assert person(host.repo, "init").code == 0
    cite = 'transcript:8c2f#toolu_01:"412 passed"'
    done = person(host.repo, "remember", "-k", "fact", "The nightly run has 412 tests", "-e", cite, "--json")
    assert done.code == 0, done.err
    memory = done.lines[0]["id"]
    git(host.repo, "gc", "-q", "--prune=now")
    host.path().unlink()
    shown = host.run("show", memory, "--json").lines[0]
    text = host.run("show", memory)
    assert "verified" in text.out and "claude-code has deleted the session" in text.out and text.code == 0
    (ref,) = shown["evidence"]
    (turn,) = host.run("sessions", "show", SESSION, "--record", "toolu_01", "-r", "tool", "--proof", "--json").lines
    proved = subprocess.run(["sh", "-c", turn["proof"]], cwd=host.repo, capture_output=True, text=True, check=True)
    assert proved.stdout.split()[0] == ref["sha256"]
    assert host.run("sessions", "restore", SESSION).code == 0
    assert host.path().read_bytes() == data
    assert host.capture()["captured"] == 0
    assert person(host.repo, "verify", "--all").code == 0


def test_the_list_says_how_much_and_whether_the_host_has_it(host: Host) -> None:
    data = talk(host)
    (row,) = host.run("sessions", "list", "--json").lines
    assert (row["session"], row["turns"], row["bytes"], row["origin"]) == (SESSION, 5, len(data), "there")
    assert (row["first"], row["last"]) == ("2026-03-01T00:01:00Z", "2026-03-01T00:05:00Z")
    host.path().unlink()
    assert "deleted by the host" in host.run("sessions", "list").out
    assert host.run("sessions", "list", "--json", "--host", "codex").lines == []


def test_turns_are_shown_with_what_they_are_cited_by(host: Host) -> None:
    talk(host)
    turns = host.run("sessions", "show", "8c2f", "--json").lines
    assert [turn["speaker"] for turn in turns] == ["human", "assistant", "assistant", "tool", "harness"]
    text = host.run("sessions", "show", "8c2f", "--role", "tool", "--full").out
    assert "#00000004" in text and "    412 passed in 31.20s\n    1 warning\n" in text
    assert host.run("sessions", "show", "8c2f", "--role", "robot").code == 2
    assert host.run("sessions", "show", "ffff").code == 4


def test_search_cites_or_says_what_it_looked_at(host: Host) -> None:
    talk(host)
    first, *_, summary = host.run("sessions", "search", "redis", "pool", "--json").lines
    assert first["cite"] == f"transcript:claude-code/{SESSION}#00000001-0000-4000-8000-000000000000"
    assert (summary["summary"]["total"], summary["summary"]["coverage"]["skipped"]) == (1, {"harness": 1})
    assert host.run("sessions", "search", "redis", "pool", "--all", "--json").lines[-1]["summary"]["total"] == 2
    most = host.run("sessions", "search", "which", "redis", "pool", "passed", "--json").lines  # not all in one turn
    assert first["cite"] in [line.get("cite") for line in most]
    none = host.run("sessions", "search", "redis", "kubernetes")
    assert none.code == 0 and "no turn has most of these words: redi in 1 turn, kubernet in 0 turns" in none.out
    assert "nothing of: codex" in none.err and "claude-code (1 session, 4 turns, " in none.err


def test_a_hit_shows_the_place_of_the_match_also_of_a_session_that_was_named(host: Host) -> None:
    assert person(host.repo, "init").code == 0
    host.say("filler words come first. " * 40 + "Then the zeppelin needs helium badly. " + "and more after it. " * 40)
    named = host.path().rename(host.repo.parent / "elsewhere.jsonl")
    unknown = host.run("capture", str(named))
    assert unknown.code == 2 and "one of claude-code, codex, cursor" in unknown.err
    assert host.run("capture", "--host", "claude-code", str(named)).code == 0
    found = host.run("sessions", "search", "zeppelin", "helium")
    assert "the zeppelin needs helium badly" in found.out and "claude-code" in found.err
    assert "nothing of: codex" in found.err  # and not of the host that the hit is from
    start = host.run("sessions", "search", "filler", "words")
    assert "  filler words come first" in start.out and "zeppelin" not in start.out
    assert "no session is captured" not in host.run("lessons").err


@pytest.mark.parametrize(
    ("options", "total"),
    [
        (["--role", "tool"], 1),
        (["--role", "human"], 0),
        (["--host", "codex"], 0),
        (["--since", "2026-03-01T00:04:00Z"], 1),
        (["--until", "2026-03-01T00:04:00Z"], 0),
        (["--session", "8c2f"], 1),
        (["--session", "claude-code/8c2f"], 1),
        (["--session", "9"], 0),
        (["--path", "src/pool.py"], 1),
        (["--path", "src"], 1),
        (["--path", "rc/pool.py"], 0),
    ],
)
def test_a_search_is_narrowed(host: Host, options: list[str], total: int) -> None:
    talk(host)
    assert host.run("sessions", "search", "passed", "--json", *options).lines[-1]["summary"]["total"] == total


def test_a_search_is_in_the_order_that_was_asked(host: Host) -> None:
    host.say("redis redis redis", "the redis pool is slow and the night is long and dark", "redis")
    host.capture()
    texts = {
        order: [hit["text"] for hit in host.run("sessions", "search", "redis", "--order", order, "--json").lines[:-1]]
        for order in ("relevance", "time")
    }
    assert texts["time"][0] == "redis" and texts["relevance"][0] == "redis redis redis"
    assert texts["relevance"][-1].startswith("the redis pool")


def test_damage_is_named(host: Host) -> None:
    talk(host)
    assert host.run("sessions", "verify").code == 0
    manifest = host.manifest()
    manifest["generations"][0]["chunks"][0]["sha256"] = "0" * 64
    blob = git(host.repo, "hash-object", "-w", "--stdin", input=json.dumps(manifest)).strip()
    rows = git(host.repo, "ls-tree", host.ref).splitlines()
    changed = "\n".join(row if "manifest" not in row else f"100644 blob {blob}\tmanifest.json" for row in rows)
    tree = git(host.repo, "mktree", input=changed + "\n").strip()
    git(host.repo, "update-ref", host.ref, git(host.repo, "commit-tree", "-m", "bad", tree).strip())
    bad = host.run("sessions", "verify", "8c2f")
    assert bad.code == 3 and "does not hash to its manifest" in bad.out


def test_one_damaged_session_hides_no_other(host: Host) -> None:
    talk(host)
    git(host.repo, "update-ref", host.ref.replace(SESSION, "broken"), "HEAD")
    listed = host.run("sessions", "list")
    assert SESSION in listed.out and "damaged: refs/gitmem/sessions/" in listed.err and listed.code == 0
    found = host.run("sessions", "search", "passed")
    assert "412 passed" in found.out and "damaged" in found.err
    bad = host.run("sessions", "verify")
    assert bad.code == 3 and "holds no session" in bad.out
    assert host.capture()["unchanged"] == 1


def test_what_a_fetched_session_says_of_itself_is_escaped(host: Host) -> None:
    """A manifest may hold any text; no terminal is told what to do by it."""
    talk(host)
    row = host.manifest()
    row["session"] = "evil\u001b[2J"
    blob = git(host.repo, "hash-object", "-w", "--stdin", input=json.dumps(row)).strip()
    rows = git(host.repo, "ls-tree", host.ref).splitlines()
    changed = "\n".join(item if "manifest" not in item else f"100644 blob {blob}\tmanifest.json" for item in rows)
    tree = git(host.repo, "mktree", input=changed + "\n").strip()
    commit = git(host.repo, "commit-tree", "-m", "evil", tree).strip()
    from gitmem.model.layout import session_ref

    git(host.repo, "update-ref", session_ref("claude-code", row["session"]), commit)
    for words in (
        ["list"],
        ["show", "evil"],
        ["search", "passed"],
        ["verify"],
        ["restore", "evil", "--dry-run", "--to", "x"],
    ):
        said = host.run("sessions", *words)
        assert "\x1b" not in said.out + said.err and ("evil" in said.out + said.err or words == ["verify"])


def test_restore_never_writes_over_and_gives_all_or_nothing(host: Host) -> None:
    data = talk(host)
    child = host.path().with_suffix("") / "subagents/agent-a1.jsonl"
    child.parent.mkdir(parents=True)
    child.write_bytes(line({**said(1, "look at the pool", host.repo), "isSidechain": True, "agentId": "a1"}))
    small = child.read_bytes()
    host.capture()
    assert "nothing to restore" in host.run("sessions", "restore", SESSION).out
    host.path().unlink()
    child.write_bytes(b"something else\n")
    refused = host.run("sessions", "restore", SESSION)
    assert refused.code == 3 and str(child) in refused.err
    assert not host.path().exists() and child.read_bytes() == b"something else\n"
    child.unlink()
    dry = host.run("sessions", "restore", SESSION, "--dry-run", "--json").lines
    assert len(dry) == 2 and not host.path().exists()
    done = host.run("sessions", "restore", SESSION, "--json").lines
    assert [row["sha256"] for row in done] == [sha256(data).hexdigest(), sha256(small).hexdigest()]
    assert (host.path().read_bytes(), child.read_bytes()) == (data, small)
    assert not [path for path in host.projects.rglob("*") if "restoring" in path.name]


def test_another_clone_needs_to_be_told_where(host: Host, tmp_path: Path) -> None:
    data = talk(host)
    clone = tmp_path / "clone"
    git(host.repo.parent, "clone", "-q", str(host.repo), str(clone))
    git(clone, "fetch", "-q", "origin", "+refs/gitmem/sessions/*:refs/gitmem/sessions/*")
    there = Host(clone, host.projects)
    assert there.run("sessions", "list", "--json").lines[0]["origin"] == "elsewhere"
    refused = there.run("sessions", "restore", SESSION)
    assert refused.code == 4 and "--to" in refused.err
    assert there.run("sessions", "restore", SESSION, "--to", str(tmp_path / "out")).code == 0
    (copy,) = (tmp_path / "out").iterdir()
    assert copy.read_bytes() == data


def test_a_clone_without_the_session_believes_the_memory_and_says_what_it_cannot_see(
    host: Host, tmp_path: Path
) -> None:
    talk(host)
    assert person(host.repo, "init").code == 0
    words = ["remember", "-k", "fact", "The nightly run has 412 tests", "-e", "transcript:8c2f#toolu_01", "--json"]
    memory = person(host.repo, *words).lines[0]["id"]
    clone = tmp_path / "clone"
    git(host.repo.parent, "clone", "-q", str(host.repo), str(clone))
    git(clone, "fetch", "-q", "origin", "gitmem/main:gitmem/main")
    assert person(clone, "trust", "--yes").code == 0
    assert person(clone, "verify", "--all").code == 0
    shown = person(clone, "show", memory)
    assert "active" in shown.out and "unobservable" in shown.out and "not in this clone" in shown.out
    assert not git(clone, "for-each-ref", "refs/gitmem/sessions")


def test_all_work_trees_share_what_is_captured_whatever_the_objects(tmp_path: Path) -> None:
    where, beside = tmp_path / "shop", tmp_path / "beside"
    where.mkdir()
    git(where, "init", "-q", "--object-format=sha256")
    git(where, "commit", "-q", "--allow-empty", "-m", "begin")
    git(where, "worktree", "add", "-q", str(beside))
    host = make_host(where)
    path = host.say("in the main work tree")
    host.write(line(said(1, "in the other one", beside, session="other")), "other")
    host.write(line(said(1, "in another repository", tmp_path / "elsewhere", session="foreign")), "foreign")
    there = Host(beside, host.projects)
    assert there.capture()["sessions"].keys() == {SESSION, "other"}
    assert host.capture()["unchanged"] == 2
    ref = next(row["ref"] for row in host.run("sessions", "list", "--json").lines if row["session"] == SESSION)
    assert there.stored(ref=ref) == path.read_bytes()


def test_what_is_archived_goes_on_when_the_session_does(host: Host) -> None:
    from gitmem.app.capture_archive import archive_sealed
    from gitmem.app.env import observe
    from gitmem.app.workspace import open_workspace

    host.say("first")
    host.capture()
    workspace = open_workspace(observe(str(host.repo)))
    assert archive_sealed(workspace, at_once=True) == 1
    workspace.close()
    assert not git(host.repo, "for-each-ref", "refs/gitmem/sessions/")
    assert host.run("sessions", "show", "8c2f", "--json").lines[0]["text"] == "first"
    before = host.objects()
    assert host.capture()["captured"] == 0 and host.objects() == before
    path = host.say("second", first=2)
    host.capture()
    assert host.stored() == path.read_bytes()
    assert git(host.repo, "rev-list", "--count", host.ref).strip() == "1"
    assert len(host.run("sessions", "list", "--json").lines) == 1
