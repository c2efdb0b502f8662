"""The error boundary: every failure is one message with what to do, the exit code of the table, and no traceback."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from gitmem.app import ground
from gitmem.cli.main import VERBS, overview
from gitmem.errors import EXIT_CODES
from tests.app.conftest import Ran
from tests.app.steps import POOL, Run, put
from tests.conftest import git

WORDS = "words that nobody may read in a log"


def crash(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def broken(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(ground, "ground", broken)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_an_unexpected_error_is_a_report_without_content(
    repo: Path, gitmem: Run, seal: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    error = RuntimeError(f"failed on {WORDS}")
    error.__cause__ = ValueError(WORDS)
    crash(monkeypatch, error)
    ran = gitmem(repo, "recall", WORDS, *options)
    assert ran.code == 70 and ran.out == ""
    assert "Traceback" not in ran.err and WORDS not in ran.err and "unexpected RuntimeError" in ran.err
    (log,) = (seal / ".local/state/gitmem").iterdir()
    assert log.stat().st_mode & 0o777 == 0o600 and log.parent.stat().st_mode & 0o777 == 0o700
    assert str(log) in ran.err
    text = log.read_text()
    assert "verb recall" in text and "RuntimeError" in text and "ValueError" in text and "in broken" in text
    assert WORDS not in text and "nobody may read" not in text
    if options:
        assert json.loads(ran.err)["error"]["exit"] == 70


def test_a_report_that_cannot_be_written_hides_nothing(
    repo: Path, gitmem: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    crash(monkeypatch, RuntimeError("x"))
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("XDG_STATE_HOME")
    ran = gitmem(repo, "recall", "x")
    assert ran.code == 70 and "there is no HOME" in ran.err and "Traceback" not in ran.err


def test_an_interruption_is_said_and_is_130(repo: Path, gitmem: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    crash(monkeypatch, KeyboardInterrupt())
    ran = gitmem(repo, "recall", "x")
    assert (ran.code, ran.err, ran.out) == (130, "interrupted\n", "")


def test_a_disk_that_is_full_is_no_crash(repo: Path, gitmem: Run, monkeypatch: pytest.MonkeyPatch, seal: Path) -> None:
    from io import StringIO

    gitmem(repo, "init")
    put(gitmem, repo, POOL)

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tests.app.conftest.StringIO", type("Full", (StringIO,), {"flush": full}))
    ran = gitmem(repo, "list")
    assert ran.code == 1 and "could not be written: No space left on device" in ran.err
    assert not list((seal / ".local/state/gitmem").glob("crash-*"))


# -- exit codes ------------------------------------------------------------------------------------------------


def test_the_table_of_exit_codes_is_in_the_help(repo: Path, gitmem: Run) -> None:
    shown = gitmem(repo, "--help").out
    table = shown[shown.index("Exit codes:") :].splitlines()[1 : len(EXIT_CODES) + 1]
    assert {int(line.split()[0]): line.split(None, 1)[1] for line in table} == dict(EXIT_CODES)
    assert overview() == shown


def begun(gitmem: Run, repo: Path) -> str:
    assert gitmem(repo, "init").code == 0
    return put(gitmem, repo, POOL)


def done(repo: Path, gitmem: Run, tmp_path: Path, patch: pytest.MonkeyPatch) -> Ran:
    begun(gitmem, repo)
    return gitmem(repo, "list", "--json")


def failed(repo: Path, gitmem: Run, tmp_path: Path, patch: pytest.MonkeyPatch) -> Ran:
    begun(gitmem, repo)
    (repo / "there").touch()
    return gitmem(repo, "export", "--bundle", "there", "--json")


def usage(repo: Path, gitmem: Run, tmp_path: Path, patch: pytest.MonkeyPatch) -> Ran:
    return gitmem(repo, "show", "--json", "--no-such-flag")


def refused(repo: Path, gitmem: Run, tmp_path: Path, patch: pytest.MonkeyPatch) -> Ran:
    begun(gitmem, repo)
    return gitmem(repo, "remember", "--json", "-k", "fact", "A claim without proof")


def not_found(repo: Path, gitmem: Run, tmp_path: Path, patch: pytest.MonkeyPatch) -> Ran:
    begun(gitmem, repo)
    return gitmem(repo, "show", "zzzz", "--json")


def moving(repo: Path, gitmem: Run, tmp_path: Path, patch: pytest.MonkeyPatch) -> Ran:
    from gitmem.errors import RefMoved

    begun(gitmem, repo)

    def moved(*_: object) -> None:
        raise RefMoved("somebody else was faster")

    patch.setattr("gitmem.app.staging.Staging.publish", moved)
    return gitmem(repo, "remember", "--json", "-k", "fact", "Another claim altogether", "-e", "file:src/pool.py:1")


def no_repository(repo: Path, gitmem: Run, tmp_path: Path, patch: pytest.MonkeyPatch) -> Ran:
    return gitmem(tmp_path, "list", "--json")


def damaged(repo: Path, gitmem: Run, tmp_path: Path, patch: pytest.MonkeyPatch) -> Ran:
    memory = begun(gitmem, repo)
    oid = git(repo, "rev-parse", f"gitmem/main:memories/{memory[0]}/{memory[1]}/{memory}.yaml").strip()
    file = repo / ".git/objects" / oid[:2] / oid[2:]
    file.chmod(0o644)
    file.write_bytes(b"not zlib")
    return gitmem(repo, "show", memory, "--json")


def remote(repo: Path, gitmem: Run, tmp_path: Path, patch: pytest.MonkeyPatch) -> Ran:
    git(repo, "remote", "add", "origin", str(tmp_path / "nowhere.git"))
    return gitmem(repo, "init", "--json")


def unexpected(repo: Path, gitmem: Run, tmp_path: Path, patch: pytest.MonkeyPatch) -> Ran:
    crash(patch, RuntimeError("x"))
    return gitmem(repo, "recall", "x", "--json")


def interrupted(repo: Path, gitmem: Run, tmp_path: Path, patch: pytest.MonkeyPatch) -> Ran:
    crash(patch, KeyboardInterrupt())
    return gitmem(repo, "recall", "x", "--json")


WAYS = {
    0: done, 1: failed, 2: usage, 3: refused, 4: not_found, 5: moving, 6: no_repository, 7: damaged, 8: remote,
    70: unexpected, 130: interrupted,
}  # fmt: skip


@pytest.mark.parametrize("code", EXIT_CODES)
def test_each_exit_code_is_returned_with_an_error_as_data(
    repo: Path, gitmem: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    ran = WAYS[code](repo, gitmem, tmp_path, monkeypatch)
    assert ran.code == code, ran
    if code not in (0, 130):
        (line,) = ran.err.splitlines()
        error = json.loads(line)["error"]
        assert error["exit"] == code and error["message"]
        hints = error.get("hint") or all(reason["hint"] for reason in error["reasons"])
        assert hints, "an error says what to do next"
    for text in ran.out.splitlines():
        json.loads(text)


# -- every verb ------------------------------------------------------------------------------------------------

SHOWN = [name for name, verb in VERBS.items() if not verb.hidden]
# What each verb needs to get as far as the repository.
NEEDS = {
    "remember": ["-k", "fact", "x"], "check": ["draft.yaml"], "edit": ["abcd", "--because", "x"],
    "supersede": ["abcd", "x", "--because", "x"], "accept": ["abcd"], "recall": ["x"], "show": ["abcd"],
    "key": ["a.b"], "log": ["abcd"], "blame": ["abcd"], "verify": ["--all"], "hooks": ["status"],
    "import": ["README.md"], "reverify": ["abcd"], "why": ["x"], "related": ["abcd"], "sessions": ["list"],
    "package": ["pi", "--to", "made"], "audit": ["verify"], "directives": ["list"], "skill": ["list"],
    "promote": ["abcd", "--because", "x"], "feedback": ["abcd", "useful"],
    "distill": ["abcd", "--with", "command:true"],
    **{verb: ["abcd", "--because", "x"] for verb in
       ("wrong", "lift", "retract", "archive", "restore", "dispute", "reject")},
}  # fmt: skip
NO_REPOSITORY = {"schema", "completion", "uninstall", "package"}
# These need no memory: what the agents said is stored and looked at without any.
BEGINS = {"init", "doctor", "hooks", "capture", "sessions", "scan-secrets", "status", *NO_REPOSITORY}
# What these say before they look for memory. A server speaks to no terminal (tests/agents).
FIRST = {"sync": (2, "no remote to sync with"), "distill": (3, "distill is off"), "skill": (0, "none: a procedure")}
SERVES = "mcp"
NO_HOST = "no agent host that gitmem can install is here"  # what `install` needs in place of a repository


@pytest.mark.parametrize("verb", SHOWN)
def test_every_verb_has_help_with_an_example(repo: Path, gitmem: Run, verb: str) -> None:
    shown = gitmem(repo, verb, "--help")
    assert shown.code == 0 and shown.err == "" and f"gitmem {verb}" in shown.out and "Example:" in shown.out
    assert gitmem(repo, "help", verb).out == shown.out


@pytest.mark.parametrize("verb", [verb for verb in SHOWN if verb != SERVES])
def test_before_init_every_verb_says_init(repo: Path, gitmem: Run, verb: str) -> None:
    (repo / "draft.yaml").write_text("kind: fact\ntitle: A claim\nevidence: [file:src/pool.py:2]\n")
    git(repo, "add", "draft.yaml")
    ran = gitmem(repo, verb, *NEEDS.get(verb, []))
    if verb in BEGINS:
        assert ran.code == 0, ran.err
    elif verb in FIRST:
        assert (ran.code, FIRST[verb][1] in ran.err) == (FIRST[verb][0], True), ran.err
    elif verb == "install":
        assert ran.code == 4 and NO_HOST in ran.err
    else:
        assert ran.code == 4 and ran.err.endswith("→ gitmem init\n"), ran.err


@pytest.mark.parametrize("verb", SHOWN)
def test_outside_a_repository_every_verb_says_so(tmp_path: Path, gitmem: Run, verb: str) -> None:
    (tmp_path / "draft.yaml").write_text("kind: fact\ntitle: A claim\n")
    ran = gitmem(tmp_path, verb, *NEEDS.get(verb, []))
    if verb in NO_REPOSITORY:
        assert ran.code == 0 and ran.out
    elif verb == "install":
        assert ran.code == 4 and NO_HOST in ran.err
    else:
        assert ran.code == 6 and f"{tmp_path} is not in a git repository" in ran.err and "-C" in ran.err


@pytest.mark.parametrize(("typed", "meant"), [("lst", "list"), ("recal", "recall"), ("rember", "remember")])
def test_a_mistyped_verb_is_answered_with_the_nearest(repo: Path, gitmem: Run, typed: str, meant: str) -> None:
    ran = gitmem(repo, typed)
    assert ran.code == 2 and f"gitmem {meant}" in ran.err
    assert "did you mean" not in gitmem(repo, "xyzzy").err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["remember", "-k", "fact"], "a memory needs a title"),
        (["remember", "A claim"], "a memory needs a --kind"),
        (["remember", "-k", "rumour", "A claim"], "there is no kind 'rumour'"),
        (["remember", "-k"], "requires an argument"),
        (["remember", "--file", "nope.yaml"], "nope.yaml cannot be read: No such file"),
        (["remember", "--file", "."], ". cannot be read: Is a directory"),
        (["remember", "--edit", "--file", "nope.yaml"], "nope.yaml cannot be read"),
        (["remember", "--file", "x", "--tag", "y", "A claim"], "leave out --tag, the title"),
        (["remember", "--edit", "-k", "fact"], "leave out --kind"),
        (["supersede", "abcd", "--file", "x", "--key", "y"], "leave out --key"),
        (["show"], "Missing argument 'ID'"),
        (["recall"], "recall what?"),
        (["recall", ""], "recall what?"),
        (["recall", "x", "--limit", "0"], "--limit: 0 is no number from 1"),
        (["recall", "x", "--limit=0"], "--limit: 0 is no number from 1"),
        (["recall", "x", "--budget", "much"], "--budget: much is no number"),
        (["recall", "x", "--format", "xml"], "--format: there is no 'xml'"),
        (["recall", "x", "--status", "wrong"], "--status: there is no 'wrong'"),
        (["list", "--kind", "rumour"], "there is no 'rumour'"),
        (["list", "--status", "gone"], "there is no status 'gone'"),
        (["list", "--since", "yesterday"], "--since: 'yesterday' is not a date"),
        (["list", "--color", "red"], "--color takes auto, always or never"),
        (["list", "--repo"], "--repo needs a value"),
        (["schema", "x"], "there is no schema 'x'"),
        (["log", "-n", "99999999999999999999"], "is not in the range"),
        (["audit", "show", "--limit", "9223372036854775808"], "is not in the range"),
        (["sessions", "list", "-n", "99999999999999999999"], "is not in the range"),
        (["sessions", "forget", "--days", "99999999999999999999", "--dry-run"], "is not in the range"),
        (["policy", "set", "evidence.fact", " ,", "--because", "x"], "needs a type of evidence"),
        (["completion", "tcsh"], "no completion for 'tcsh'"),
        (["verify", "--all", "--base", "HEAD"], "--all takes neither"),
    ],
)
def test_wrong_words_are_named_and_the_right_ones_shown(repo: Path, gitmem: Run, words: list[str], said: str) -> None:
    begun(gitmem, repo)
    ran = gitmem(repo, *words)
    assert ran.code == 2 and said in ran.err and "→ " in ran.err and ran.out == ""
    error = json.loads(gitmem(repo, *words, "--json").err)["error"] if words[-1] != "--repo" else {"hint": "x"}
    assert error["hint"]


def test_no_error_leaves_a_file_behind(repo: Path, gitmem: Run) -> None:
    begun(gitmem, repo)
    before = subprocess.run(["git", "-C", str(repo), "status", "--porcelain"], capture_output=True, check=True).stdout
    gitmem(repo, "remember", "-k", "fact", "A claim without proof")
    after = subprocess.run(["git", "-C", str(repo), "status", "--porcelain"], capture_output=True, check=True).stdout
    assert before == after == b""
