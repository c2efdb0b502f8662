"""What every resolver owes, whatever it looks at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.errors import GitmemError
from gitmem.evidence.resolvers import RESOLVERS, expand, resolve
from gitmem.model.judgement import Resolution
from gitmem.model.vocabulary import ROLES
from tests.evidence.world import World, make_world

SHORTS = {
    "file": "file:src/pool.py:4-5",
    "commit": "commit:HEAD",
    "test": "test:reports/junit.xml#tests.test_pool::test_retry[a>b]",
    "memory": "memory:7k3q9dxwm2ab",
    "human": 'human:"we deploy on Tuesdays only"',
    "url": "url:https://redis.io/docs",
    "transcript": 'transcript:8c2f#4d1e0001:"and "never" touch prod"',
}
each = pytest.mark.parametrize("kind", sorted(SHORTS))
long_lived = pytest.mark.parametrize("long_lived", [False, True], ids=["git", "libgit2"])
hostile = st.one_of(
    st.text(),
    st.text(st.characters(), min_size=1).map(lambda text: text + "\ud800"),
    st.sampled_from(
        [
            "", ".", "..", "../../etc/passwd", "/etc/passwd", ".git/config", "src/../src/pool.py", "a\0b", "--output=x",
            "-x", "HEAD", "HEAD:src", "@{-1}", "0" * 40, "f" * 64, "9" * 9, "9" * 5000, "1-" + "9" * 5000, "-1", "0",
            "a/" * 3000, "\u202e", "x\ny", "refs/heads/main", "^HEAD", ":/pool", "http://[", "https://a:b@c", "é" * 40,
        ]
    ),
)  # fmt: skip
relaxed = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def world(repo: Path) -> Iterator[World]:
    made = make_world(repo)
    yield made
    for sources in made.opened:
        sources.backend.close()


def test_every_resolver_is_under_this_contract() -> None:
    assert SHORTS.keys() == RESOLVERS.keys()
    assert all(resolver.EXAMPLE.startswith(f"{kind}:") for kind, resolver in RESOLVERS.items())


@each
@long_lived
def test_untouched_is_verified_with_its_own_quote(world: World, kind: str, long_lived: bool) -> None:
    sources = world.sources(long_lived=long_lived)
    ref = expand(SHORTS[kind], sources)
    found = resolve(ref, sources)
    assert (found.ref, found.state) == (ref, "verified")
    assert found.quoted is (None if ref.quote is None else True)
    assert found.text and (ref.quote or "") in found.text
    assert found.human is (kind in ("human", "transcript"))


@each
def test_a_tampered_digest_shows(world: World, kind: str) -> None:
    sources = world.sources()
    ref = expand(SHORTS[kind], sources)
    found = resolve(replace(ref, sha256="0" * 64), sources)
    # A memory may be edited and is still the one cited.
    assert found.state == ("verified" if kind == "memory" else "changed")
    assert found.detail and resolve(ref, sources).state == "verified"


@each
def test_a_quote_that_is_not_there_is_never_confirmed(world: World, kind: str) -> None:
    sources = world.sources()
    found = resolve(replace(expand(SHORTS[kind], sources), quote="words that nobody wrote"), sources)
    assert found.quoted is False or (kind == "human" and found.state == "changed")


@each
@pytest.mark.parametrize("role", ROLES)
def test_the_role_is_kept(world: World, kind: str, role: str) -> None:
    assert expand(f"{role}={SHORTS[kind]}", world.sources()).role == role


@each
def test_expanding_twice_gives_the_same_record(world: World, kind: str) -> None:
    assert expand(SHORTS[kind], world.sources()) == expand(SHORTS[kind], world.sources())


@each
@relaxed
@given(data=st.data())
def test_no_reference_makes_it_raise(world: World, kind: str, data: st.DataObject) -> None:
    sources = world.opened[0] if world.opened else world.sources()
    ref: Any = expand(SHORTS[kind], sources)
    names = [field.name for field in fields(ref) if field.name not in ("role", "extra")]
    changed = data.draw(st.dictionaries(st.sampled_from(names), hostile, min_size=1))
    found = resolve(replace(ref, **changed), sources)
    assert isinstance(found, Resolution)
    assert (
        found.state != "verified"
        or kind == "memory"
        or changed.keys() <= {"quote", "patch", "blob", "commit", "symbol"}
        or all(getattr(ref, name) == value for name, value in changed.items())
    )


@each
@relaxed
@given(rest=hostile)
def test_no_short_form_raises_anything_but_our_own_errors(world: World, kind: str, rest: str) -> None:
    sources = world.opened[0] if world.opened else world.sources()
    try:
        ref = expand(f"{kind}:{rest}", sources)
    except GitmemError as error:
        assert error.message
        return
    assert resolve(ref, sources).state == "verified"
