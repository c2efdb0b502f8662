"""`gitmem capture` by the installed command: what is stored of a transcript, and what is not stored twice."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from base64 import b64decode, b64encode

from tests.conftest import git
from tests.sessions.hosts import PROGRAM, SESSION, Host, everything, line, raw, said

SECRET = "ghp_" + "8fKq2LmN4pRsT6vWxYz1A3bC5dE7gH9jK0aQ"[:36]
PNG = b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40).decode()


def test_bytes_are_stored_as_they_are_and_nothing_is_stored_twice(host: Host) -> None:
    path = host.say("our git status has broken, why?", "and — “now”? 日本")
    assert host.capture()["sessions"][SESSION]["state"] == "new"
    assert host.stored() == path.read_bytes()
    before = host.objects()
    again = host.capture()
    assert (again["captured"], again["unchanged"]) == (0, 1)
    path.touch()  # another time, the same bytes
    assert host.capture()["captured"] == 0
    assert host.objects() == before
    host.say("a third thing", first=3)
    assert host.capture()["sessions"][SESSION]["state"] == "grown"
    assert host.stored() == path.read_bytes() and host.objects() > before


def test_a_sweep_of_one_turn_writes_few_objects(host: Host) -> None:
    host.say("one")
    host.capture()
    before = host.objects()
    for number in range(2, 5):
        host.say("x" * 3000, first=number)
        host.capture()
        assert 0 < len(host.objects() - before) <= 6
        before = host.objects()


def test_a_torn_line_waits_and_a_whole_one_without_an_end_does_not(host: Host) -> None:
    whole, second = line(said(1, "first", host.repo)), line(said(2, "a cut in 🎉 here", host.repo))
    cut = second.index("🎉".encode()) + 2
    path = host.write(whole + second[:cut])
    host.capture()
    assert host.stored() == whole
    host.write(second[cut:-1])
    host.capture()
    assert host.stored() == whole + second[:-1] == path.read_bytes()
    host.write(b"\n" + line(said(3, "third", host.repo)))
    host.capture()
    assert host.stored() == path.read_bytes()
    assert [row["text"] for row in host.run("sessions", "show", SESSION, "--json").lines] == [
        "first", "a cut in 🎉 here", "third",
    ]  # fmt: skip


def test_a_file_that_begins_with_a_torn_line_is_stored_when_it_has_one(host: Host) -> None:
    row = line(said(1, "first", host.repo))
    more = line(said(2, "second", host.repo))
    host.write(row[:-20])
    host.run("capture", "--json")
    assert not host.ref
    host.write(row[-20:] + more)
    host.capture()
    assert host.stored() == row + more


def test_bad_bytes_stay_as_they_are(host: Host) -> None:
    row = line(said(1, "first", host.repo))
    path = host.write(row + b"\0" * 300 + b"\n" + b'{"bad": "\xff\xfe"}\r\n' + row[:-1] + row + b"no json at all\n")
    host.capture()
    assert host.stored() == path.read_bytes()
    shown = host.run("sessions", "show", SESSION)  # and it is told where they are
    assert (
        f"3 records cannot be read, or not all of it; kept as it is, bytes {len(row)}-{len(row) + 300}, " in shown.err
    )
    assert len(host.run("sessions", "show", SESSION, "--json").lines[-1]["summary"]["damaged"]) == 3


def test_a_rewritten_file_begins_a_generation_beside_the_old_one(host: Host) -> None:
    path = host.say("first", "second")
    old = path.read_bytes()
    host.capture()
    path.write_bytes(line(said(9, "compacted", host.repo)))
    assert host.capture()["sessions"][SESSION]["state"] == "rewritten"
    assert (host.stored(1), host.stored(2)) == (old, path.read_bytes())
    host.say("and on", first=10)
    host.capture()
    assert host.stored(2) == path.read_bytes()
    assert host.run("sessions", "verify").code == 0


def test_a_file_that_shrank_to_a_prefix_and_grew_elsewhere_is_rewritten(host: Host) -> None:
    path = host.say("first", "second")
    old = path.read_bytes()
    host.capture()
    path.write_bytes(old[: old.index(b"\n") + 1])
    host.capture()
    host.say("another second", first=2)
    host.capture()
    assert host.stored(1) == old
    assert host.stored(host.manifest()["generations"][-1]["number"]) == path.read_bytes()


def test_generations_of_a_day_are_capped_and_it_is_said(host: Host) -> None:
    from gitmem.app.capture_sweep import GENERATIONS_A_DAY

    path = host.say("state 0")
    for number in range(GENERATIONS_A_DAY):
        host.capture()
        path.write_bytes(line(said(number, f"state {number + 1}", host.repo)))
    before = host.objects()
    done = host.capture()["sessions"][SESSION]
    assert done["state"] == "degraded" and "tomorrow" in done["detail"]
    assert host.objects() == before and len(host.manifest()["generations"]) == GENERATIONS_A_DAY


def test_state_that_was_lost_costs_a_comparison_and_no_second_copy(host: Host) -> None:
    path = host.say("first", f"the token is {SECRET}", "third")
    host.capture()
    before = host.objects()
    (host.repo / ".git/gitmem/capture.json").unlink()
    assert host.capture()["captured"] == 0 and host.objects() == before
    (host.repo / ".git/gitmem/capture.json").write_bytes(b"{")
    host.say("fourth", first=4)
    assert host.capture()["sessions"][SESSION]["state"] == "grown"
    assert len(host.manifest()["generations"]) == 1
    assert host.stored().splitlines()[3] == path.read_bytes().splitlines()[3]


def test_a_rewrite_is_seen_without_the_state_too(host: Host) -> None:
    path = host.say("first", f"the token is {SECRET}", "third")
    host.capture()
    path.write_bytes(path.read_bytes().replace(b"third", b"fourth"))
    (host.repo / ".git/gitmem/capture.json").unlink()
    assert host.capture()["sessions"][SESSION]["state"] == "rewritten"


def test_a_ref_that_was_set_back_is_caught_up_again(host: Host) -> None:
    """The state is ahead of what is stored; it must not be believed."""
    path = host.say("first")
    host.capture()
    old = git(host.repo, "rev-parse", host.ref).strip()
    host.say("second", first=2)
    host.capture()
    git(host.repo, "update-ref", host.ref, old)
    host.say("third", first=3)
    host.capture()
    assert host.stored() == path.read_bytes() and len(host.manifest()["generations"]) == 1


def test_a_ref_that_was_deleted_is_made_again(host: Host) -> None:
    path = host.say("first")
    host.capture()
    git(host.repo, "update-ref", "-d", host.ref)
    host.say("second", first=2)
    host.capture()
    assert host.stored() == path.read_bytes()


def test_what_was_given_back_with_markers_goes_on_where_it_ended(host: Host) -> None:
    path = host.say("first", f"the token is {SECRET}", "third")
    host.capture()
    path.unlink()
    assert host.run("sessions", "restore", SESSION).code == 0
    assert SECRET.encode() not in path.read_bytes()
    before = host.objects()
    assert host.capture()["captured"] == 0 and host.objects() == before
    host.say("fourth", first=4)
    assert host.capture()["sessions"][SESSION]["state"] == "grown"
    host.say("fifth", first=5)
    host.capture()
    assert host.stored() == path.read_bytes() and len(host.manifest()["generations"]) == 1


def test_a_second_run_ends_at_once(host: Host) -> None:
    host.say("first")
    (host.repo / ".git/gitmem").mkdir(exist_ok=True)
    with (host.repo / ".git/gitmem/capture.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = host.run("capture")
        assert done.code == 0 and "another capture is at work" in done.out and not host.ref
    assert host.capture()["captured"] == 1


def test_many_at_once_store_everything_once(host: Host) -> None:
    for number in range(20):
        host.write(line(said(number, f"session {number}", host.repo, session=f"s{number}")), f"s{number}")
    runs = [subprocess.Popen([PROGRAM, "capture"], cwd=host.repo, stdout=subprocess.DEVNULL) for _ in range(4)]
    assert [run.wait() for run in runs] == [0] * 4
    host.capture()
    refs = git(host.repo, "for-each-ref", "--format=%(refname)", "refs/gitmem/sessions").split()
    assert len(refs) == 20
    for ref in refs:
        assert git(host.repo, "rev-list", "--count", ref).strip() == "1"
        assert host.stored(ref=ref) == host.path(host.manifest(ref)["session"]).read_bytes()


def test_a_secret_is_nowhere_and_its_line_and_rule_are_named(host: Host) -> None:
    (host.repo / ".env").write_text("DATABASE_PASSWORD=correct-horse-9battery\n")
    host.say("first", f"use {SECRET} for it", "or correct-horse-9battery")
    assert host.capture()["removed"] == 2
    held = everything(host.repo)
    for secret in (SECRET.encode(), b"correct-horse-9battery"):
        assert secret not in held
        assert secret.hex().encode() not in held and b64encode(secret)[:-4] not in held
    removed = host.manifest()["generations"][0]["removed"]
    assert sorted(number for lines in removed.values() for number in lines) == [2, 3]
    lines = host.stored().splitlines()
    assert b"[gitmem:removed " in lines[1] and all(json.loads(one) for one in lines)
    assert b"first" in held  # the search finds what is there


def test_no_path_of_this_machine_stands_in_what_can_be_shared(host: Host) -> None:
    home = os.environ["HOME"].encode()
    host.say(f"my home is {home.decode()}")
    host.capture()
    assert home in host.stored()  # the transcript says it itself
    for kind, name in (("commit", host.ref), ("tree", f"{host.ref}^{{tree}}"), ("blob", f"{host.ref}:manifest.json")):
        assert home not in raw(host.repo, name, kind)
    assert home in (host.repo / ".git/gitmem/capture.json").read_bytes()


def test_images_lie_apart_and_once(host: Host) -> None:
    block = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    row = said(1, "", host.repo)
    row["message"]["content"] = [block, block]
    path = host.write(line(row) + line(said(2, "what is it?", host.repo)))
    host.capture()
    (apart,) = host.manifest()["generations"][0]["apart"]
    assert apart["type"] == "image/png"
    assert raw(host.repo, f"{host.ref}:apart/{apart['sha256']}") == b64decode(PNG)
    assert PNG.encode() not in host.stored() and host.stored().count(b"[gitmem:apart ") == 2
    original = path.read_bytes()
    path.unlink()
    assert host.run("sessions", "restore", SESSION).code == 0
    assert path.read_bytes() == original


def test_an_image_that_holds_a_secret_is_left_out(host: Host) -> None:
    data = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20 + b"tEXtComment token " + SECRET.encode() + b"\n"
    row = said(1, "", host.repo)
    row["message"]["content"] = [{"type": "image", "source": {"data": b64encode(data).decode()}}]
    host.write(line(row))
    assert host.capture()["removed"] >= 1
    (generation,) = host.manifest()["generations"]
    assert not generation["apart"] and generation["removed"]
    assert SECRET.encode() not in everything(host.repo) and b64encode(data)[-60:-8] not in everything(host.repo)


def test_one_that_cannot_be_read_keeps_no_other_from_being_captured(host: Host) -> None:
    host.say("first")
    host.capture()
    host.write(line(said(1, "other", host.repo, session="other")), "other")
    git(host.repo, "update-ref", host.ref, "HEAD")  # damage: the session's ref holds no session
    host.say("second", first=2)
    done = host.run("capture", "--json")
    states = {row["session"]: row["state"] for row in done.lines[:-1]}
    assert states == {SESSION: "failed", "other": "new"} and done.code == 1


def test_a_path_is_taken_alone(host: Host) -> None:
    path = host.say("first")
    host.write(line(said(1, "other", host.repo, session="other")), "other")
    assert host.capture(str(path))["captured"] == 1
    loose = host.repo / "export.jsonl"
    loose.write_bytes(line(said(1, "from elsewhere", host.repo, session="loose")))
    refused = host.run("capture", str(loose))
    assert refused.code == 2 and "--host" in refused.err
    assert host.capture("--host", "claude-code", str(loose))["sessions"]["export"]["state"] == "new"


def test_the_doorbell_and_the_sweep_do_not_double_each_other(host: Host) -> None:
    path = host.say("first")
    elsewhere = host.repo.parent / "unusual.jsonl"
    elsewhere.write_bytes(line(said(1, "where no sweep looks", host.repo, session="unusual")))
    spool = host.repo / ".git/gitmem/spool/claude-code"
    spool.parent.mkdir(parents=True)
    rows = [
        {"host": "claude-code", "session": SESSION, "path": str(path), "at": 1},
        {"host": "claude-code", "session": "unusual", "path": str(elsewhere), "at": 1},
        {"host": "claude-code", "session": "gone", "path": "/nowhere.jsonl", "at": 1},
    ]
    spool.write_text("\n".join(json.dumps(row) for row in rows) + '\n{"host": "cla')
    assert set(host.capture()["sessions"]) == {SESSION, "unusual"}
    assert not list(spool.parent.iterdir())
    before = host.objects()
    spool.write_text(json.dumps(rows[0]) + "\n")
    assert host.capture()["captured"] == 0 and host.objects() == before
