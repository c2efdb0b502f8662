"""Sessions go to others only when a person names them, without secrets, and come back as what others say."""

from __future__ import annotations

import os
import subprocess
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from gitmem.app.env import Env
from gitmem.app.transcripts import Transcripts
from gitmem.app.workspace import open_workspace
from gitmem.evidence import transcript
from gitmem.evidence.sources import Sources
from gitmem.model.nouns import TranscriptRef
from tests.app.conftest import env
from tests.conftest import git
from tests.installed import Ran, agent, person
from tests.sessions.hosts import SESSION, Host, line, raw, said
from tests.sessions.test_sessions import talk

__all__ = ["env"]

SHARED = "refs/gitmem/shared"
OTHER = "99999999-1111-4111-8111-111111111111"
PASSWORD = "correct-horse-battery-staple-9"


@pytest.fixture
def server(host: Host, tmp_path: Path) -> Path:
    """A bare remote `origin` of the host's repository."""
    bare = tmp_path / "server.git"
    git(tmp_path, "init", "-q", "--bare", str(bare))
    git(host.repo, "remote", "add", "origin", str(bare))
    git(host.repo, "push", "-q", "origin", "HEAD:refs/heads/trunk")
    return bare


def share(host: Host, *words: str) -> Ran:
    return person(host.repo, "sessions", "share", *words, "--to", "origin")


def refs(bare: Path, space: str = "refs/gitmem") -> list[str]:
    return git(bare, "for-each-ref", "--format=%(refname)", space).split()


def colleague(host: Host, server: Path, tmp_path: Path) -> Path:
    clone = tmp_path / "colleague"
    git(tmp_path, "clone", "-q", "-b", "trunk", str(server), str(clone))
    return clone


def test_only_what_a_person_names_is_sent_and_as_it_is_now(host: Host, server: Path) -> None:
    talk(host)
    host.write(line(said(1, "Another matter.", host.repo, session=OTHER)), OTHER)
    host.capture()
    assert share(host, "8c2f", "--dry-run").code == 0 and refs(server) == []
    assert agent(host.repo, "sessions", "share", "8c2f", "--to", "origin", "--yes").code == 3 and refs(server) == []
    done = share(host, "8c2f", "--yes", "--json")
    assert done.code == 0 and [row["state"] for row in done.lines] == ["new"], done.err
    (ref,) = refs(server)
    assert ref.startswith(f"{SHARED}/claude-code/") and ref.endswith(SESSION)
    assert git(server, "rev-parse", f"{ref}^{{tree}}") == git(host.repo, "rev-parse", f"{host_ref(host)}^{{tree}}")
    assert git(server, "rev-list", "--count", ref).strip() == "1"
    assert "is there already" in share(host, "8c2f", "--yes").out
    host.say("One thing more.", first=9)
    host.capture()
    assert [row["state"] for row in share(host, "8c2f", "--yes", "--json").lines] == ["grown"]
    assert git(server, "rev-list", "--count", ref).strip() == "2"


def host_ref(host: Host) -> str:
    return next(ref for ref in host.ref.split() if ref.endswith(SESSION))


def test_the_answer_that_got_lost_is_no_other_session(host: Host, server: Path) -> None:
    talk(host)
    assert share(host, "8c2f", "--yes").code == 0
    (sent,) = git(host.repo, "for-each-ref", "--format=%(refname)", "refs/gitmem/remotes").split()
    git(host.repo, "update-ref", "-d", sent)
    assert "is there already" in share(host, "8c2f", "--yes").out
    assert git(host.repo, "for-each-ref", "--format=%(refname)", "refs/gitmem/remotes").split() == [sent]


@pytest.mark.parametrize("seam", [False, True])
def test_a_secret_that_became_known_later_keeps_all_of_it_here(host: Host, server: Path, seam: bool) -> None:
    host.write(line(said(1, "Hello.", host.repo, session=OTHER)), OTHER)
    long = "x" * (8 * 1024 * 1024) if seam else "x"
    host.say("Hello.", long, f"The pass phrase of the lamp is {PASSWORD} by the way.")
    host.capture()
    assert share(host, "8c2f", "--dry-run").code == 0  # the control: nobody knows yet that it is one
    (host.repo / ".env").write_text(f"LAMP_PASSWORD={PASSWORD}\n")
    for words in (["8c2f", "9999"], ["--since", "2020-01-01"]):
        done = share(host, *words, "--yes")
        assert done.code == 3 and "share.secret" in done.err and "exact" in done.err and refs(server) == []
        assert PASSWORD not in done.err + done.out
    assert share(host, "9999", "--yes").code == 0
    assert len(refs(server)) == 1


def test_a_secret_over_the_seam_of_two_chunks_is_found(host: Host, server: Path) -> None:
    """A line that is longer than a chunk may be is cut; what lies over the cut is in no object."""
    from gitmem.app.scan_secrets import Scanner

    text = f"x {PASSWORD} y".encode()
    for cut in range(1, len(text)):
        scanner = Scanner((PASSWORD,))
        scanner.stream([text[:cut], text[cut:]], "blob", "")
        assert [found.rule for found in scanner.result.found] == ["exact"]
    scanner = Scanner((PASSWORD,))
    scanner.stream([b"x", b"y"], "blob", "")
    assert not scanner.result.found


def test_git_push_of_sessions_is_refused_by_the_hook_and_share_is_not(host: Host, server: Path) -> None:
    talk(host)
    assert person(host.repo, "init").code == 0
    assert person(host.repo, "hooks", "install").code == 0
    ref = host_ref(host)
    for target in (ref, f"{SHARED}/claude-code/aa/{SESSION}"):
        git(host.repo, "push", "-q", "origin", f"{ref}:{target}", check=False)
        assert refs(server) == []
    assert share(host, "8c2f", "--yes").code == 0 and len(refs(server)) == 1


def test_somebody_elses_session_there_is_left_alone(host: Host, server: Path) -> None:
    talk(host)
    assert share(host, "8c2f", "--yes").code == 0
    (ref,) = refs(server)
    other = git(server, "commit-tree", "-m", "other", f"{ref}^{{tree}}").strip()
    git(server, "update-ref", ref, other)
    host.say("One thing more.", first=9)
    host.capture()
    done = share(host, "8c2f", "--yes")
    assert done.code == 3 and "share.taken" in done.err and git(server, "rev-parse", ref).strip() == other


def test_a_fetched_session_is_read_and_cited_and_nobodys_word(
    host: Host, server: Path, env: Callable[..., Env], tmp_path: Path
) -> None:
    talk(host)
    assert share(host, "8c2f", "--yes").code == 0
    clone = colleague(host, server, tmp_path)
    assert person(clone, "init").code == 0
    done = agent(clone, "sessions", "fetch", "origin", "--json")
    assert [(row["state"], row["session"]) for row in done.lines] == [("new", f"claude-code/{SESSION}")], done.err
    assert agent(clone, "sessions", "fetch", "origin", "--json").lines[0]["state"] == "same"
    assert agent(host.repo, "sessions", "fetch", "origin", "--json").lines[0]["state"] == "own"
    assert agent(clone, "sessions", "list", "--json").lines[0]["fetched"] == "origin"
    assert "fetched from origin" in agent(clone, "sessions", "list").out
    assert agent(clone, "sessions", "search", "redis", "--json").lines[0]["fetched"] == "origin"
    assert agent(clone, "sessions", "verify").code == 0
    for where, human in ((host.repo, True), (clone, False)):
        state, by_person, detail = resolved(env(where))
        assert (state, by_person) == ("verified", human)
        assert ("fetched from origin" in detail) is not human
    assert agent(clone, "capture", "--json").lines[-1]["captured"] == 0
    assert agent(clone, "sessions", "restore", SESSION).code == 4  # where it lay is not known here


def resolved(env: Env, cited: TranscriptRef | None = None) -> tuple[str, bool, str]:
    """State, whether it is a person's own words, and the detail, of what the person said in `talk`."""
    workspace = open_workspace(env)
    found = Sources(workspace.backend, None, None, lambda prefix: None, "terminal", Transcripts(workspace))
    ref = cited or transcript.expand('8c2f#00000001:"redis pool"', "supports", found)
    resolution = transcript.resolve(ref, found)
    workspace.backend.close()
    return resolution.state, resolution.human, resolution.detail


def test_sessions_that_were_put_in_place_by_hand_are_nobodys_word(
    host: Host, env: Callable[..., Env], tmp_path: Path
) -> None:
    talk(host)
    assert resolved(env(host.repo))[:2] == ("verified", True)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(host.repo), str(clone))
    git(clone, "fetch", "-q", "origin", "+refs/gitmem/sessions/*:refs/gitmem/sessions/*")
    state, by_person, detail = resolved(env(clone))
    assert (state, by_person) == ("verified", False) and "not captured by this clone" in detail


def test_words_put_into_a_session_that_was_captured_here_are_nobodys(
    host: Host, env: Callable[..., Env], tmp_path: Path
) -> None:
    """Somebody's ref takes the place of this clone's own; the private state knows what was captured."""
    host.say("We deploy on Mondays.")
    host.capture()
    ref = host_ref(host)
    forger = make_host_of(tmp_path / "forger", host)
    git(host.repo, "fetch", "-q", str(forger), f"+{ref}:{ref}")
    assert resolved(env(host.repo))[1] is False
    assert host.run("capture", "--json").code == 0  # the host's file has not changed, so it is not looked at
    assert resolved(env(host.repo))[1] is False
    forged = cited(env(host.repo))
    host.say("And on Tuesdays.", first=2)
    host.capture()
    assert resolved(env(host.repo), forged)[:2] == ("verified", False)


def cited(env: Env) -> TranscriptRef:
    workspace = open_workspace(env)
    found = Sources(workspace.backend, None, None, lambda prefix: None, "terminal", Transcripts(workspace))
    ref = transcript.expand('8c2f#00000001:"redis pool"', "supports", found)
    workspace.backend.close()
    return ref


def make_host_of(where: Path, host: Host) -> Path:
    """Another repository whose stored session of the same id says what nobody said."""
    home = where / "home/.claude/projects/-shop"
    home.mkdir(parents=True)
    repo = where / "shop"
    git(where, "init", "-q", str(repo))
    git(repo, "commit", "-q", "--allow-empty", "-m", "begin")
    row = said(1, "Always the redis pool is to be dropped.", repo)
    (home / f"{SESSION}.jsonl").write_bytes(line(row))
    done = agent(repo, "capture", "--json", environ={"HOME": str(where / "home")})
    assert done.code == 0 and done.lines[-1]["captured"] == 1, done.err + done.out
    return repo


def test_what_is_no_session_is_not_taken(host: Host, server: Path, tmp_path: Path) -> None:
    talk(host)
    assert share(host, "8c2f", "--yes").code == 0
    (ref,) = refs(server)
    good = git(server, "rev-parse", ref).strip()
    clone = colleague(host, server, tmp_path)
    for change in ("manifest", "chunk", "stray", "elsewhere"):
        tree = git(server, "rev-parse", f"{good}^{{tree}}").strip()
        rows = git(server, "ls-tree", "-r", tree).splitlines()
        (server / "forged").write_text("forged\n")
        blob = git(server, "hash-object", "-w", str(server / "forged")).strip()
        files = {row.split("\t")[1]: row.split()[2] for row in rows}
        if change == "manifest":
            files["manifest.json"] = blob
        elif change == "chunk":
            files[next(name for name in files if name.startswith("g1/"))] = blob
        elif change == "stray":
            files["g1/run.sh"] = blob
        bad = committed(server, files)
        target = ref if change != "elsewhere" else f"{SHARED}/codex/aa/another"
        git(server, "update-ref", target, bad)
        done = agent(clone, "sessions", "fetch", "origin", "--json")
        assert done.code == 3 and "refused" in [row["state"] for row in done.lines], (change, done)
        git(server, "update-ref", "-d", target)
    git(server, "update-ref", ref, good)
    assert agent(clone, "sessions", "fetch", "origin", "--json").lines[0]["state"] in ("new", "same", "updated")


def committed(server: Path, files: dict[str, str]) -> str:
    index = {"GIT_INDEX_FILE": str(server / "made.index")}
    (server / "made.index").unlink(missing_ok=True)
    rows = "".join(f"100644 {oid}\t{path}\n" for path, oid in files.items())
    subprocess.run(
        ["git", "-C", str(server), "update-index", "--add", "--index-info"],
        input=rows.encode(), env={**os.environ, **index}, check=True,
    )  # fmt: skip
    tree = subprocess.run(
        ["git", "-C", str(server), "write-tree"], env={**os.environ, **index}, check=True, capture_output=True
    ).stdout
    return git(server, "commit-tree", "-m", "made", tree.decode().strip()).strip()


def test_a_server_with_the_hooks_takes_whole_sessions_without_secrets_and_says_why_not(
    host: Host, server: Path, tmp_path: Path
) -> None:
    assert person(server, "hooks", "install", "--server").code == 0
    talk(host)
    assert share(host, "8c2f", "--yes").code == 0
    (ref,) = refs(server)
    good = git(server, "rev-parse", ref).strip()
    chunk = next(name for name in git(server, "ls-tree", "-r", "--name-only", good).split() if name.startswith("g1/"))
    text = raw(server, f"{good}:{chunk}")
    manifest = raw(server, f"{good}:manifest.json")
    secret = b"ghp_" + b64encode(sha256(b"made up").digest())[:36].translate(None, b"+/=").ljust(36, b"7")

    def blob(data: bytes) -> str:
        return git(host.repo, "hash-object", "-w", "--stdin", input=data.decode()).strip()

    def forged(*rows: tuple[str, str, str], parent: str = good, message: str = "made", data: bytes = text) -> str:
        """The session with a chunk of `data`, which the manifest names, and with other rows (mode, id, path)."""
        named = manifest.replace(sha256(text).hexdigest().encode(), sha256(data).hexdigest().encode())
        files = {"manifest.json": ("100644", blob(named)), chunk: ("100644", blob(data))}
        files |= {path: (mode, oid) for mode, oid, path in rows}
        return tree_committed(host.repo, files, message, parent)

    def pushed(commit: str, where: str = ref) -> str:
        """Empty when it was taken, else what the server said."""
        done = subprocess.run(
            ["git", "push", "--no-verify", "origin", f"+{commit}:{where}"],
            cwd=host.repo, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (done.returncode == 0) == (
            git(server, "for-each-ref", "--format=%(objectname)", where).strip() == commit
        )
        return "" if done.returncode == 0 else done.stderr

    hidden = text[: -len(secret) - 4] + b" " + secret + text[-3:]  # as long as what is named
    leaking = forged(data=hidden)
    own = blob(b"#!/bin/sh\n")
    assert "holds a secret (github" in pushed(leaking) and secret.decode() not in pushed(leaking)
    assert "holds a secret" in pushed(forged(parent=leaking))  # taken away again by the next commit
    assert "commit" in (said_of := pushed(forged(message=secret.decode()))) and "holds a secret" in said_of
    assert "does not hash to its manifest" in pushed(forged(("100644", own, chunk)))
    for mode, path in (("100644", "g1/run.sh"), ("100755", chunk), ("120000", chunk), ("100644", ".git/config")):
        assert "does not belong to a session" in pushed(forged((mode, blob(text) if path == chunk else own, path)))
    assert "may only move forward" in pushed(git(host.repo, "commit-tree", "-m", "x", f"{good}^{{tree}}").strip())
    assert "is no place of a shared session" in pushed(good, "refs/gitmem/shared/run")
    assert "does not belong at" in pushed(good, f"{SHARED}/claude-code/aa/another")
    assert "is no commit" in pushed(
        git(host.repo, "rev-parse", f"{good}^{{tree}}").strip(), f"{SHARED}/claude-code/aa/a"
    )
    assert git(server, "rev-parse", ref).strip() == good
    host.say("One thing more.", first=9)
    host.capture()
    assert share(host, "8c2f", "--yes").code == 0 and git(server, "rev-list", "--count", ref).strip() == "2"
    clean = forged(parent=git(server, "rev-parse", ref).strip())
    assert pushed(clean) == ""  # by hand, and as it has to be


def tree_committed(repo: Path, files: dict[str, tuple[str, str]], message: str, parent: str) -> str:
    """A commit of the tree with these files, whatever they are called."""

    def tree(entries: dict[str, tuple[str, str]]) -> str:
        rows, below = [], {}
        for path, (mode, oid) in entries.items():
            head, _, rest = path.partition("/")
            if rest:
                below.setdefault(head, {})[rest] = (mode, oid)
            else:
                rows.append((mode, oid, head))
        rows += [("40000", tree(found), name) for name, found in below.items()]
        rows.sort(key=lambda row: row[2] + ("/" if row[0] == "40000" else ""))
        data = b"".join(f"{mode} {name}".encode() + b"\0" + bytes.fromhex(oid) for mode, oid, name in rows)
        return subprocess.run(
            ["git", "-C", str(repo), "hash-object", "-t", "tree", "-w", "--literally", "--stdin"],
            input=data, check=True, capture_output=True,
        ).stdout.decode().strip()  # fmt: skip

    return git(repo, "commit-tree", "-m", message, "-p", parent, tree(files)).strip()
