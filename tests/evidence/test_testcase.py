from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from gitmem.errors import Ambiguous, GitmemError, NotFound, UsageError
from gitmem.evidence.resolvers import expand, resolve
from gitmem.model.nouns import TestRef
from tests.conftest import git
from tests.evidence.world import JUNIT, TAP, World

RETRY = "test:reports/junit.xml#tests.test_pool::test_retry[a>b]"


def cite(short: str, world: World) -> TestRef:
    ref = expand(short, world.sources())
    assert isinstance(ref, TestRef)
    return ref


def refusal(short: str, world: World) -> GitmemError:
    with pytest.raises(GitmemError) as caught:
        expand(short, world.sources())
    return caught.value


def test_a_committed_report(world: World) -> None:
    ref = cite(RETRY, world)
    assert (ref.case, ref.outcome, ref.quote) == ("tests.test_pool::test_retry[a>b]", "failed", "assert 3 == 4")
    assert ref.sha256 == hashlib.sha256(JUNIT.encode()).hexdigest()
    assert git(world.repo, "rev-parse", f"{ref.commit}:{ref.path}").strip() == ref.blob
    (world.repo / ref.path).unlink()
    found = resolve(ref, world.sources())
    assert (found.state, found.quoted) == ("verified", True)
    assert cite(RETRY, world) == ref  # read from HEAD now


def test_a_report_of_the_work_tree_only(world: World) -> None:
    ref = cite("test:out.tap#retry gives up", world)
    assert (ref.outcome, ref.blob, ref.commit) == ("failed", None, None)
    assert ref.quote == "not ok 2 - retry gives up"
    assert resolve(ref, world.sources()).state == "verified"
    world.write("out.tap", TAP + "# ran again\n")
    assert resolve(ref, world.sources()).state == "changed"
    (world.repo / "out.tap").unlink()
    assert resolve(ref, world.sources()).state == "unobservable"
    world.commit("out.tap", TAP)  # committed later
    (world.repo / "out.tap").unlink()
    assert resolve(ref, world.sources()).state == "verified"


def test_a_run_since_does_not_touch_the_committed_report(world: World) -> None:
    ref = cite(RETRY, world)
    world.write("reports/junit.xml", JUNIT.replace("3 == 4", "3 == 5"))
    assert resolve(ref, world.sources()).state == "verified"
    fresh = cite(RETRY, world)
    assert (fresh.blob, fresh.quote) == (None, "assert 3 == 5")


def test_an_outcome_is_never_taken_on_trust(world: World) -> None:
    ref = cite(RETRY, world)
    sources = world.sources()
    assert resolve(ref, sources).state == "verified"
    assert resolve(replace(ref, outcome="passed"), sources).state == "changed"
    assert resolve(replace(ref, case="tests.test_pool::test_none"), sources).state == "changed"
    assert resolve(replace(ref, case="test_size"), sources).state == "changed"  # two of them, which disagree
    borrowed = replace(ref, case="tests.test_pool::test_size", outcome="passed")
    assert resolve(borrowed, sources).quoted is False  # the words are those of another case


def test_a_report_that_is_not_where_the_record_says(world: World) -> None:
    ref = cite(RETRY, world)
    forged = JUNIT.replace("<failure", "<skipped").replace("</failure>", "</skipped>")
    world.write("forged.xml", forged)
    blob = git(world.repo, "hash-object", "-w", "--no-filters", "forged.xml").strip()
    lie = replace(ref, blob=blob, outcome="skipped", sha256=hashlib.sha256(forged.encode()).hexdigest())
    assert resolve(ref, world.sources()).state == "verified"
    assert resolve(lie, world.sources()).state == "changed"
    assert resolve(replace(lie, commit="0" * 40), world.sources()).state == "changed"


def test_suite_and_short_names(world: World) -> None:
    assert cite("test:reports/junit.xml#pytest::test_retry[a>b]", world) == cite(RETRY, world)
    assert cite("test:reports/junit.xml#test_retry[a>b]", world) == cite(RETRY, world)
    assert cite("test:out.tap#opens", world).case == "pool::opens"


def test_paths_and_cases_with_a_number_sign(world: World) -> None:
    world.write("out #1.tap", "1..1\nok 1 - issue \\#12 is fixed\n")
    ref = cite("test:out #1.tap#issue #12 is fixed", world)
    assert (ref.path, ref.case, ref.outcome) == ("out #1.tap", "issue #12 is fixed", "passed")


def test_what_is_wrong_is_said_with_what_is_near(world: World) -> None:
    assert isinstance(refusal("test:reports/junit.xml#test_size", world), Ambiguous)
    assert "different outcomes" in refusal("test:reports/junit.xml#test_twice", world).message
    near = refusal("test:reports/junit.xml#tests.test_pool::test_retri", world)
    assert isinstance(near, NotFound) and "tests.test_pool::test_retry" in near.hint
    assert "#tests.test_pool::test_size" in refusal("test:reports/junit.xml", world).hint
    assert "#tests.test_pool::test_size" in refusal("test:reports/junit.xml#", world).hint
    assert "reports/junit.xml" in refusal("test:junit.xml#a", world).hint
    assert isinstance(refusal("test:src/pool.py#a", world), UsageError)
    assert isinstance(refusal("test:../x.xml#a", world), UsageError)
    assert isinstance(refusal("test:none", world), UsageError)


def test_a_hostile_report_is_refused_and_so_is_a_record_of_it(world: World) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaa">]><testsuite name="s"><testcase name="&a;"/></testsuite>'
    world.commit("bomb.xml", bomb)
    assert "document type" in refusal("test:bomb.xml#s::aaaa", world).message
    blob = git(world.repo, "rev-parse", "HEAD:bomb.xml").strip()
    head = git(world.repo, "rev-parse", "HEAD").strip()
    ref = TestRef("bomb.xml", "s::aaaa", "passed", hashlib.sha256(bomb.encode()).hexdigest(), blob, head)
    assert resolve(ref, world.sources()).state == "changed"
