from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from gitmem.app.githooks_decision import Checks, Limit, deletion_possible, hook_impl, run_hook
from gitmem.errors import CorruptRecord, NotFound, UsageError

A, B, C, ZERO = "a" * 40, "b" * 40, "c" * 40, "0" * 40
MAIN = "refs/heads/gitmem/main"
PROPOSAL = "refs/heads/gitmem/propose/pool"


class World:
    """A repository as a decision sees it: main at A, B follows A, C follows nothing; C holds a bad record."""

    def __init__(self, **changes: Any) -> None:
        self.asked: list[tuple[str, str | None, str]] = []
        self.values: dict[str, Any] = {
            "head_ref": None,
            "ref": {MAIN: A}.get,
            "is_ancestor": lambda old, new: (old, new) == (A, B),
            "verify": self.verify,
            "verify_staged": lambda ref: ["removes memory 01"],
            "deletion_possible": lambda: True,
            "shared": lambda ref, old, new: ["a secret"] if new == C else [],
            **changes,
        }

    def verify(self, ref: str, old: str | None, new: str) -> list[str]:
        self.asked.append((ref, old, new))
        return ["a bad record"] if new == C else []

    @property
    def checks(self) -> Checks:
        return Checks(**self.values)


def pushed(name: str, ref: str, old: str, new: str) -> tuple[list[str], bytes]:
    if name == "update":
        return [ref, old, new], b""
    if name == "pre-push":
        return ["origin", "url"], f"{ref} {new} {ref} {old}\n".encode()
    args = ["prepared"] if name == "reference-transaction" else []
    return args, f"{old} {new} {ref}\n".encode()


every_hook = pytest.mark.parametrize("name", ["pre-push", "pre-receive", "update", "reference-transaction"])


@every_hook
def test_main_moves_forward_with_good_records_only(name: str) -> None:
    world = World(is_ancestor=lambda old, new: True)
    assert hook_impl(name, *pushed(name, MAIN, A, B), world.checks) == (0, [])
    assert world.asked == [(MAIN, A, B)]
    status, lines = hook_impl(name, *pushed(name, MAIN, A, C), world.checks)
    assert status == 3
    assert lines == [f"gitmem: {name}: refused: {MAIN}: a bad record"]


@every_hook
def test_main_is_neither_rewound_nor_deleted(name: str) -> None:
    world = World()
    assert hook_impl(name, *pushed(name, MAIN, A, B), world.checks)[0] == 0
    status, lines = hook_impl(name, *pushed(name, MAIN, B, A), world.checks)
    assert status == 3 and "only move forward" in lines[0]
    status, lines = hook_impl(name, *pushed(name, MAIN, A, ZERO), world.checks)
    assert status == 3 and "may not be deleted" in lines[0]


@every_hook
def test_a_proposal_is_judged_against_main_and_may_go(name: str) -> None:
    world = World()
    assert hook_impl(name, *pushed(name, PROPOSAL, C, B), world.checks) == (0, [])
    assert world.asked == [(PROPOSAL, A, B)]
    assert hook_impl(name, *pushed(name, PROPOSAL, A, C), world.checks)[0] == 3
    assert hook_impl(name, *pushed(name, PROPOSAL, A, ZERO), world.checks)[0] == 0


@every_hook
def test_code_branches_are_not_looked_at(name: str) -> None:
    world = World()
    for ref in ("refs/heads/main", "refs/heads/gitmem-ui", "refs/tags/gitmem/main", "refs/heads/x/gitmem/main"):
        assert hook_impl(name, *pushed(name, ref, A, C), world.checks) == (0, [])
        assert hook_impl(name, *pushed(name, ref, A, ZERO), world.checks) == (0, [])
    assert world.asked == []
    assert hook_impl(name, *pushed(name, MAIN, A, C), world.checks)[0] == 3


@every_hook
def test_other_names_beside_main_are_refused(name: str) -> None:
    world = World()
    assert hook_impl(name, *pushed(name, PROPOSAL, ZERO, B), world.checks)[0] == 0
    for ref in ("refs/heads/gitmem/scratch", "refs/heads/GitMem/main"):
        assert hook_impl(name, *pushed(name, ref, ZERO, B), world.checks)[0] == 3


@pytest.mark.parametrize("name", ["pre-push", "pre-receive", "update"])
def test_private_refs_never_travel(name: str) -> None:
    checks = World().checks
    for ref in ("refs/gitmem/inbox", "refs/GitMem/inbox"):
        status, lines = hook_impl(name, *pushed(name, ref, ZERO, B), checks)
        assert status == 3 and "private" in lines[0]
    assert hook_impl(name, *pushed(name, "refs/gitmem/inbox", B, ZERO), checks)[0] == 0
    assert hook_impl(name, *pushed(name, "refs/notes/gitmem", ZERO, B), checks)[0] == 0


def test_a_server_takes_shared_sessions_and_a_desk_sends_none_by_git_push() -> None:
    shared = "refs/gitmem/shared/claude-code/aa/one"
    for name in ("pre-receive", "update"):
        assert hook_impl(name, *pushed(name, shared, ZERO, B), World().checks)[0] == 0
        assert hook_impl(name, *pushed(name, shared.replace("shared", "sessions"), ZERO, B), World().checks)[0] == 3
    assert hook_impl("pre-push", *pushed("pre-push", shared, ZERO, B), World().checks)[0] == 3


def test_a_private_ref_under_a_public_name_is_refused() -> None:
    line = f"refs/gitmem/inbox {B} refs/heads/backup {ZERO}\n".encode()
    assert hook_impl("pre-push", ["origin", "url"], line, World().checks)[0] == 3
    line = f"refs/heads/topic {B} refs/heads/backup {ZERO}\n".encode()
    assert hook_impl("pre-push", ["origin", "url"], line, World().checks)[0] == 0


def test_a_revision_with_spaces_on_the_local_side() -> None:
    line = f"HEAD^{{/fix the pool}} {C} {MAIN} {A}\n".encode()
    assert hook_impl("pre-push", ["o", "u"], line, World(is_ancestor=lambda old, new: True).checks)[0] == 3


def test_every_line_of_a_push_counts_and_every_reason_is_told() -> None:
    lines = f"{A} {C} refs/heads/code\n{A} {ZERO} {MAIN}\n{ZERO} {B} refs/gitmem/inbox\n".encode()
    status, told = hook_impl("pre-receive", [], lines, World().checks)
    assert status == 3 and len(told) == 2


def test_lines_that_git_does_not_write_are_an_error() -> None:
    for line in (b"what\n", f"{A} nonsense {MAIN}\n".encode(), f"{A} -- {MAIN}\n".encode()):
        with pytest.raises(UsageError):
            hook_impl("pre-receive", [], line, World().checks)
    with pytest.raises(UsageError):
        run_hook("post-flight", [], b"", lambda: World().checks)
    assert hook_impl("pre-receive", [], f"{A} {B} {MAIN}\n".encode(), World().checks)[0] == 0


class TestReferenceTransaction:
    def decide(self, line: str, state: str = "prepared", **changes: Any) -> int:
        return hook_impl("reference-transaction", [state], f"{line}\n".encode(), World(**changes).checks)[0]

    def test_an_old_value_that_nobody_named_is_read(self) -> None:
        assert self.decide(f"{ZERO} {B} {MAIN}") == 0
        assert self.decide(f"{ZERO} {A} {MAIN}", ref={MAIN: B}.get) == 3

    def test_a_new_branch_is_verified_whole(self) -> None:
        world = World(ref=lambda _: None)
        assert hook_impl("reference-transaction", ["prepared"], f"{ZERO} {B} {MAIN}".encode(), world.checks)[0] == 0
        assert world.asked == [(MAIN, None, B)]

    def test_pack_refs_is_no_deletion(self) -> None:
        assert self.decide(f"{ZERO} {A} {MAIN}") == 0  # the write into packed-refs
        assert self.decide(f"{A} {ZERO} {MAIN}", deletion_possible=lambda: False) == 0  # the loose copy dropped
        assert self.decide(f"{A} {ZERO} {MAIN}", deletion_possible=lambda: True) == 3
        assert self.decide(f"{B} {ZERO} {MAIN}", deletion_possible=lambda: False) == 3

    def test_a_deletion_with_no_old_value(self) -> None:
        assert self.decide(f"{ZERO} {ZERO} {MAIN}") == 3
        assert self.decide(f"{ZERO} {ZERO} {MAIN}", deletion_possible=lambda: False) == 3
        assert self.decide(f"{ZERO} {ZERO} {MAIN}", ref=lambda _: None) == 0

    def test_symbolic_refs(self) -> None:
        assert self.decide(f"{ZERO} ref:{MAIN} HEAD") == 0
        assert self.decide(f"ref:refs/heads/x ref:{MAIN} refs/remotes/origin/HEAD") == 0
        assert self.decide(f"{A} ref:refs/heads/x {MAIN}") == 3
        assert self.decide(f"ref:refs/heads/x {B} {MAIN}") == 0

    def test_only_the_prepared_state_counts(self) -> None:
        assert self.decide(f"{A} {ZERO} {MAIN}") == 3
        assert self.decide(f"{A} {ZERO} {MAIN}", "aborted") == 0
        assert self.decide(f"{A} {ZERO} {MAIN}", "committed") == 0

    def test_head_lines_and_private_refs_pass(self) -> None:
        assert self.decide(f"{A} {C} HEAD") == 0
        assert self.decide(f"{A} {C} ORIG_HEAD") == 0
        assert self.decide(f"{A} {C} refs/gitmem/inbox") == 0


def test_the_lock_that_every_deletion_holds(tmp_path: Path) -> None:
    assert not deletion_possible(tmp_path, "files")
    assert deletion_possible(tmp_path, "reftable")
    (tmp_path / "packed-refs.lock").touch()
    assert deletion_possible(tmp_path, "files")


def test_pre_commit_guards_a_checked_out_branch_of_gitmem() -> None:
    assert hook_impl("pre-commit", [], b"", World().checks) == (0, [])
    assert hook_impl("pre-commit", [], b"", World(head_ref="refs/heads/main").checks) == (0, [])
    status, lines = hook_impl("pre-commit", [], b"", World(head_ref=MAIN).checks)
    assert status == 3
    assert lines == [f"gitmem: pre-commit: refused: commit to {MAIN}: removes memory 01"]
    assert hook_impl("pre-commit", [], b"", World(head_ref=MAIN, verify_staged=lambda ref: []).checks) == (0, [])


class TestDeadline:
    limits: ClassVar = {"pre-push": Limit(0.05, 0.05)}
    line = f"{MAIN} {B} {MAIN} {A}\n".encode()

    def never(self, *_: object) -> Any:
        threading.Event().wait()

    def child(self, *_: object) -> Any:
        subprocess.run(["sleep", "60"], check=True)

    @pytest.mark.parametrize("stuck", ["never", "child"])
    def test_a_repository_that_does_not_answer(self, stuck: str) -> None:
        opening: Callable[[], Checks] = getattr(self, stuck)
        status, lines = run_hook("pre-push", [], self.line, opening, self.limits)
        assert status == 1 and "0.05 s" in lines[0]

    def test_a_verification_without_end(self) -> None:
        before = signal.getsignal(signal.SIGALRM)
        assert run_hook("pre-push", [], self.line, lambda: World(verify=self.never).checks, self.limits)[0] == 1
        assert signal.getsignal(signal.SIGALRM) == before
        assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)
        assert run_hook("pre-push", [], self.line, lambda: World().checks, self.limits) == (0, [])


def test_c_code_that_never_returns_ends_with_the_process() -> None:
    spin = "import itertools; from gitmem.app.githooks_decision import Limit, run_hook; "
    call = "run_hook('update', [], b'', lambda: sum(itertools.repeat(0)), {'update': Limit(0.05, 0.05)})"
    done = subprocess.run([sys.executable, "-c", spin + call], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")


def test_damage_is_refused_and_other_errors_go_through() -> None:
    def damaged(*_: object) -> Any:
        raise CorruptRecord("memories/0/1/01.yaml: no title")

    def absent(*_: object) -> Any:
        raise NotFound("no such object")

    line = f"{MAIN} {B} {MAIN} {A}\n".encode()
    assert run_hook("pre-push", [], line, lambda: World().checks) == (0, [])
    status, lines = run_hook("pre-push", [], line, lambda: World(verify=damaged).checks)
    assert status == 3 and "no title" in lines[0]
    with pytest.raises(NotFound):
        run_hook("pre-push", [], line, lambda: World(verify=absent).checks)


@pytest.mark.parametrize("name", ["pre-push", "pre-receive", "update"])
def test_a_shared_session_is_looked_through_where_it_is_taken(name: str) -> None:
    ref = "refs/gitmem/shared/claude-code/aa/one"
    taken = hook_impl(name, *pushed(name, ref, A, B), World().checks)[0] == 0
    assert taken == (name != "pre-push")
    assert hook_impl(name, *pushed(name, ref, A, C), World().checks)[0] == 3
    assert hook_impl(name, *pushed(name, ref, A, "0" * 40), World().checks) == (0, [])
