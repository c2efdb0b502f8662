"""What was checked, how it ended, and what got past a failure: from turns alone."""

from __future__ import annotations

import pytest

from gitmem.capture.check_output import error_in, named_tests, normalised
from gitmem.capture.commands import command_of, read
from gitmem.capture.fixes import Fix, fixes
from gitmem.capture.outcomes import Changed, Check, outcomes
from gitmem.capture.turns import Outcome, Turn


class Told:
    """Turns as an adapter hands them out."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []

    def run(self, command: str, outcome: Outcome | None, text: str = "") -> Told:
        number = len(self.turns)
        self.turns.append(
            Turn(f"c{number}", number, number + 1, "assistant", f"command: {command}\ntimeout: 9", f"t{number}", "Bash")
        )
        self.turns.append(Turn(f"r{number}", number + 1, number + 2, "tool", text, f"t{number}", "Bash", outcome))
        return self

    def edit(self, path: str, outcome: Outcome | None = "ok") -> Told:
        number = len(self.turns)
        self.turns.append(Turn(f"c{number}", number, number + 1, "assistant", "", f"t{number}", "Edit", paths=(path,)))
        self.turns.append(Turn(f"r{number}", number + 1, number + 2, "tool", "", f"t{number}", "Edit", outcome))
        return self

    @property
    def checks(self) -> list[Check]:
        return [one for one in outcomes(self.turns) if isinstance(one, Check)]

    @property
    def fixes(self) -> list[Fix]:
        return list(fixes(outcomes(self.turns)))


ERROR = "E       ValueError: the pool has no worker left\n1 failed in 0.31s"


@pytest.mark.parametrize(
    ("tool", "text", "command"),
    [
        ("Bash", "command: npm test\ndescription: run them\ntimeout: 9", "npm test"),
        ("shell", 'command: ["bash", "-lc", "go test ./..."]\nworkdir: /a', "go test ./..."),
        ("exec_command", "cmd: cargo test\nyield_time_ms: 1000", "cargo test"),
        ("run_command", "CommandLine: make check\nCwd: /a", "make check"),
        ("exec", 'const r = await tools.exec_command({cmd:"ruff check \\"a b\\""});', 'ruff check "a b"'),
        ("Bash", "command: pytest a &&\n  pytest b", "pytest a &&\n  pytest b"),
        ("Read", "command: pytest", ""),
    ],
)
def test_the_command_line_of_each_host(tool: str, text: str, command: str) -> None:
    assert command_of(tool, text) == command


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("pytest tests/a.py", "uv run pytest tests/a.py -q --tb=short", True),
        ("python -m pytest tests/a.py", "FOO=1 timeout 60 .venv/bin/pytest -x ./tests/a.py", True),
        ("pytest tests/a.py", "pytest tests/b.py", False),
        ("pytest tests/a.py -k one", "pytest tests/a.py -k two", False),
        ("npm run test", "npm test", True),
        ("npm run lint", "npm run test", False),
        ("cd web && npm test", "npm test", False),
        ("go test ./... -count=1 -v", "go test ./...", True),
        ('git commit -m "one"', 'git commit -m "two"', True),
    ],
)
def test_two_command_lines_check_the_same(one: str, other: str, same: bool) -> None:
    (first,), (second,) = (Told().run(line, "ok", "4 passed in 0.1s").checks for line in (one, other))
    assert (first.key == second.key) is same


@pytest.mark.parametrize(
    ("command", "recorded", "text", "outcome"),
    [
        ("pytest", "failed", ERROR, "failed"),
        ("pytest", "ok", "4 passed in 0.2s", "ok"),
        ("pytest", None, ERROR, None),  # a person declined
        ("pytest | tail -5", "ok", ERROR, "failed"),  # the pipe hides the status, the output tells
        ("pytest | tail -5", "ok", "4 passed in 0.2s", "ok"),
        ("pytest | tail -1", "ok", "", None),
        ("pytest; echo done", "ok", "done", None),
        ("pytest || true", "ok", "", None),
        ("pytest", "ok", "1 failed, 3 passed in 0.2s", None),  # the two contradict each other
        ("pytest", "failed", "Command timed out after 2m 0s", None),
        ("pytest", "failed", "Exit code 143\n" + ERROR, None),
        ("pytest", "ok", "Command running in background with ID: b1", None),
        ("pytest -k nothing", "ok", "collected 0 items", None),
        (
            "go test ./... -run X",
            "ok",
            "testing: warning: no tests to run\nPASS\nok  \ta\t0.1s [no tests to run]",
            None,
        ),
        ("npx tsc --noEmit", "ok", "", "ok"),
        ("npx tsc --noEmit | grep src", "ok", "src/a.ts(1,2): error TS2304: Cannot find name 'a'.", "failed"),
        ("npm run build", "ok", "\nExit Code: 2", "failed"),  # a host that calls everything done
    ],
)
def test_unknown_is_neither_a_failure_nor_a_pass(
    command: str, recorded: Outcome | None, text: str, outcome: Outcome | None
) -> None:
    (check,) = Told().run(command, recorded, text).checks
    assert check.outcome == outcome


@pytest.mark.parametrize(
    "command",
    ["grep -r pool .", "cat a", "diff a b", "ls", "python -c 'print(1)'", "for x in a; do pytest; done",
     "echo $(pytest)", "cat <<E\nE", "git log", "test -f a"],
)  # fmt: skip
def test_what_only_looks_is_no_check(command: str) -> None:
    assert Told().run(command, "failed", "Error: something went wrong here").checks == []
    assert len(Told().run("pytest", "failed", ERROR).checks) == 1


def test_a_chain_passes_part_by_part_and_fails_as_a_whole() -> None:
    told = Told().run("ruff check . && mypy src", "failed", "src/a.py:1: error: Incompatible types in return value")
    told.edit("src/a.py").run("ruff check . && mypy src && pytest", "ok", "4 passed in 0.1s")
    (fix,) = told.fixes
    assert fix.files == ("src/a.py",) and "Incompatible types" in fix.failed.error


def test_only_a_change_between_a_failure_and_its_pass_teaches() -> None:
    assert len(Told().run("pytest", "failed", ERROR).edit("a.py").run("pytest", "ok").fixes) == 1
    assert Told().run("pytest", "failed", ERROR).edit("a.py").fixes == []
    assert Told().run("pytest", "failed", ERROR).run("pytest", "ok").fixes == []
    assert Told().run("pytest", "failed", ERROR).edit("a.py", "failed").run("pytest", "ok").fixes == []
    assert Told().run("pytest", "failed", "").edit("a.py").run("pytest", "ok").fixes == []
    assert Told().run("pytest", "failed", ERROR).edit("a.py").run("pytest | tail -1", "ok", "").fixes == []
    assert Told().run("pytest a", "failed", ERROR).edit("a.py").run("pytest b", "ok").fixes == []
    assert len(Told().run("pytest a", "failed", ERROR).edit("a.py").run("pytest", "ok").fixes) == 1
    assert len(Told().run("npm start", "failed", "Error: Cannot find module 'left-pad'")
               .run("npm install left-pad", "ok").run("npm start", "ok").fixes) == 1  # fmt: skip


def test_what_alternates_without_a_change_is_flaky_for_good() -> None:
    told = Told().run("pytest", "failed", ERROR).run("pytest", "ok")
    told.run("pytest", "failed", ERROR).edit("a.py").run("pytest", "ok")
    assert told.fixes == []
    told.run("ruff check", "failed", "a.py:1:1: F401 `os` imported but unused").edit("a.py").run("ruff check", "ok")
    assert [fix.failed.name for fix in told.fixes] == ["ruff check"]


def test_either_way_round_it_is_flaky() -> None:
    told = Told().run("pytest", "failed", ERROR).run("pytest", "ok").edit("a.py")
    assert told.run("pytest", "failed", ERROR).edit("b.py").run("pytest", "ok").fixes == []
    assert Told().run("pytest", "ok").run("pytest", "failed", ERROR).edit("a.py").run("pytest", "ok").fixes == []
    told = Told().run("pytest", "ok").edit("a.py").run("pytest", "failed", ERROR)
    assert len(told.edit("a.py").run("pytest", "ok").fixes) == 1


def test_undoing_is_no_repair_and_another_folder_is_another_check() -> None:
    told = Told().run("npm test", "failed", "Error: the exporter has no writer")
    assert told.run("git stash", "ok").run("npm test", "ok").fixes == []
    told = Told().run("cd a && pytest x.py", "failed", ERROR).edit("a.py")
    assert told.run("cd b && pytest", "ok", "4 passed in 1s").fixes == []
    assert len(told.run("cd a && pytest", "ok", "4 passed in 1s").fixes) == 1


def test_too_many_changes_tell_nothing() -> None:
    told = Told().run("pytest", "failed", ERROR)
    for number in range(9):
        told.edit(f"{number}.py")
    assert told.run("pytest", "ok").fixes == []


def test_the_same_test_by_its_id() -> None:
    failed = "E   KeyError: 'pool'\nFAILED tests/a.py::test_one - KeyError\n1 failed, 9 passed in 1.1s"
    told = Told().run("pytest tests", "failed", failed).edit("a.py")
    assert told.run("pytest tests/a.py::test_two", "ok", "1 passed in 0.1s").fixes == []
    (fix,) = told.run("pytest tests/a.py::test_one", "ok", "1 passed in 0.1s").fixes
    assert fix.failed.failed == {"tests/a.py::test_one"}


def test_another_program_does_only_what_could_not_be_started() -> None:
    missing = "bash: pytest: command not found"
    (fix,) = Told().run("pytest tests", "failed", missing).run("uv run pytest tests", "ok", "4 passed in 1s").fixes
    assert fix.otherwise and fix.passed.run == "uv run pytest tests"
    assert Told().run("pytest tests", "failed", ERROR).run("uv run pytest tests", "ok", "4 passed in 1s").fixes == []


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (ERROR, "E       ValueError: the pool has no worker left"),
        ("Traceback (most recent call last):\n  File \"a.py\"\nKeyError: 'pool of men'", "KeyError: 'pool of men'"),
        ("src/a.ts(28,2): error TS2739: Type 'A' lacks it", "src/a.ts(28,2): error TS2739: Type 'A' lacks it"),
        ("error[E0308]: mismatched types\n --> src/a.rs:1", "error[E0308]: mismatched types"),
        ("\x1b[31merror\x1b[0m: the walrus is not awaited here", ": the walrus is not awaited here"),
        ("Exit code 1", ""),
        ("Command exited with code 1", ""),
    ],
)  # fmt: skip
def test_the_error_is_a_line_as_it_stands(text: str, error: str) -> None:
    assert error_in(text) == error and error in text


def test_what_differs_from_run_to_run_makes_no_other_error() -> None:
    one = "/home/a/src/pool.py:12: ConnectionError: 0x7f3a at 12.5 s in tests/a"
    assert normalised(one) == normalised("/srv/b/src/pool.py:99: ConnectionError: 0x1111 at 3.1 s in tests/a")
    assert normalised(one) != normalised("/home/a/src/pool.py:12: TimeoutError: 0x7f3a at 12.5 s in tests/a")


def test_the_tests_that_an_output_names() -> None:
    assert named_tests("--- FAIL: TestPool (0.1s)\n    --- FAIL: TestPool/night (0.1s)", "failed") == {
        "TestPool",
        "TestPool/night",
    }
    assert named_tests("test pool::night ... FAILED\ntest pool::day ... ok", "failed") == {"pool::night"}
    assert named_tests("test pool::night ... FAILED\ntest pool::day ... ok", "ok") == {"pool::day"}


def test_a_command_that_is_not_read_is_no_command() -> None:
    assert read("pytest 'tests") is None and read("pytest tests") is not None
    assert list(outcomes(Told().run("pytest 'tests", "failed", ERROR).turns)) == []


def test_an_edit_is_a_change_and_a_commit_is_one() -> None:
    told = Told().edit("a.py").run('git commit -m "x"', "ok", "[main 1a2b3c4] x\n 1 file changed")
    assert [(one.kind, one.what) for one in outcomes(told.turns) if isinstance(one, Changed)] == [
        ("edit", "a.py"),
        ("commit", "1a2b3c4"),
    ]
