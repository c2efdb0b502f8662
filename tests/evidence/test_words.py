"""Memory, human and url references, and what is common to all types."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gitmem.errors import GitmemError, NotFound, UsageError
from gitmem.evidence.resolvers import expand, resolve
from gitmem.model.nouns import HumanRef, MemoryRef, Span, TranscriptRef, UrlRef
from tests.evidence.world import World


def test_memory_by_prefix(world: World) -> None:
    ref = expand("memory:7K3Q", world.sources())
    assert isinstance(ref, MemoryRef) and (ref.id, ref.quote) == ("7k3q9dxwm2ab", "Retry the redis connect")
    with pytest.raises(NotFound):
        expand("memory:zzzz", world.sources())
    with pytest.raises(UsageError):
        expand("memory:m0", world.sources())


def test_memory_edited_since(world: World) -> None:
    ref = expand("memory:7k3q9dxwm2ab", world.sources())
    world.edit_memory(body='Say "hello": it works.')
    found = resolve(ref, world.sources())
    assert (found.state, found.detail, found.quoted) == ("verified", "edited since it was cited", True)
    assert isinstance(ref, MemoryRef)
    assert resolve(replace(ref, quote='Say "hello": it works.'), world.sources()).quoted is True
    world.edit_memory(title="Something else")
    assert resolve(ref, world.sources()).quoted is False
    world.memories.clear()
    assert resolve(ref, world.sources()).state == "missing"


def test_only_the_full_id_of_a_record_counts(world: World) -> None:
    ref = expand("memory:7k3q9dxwm2ab", world.sources())
    assert isinstance(ref, MemoryRef) and resolve(ref, world.sources()).state == "verified"
    assert resolve(replace(ref, id="7k3q"), world.sources()).state == "missing"


@pytest.mark.parametrize("channel", ["agent", "tool", "capture", "import", "ci", "forge"])
def test_words_are_human_at_a_terminal_only(world: World, channel: str) -> None:
    ref = expand('human:"we deploy: on Tuesdays"', world.sources())
    assert isinstance(ref, HumanRef) and ref.quote == "we deploy: on Tuesdays"
    assert resolve(ref, world.sources("terminal")).human is True
    elsewhere = resolve(ref, world.sources(channel))  # type: ignore[arg-type]
    assert (elsewhere.state, elsewhere.human) == ("verified", False) and channel in elsewhere.detail
    assert resolve(replace(ref, quote="we deploy daily"), world.sources()).state == "changed"
    assert resolve(replace(ref, quote="we deploy daily"), world.sources()).human is False


def test_human_forms(world: World) -> None:
    assert expand("human:plain words", world.sources()) == expand('human:"plain words"', world.sources())
    for wrong in ('human:""', "human: ", "human:", "human:" + "x" * 601, "human:\ud800"):
        with pytest.raises(UsageError):
            expand(wrong, world.sources())


def test_url(world: World) -> None:
    ref = expand("url:https://redis.io/docs?a=b#c", world.sources())
    assert isinstance(ref, UrlRef)
    found = resolve(ref, world.sources())
    assert (found.state, found.detail, found.quoted) == ("verified", "not fetched", None)
    assert resolve(replace(ref, quote="redis is fast"), world.sources()).quoted is False
    assert resolve(replace(ref, url="https://redis.io/other"), world.sources()).state == "changed"


@pytest.mark.parametrize(
    "url",
    ["ftp://x.org/a", "javascript:alert(1)", "file:///etc/passwd", "https://", "https://user:hunter2@x.org/", "https://u@x.org",
     "https://x.org/a b", "https://x.org/\u202e", "https://[::1", "//x.org", "x.org", "https://x.org/" + "a" * 2000],
)  # fmt: skip
def test_addresses_that_may_not_be_cited(world: World, url: str) -> None:
    with pytest.raises(UsageError) as caught:
        expand(f"url:{url}", world.sources())
    assert "hunter2" not in caught.value.message + caught.value.hint
    assert resolve(UrlRef(url, "0" * 64), world.sources()).state == "missing"


def test_types_that_are_not_set_up(world: World) -> None:
    without = replace(world.sources(), transcripts=None)
    with pytest.raises(UsageError, match="has not been set up") as caught:
        expand("transcript:claude-code/8c2f#4d1e0001", without)
    assert "file" in caught.value.hint
    assert expand("transcript:claude-code/8c2f#4d1e0001", world.sources())
    with pytest.raises(UsageError, match="no evidence of type"):
        expand("ticket:12", world.sources())
    ref = TranscriptRef("s", "r", Span(1, 0, 1), "0" * 64, "human")
    assert resolve(ref, world.sources()).state == "unobservable"


def test_a_new_type_is_one_entry(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from gitmem.evidence import human, resolvers

    monkeypatch.setitem(resolvers.RESOLVERS, "overheard", human)
    assert expand("overheard:some words", world.sources())


def test_an_empty_rest_shows_the_form(world: World) -> None:
    for kind in ("file", "commit", "test", "memory", "human", "url"):
        with pytest.raises(UsageError) as caught:
            expand(f"{kind}:", world.sources())
        assert f"{kind}:" in caught.value.hint


# The proposals of a batch job that wrote what nobody said, as files of the repository: each is told apart.
SESSION = "user: Please use pool size 20 — and don’t touch prod.\nassistant: I think retries should be 7.\n"


@pytest.mark.parametrize(
    ("changes", "right"),
    [
        ({}, ("verified", True)),
        ({"path": "nope.jsonl"}, ("missing", None)),
        ({"lines": "99"}, ("missing", None)),
        ({"quote": "use pool size 50"}, ("verified", False)),
        ({"quote": "pool size 200"}, ("verified", False)),
        ({"quote": "don't touch prod"}, ("verified", False)),
        ({"lines": "2"}, ("changed", False)),
        ({"sha256": "0" * 64}, ("changed", True)),
        ({"commit": "0" * 40, "blob": "0" * 40}, ("unobservable", None)),
    ],
)
def test_evidence_that_does_not_support(world: World, changes: dict[str, str], right: tuple[str, bool | None]) -> None:
    world.commit("session.txt", SESSION)
    sources = world.sources()
    said = replace(expand("file:session.txt:1", sources), quote="use pool size 20")  # type: ignore[call-arg]
    ref = replace(said, **changes)  # type: ignore[arg-type]
    found = resolve(ref, sources)
    assert (found.state, found.quoted) == right
    if right != ("verified", True):
        assert found.detail or found.quoted is False


def test_what_the_assistant_said_is_not_the_persons(world: World) -> None:
    ref = expand("human:retries should be 7", world.sources("agent"))
    assert resolve(ref, world.sources("agent")).human is False
    with pytest.raises(GitmemError):
        expand("memory:m0aa", world.sources())
