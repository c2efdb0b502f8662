"""What hooks call is read quickly, and as Typer reads it: recall, context and brief."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.main import get_command

from gitmem.cli.main import QUICK, application

VERBS = ("recall", "context", "brief")
NEEDS = {"recall": [], "context": ["src"], "brief": []}  # without a path context says itself that it needs one
ODD = ["", "-", "--", "-x", "--help", "-n5", "--limit=3", "--limit=", "--budget=a=b", "--full=1", "--fu", "--no-full"]
PLAIN = ["a question", "pool", "src/pool.py", "3", "-3", "prompt", "fact", "ü", 'with "quotes"']


def module(verb: str) -> Any:
    return import_module(QUICK[verb])


def by_typer(verb: str, words: list[str]) -> dict[str, Any] | None:
    """What Typer gives to the run, less what is its default; None when it does not run."""
    told: list[dict[str, Any]] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module(verb), "run", lambda door, **flags: told.append(flags))
        try:
            get_command(application(verb)).main(list(words), standalone_mode=False)
        except (typer.Exit, Exception):
            return None
    return told[0] if told else None


def options(verb: str) -> dict[str, Any]:
    params = get_command(application(verb)).params
    return {name: param for param in params for name in param.opts if name.startswith("-")}


@pytest.mark.parametrize("verb", VERBS)
def test_every_flag_is_known_and_no_other(verb: str) -> None:
    flags, found = module(verb).FLAGS, options(verb)
    assert {name: str(param.name) for name, param in found.items()} == {**flags.one, **flags.many, **flags.yes}
    assert {name for name, param in found.items() if param.multiple} == set(flags.many)
    assert {name for name, param in found.items() if param.is_flag} == set(flags.yes)
    words = [param for param in get_command(application(verb)).params if not param.opts[0].startswith("-")]
    assert [str(param.name) for param in words] == ([flags.positional] if flags.positional else [])
    assert all((param.nargs == -1) == flags.several for param in words)


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_left_out_is_the_same_for_both(verb: str) -> None:
    import inspect

    known = {
        name: parameter.default
        for name, parameter in inspect.signature(module(verb).run).parameters.items()
        if name != "door"
    }
    given = by_typer(verb, NEEDS[verb])
    assert given is not None
    asked = module(verb).FLAGS.read(NEEDS[verb])
    assert {n: v or None for n, v in given.items()} == {n: v or None for n, v in {**known, **asked}.items()}
    assert module(verb).FLAGS.read([]) == {}


def _same(given: Any, quick: Any) -> bool:
    """Typer makes numbers; the run does so itself when the line is read quickly."""
    return given == quick or (isinstance(given, int) and str(given) == quick)


@pytest.mark.parametrize("verb", VERBS)
def test_what_is_read_quickly_is_what_typer_reads(verb: str) -> None:
    flags = module(verb).FLAGS
    word = st.sampled_from([*flags.one, *flags.many, *flags.yes, *ODD, *PLAIN])

    @settings(deadline=None, max_examples=200)
    @given(more=st.lists(word, max_size=8))
    def drawn(more: list[str]) -> None:
        words = [*NEEDS[verb], *more]
        quick = flags.read(words)
        if quick is None:
            return
        told = by_typer(verb, words)
        if told is None:  # a value that is no number: the run says so itself, with a hint
            numbers = {"limit", "budget"} & quick.keys()
            assert any(not str(quick[name]).isdigit() for name in numbers), words
            return
        for name, value in told.items():
            assert name not in quick or _same(value, quick[name]), (words, name)
        assert quick.keys() <= told.keys()
        default = by_typer(verb, NEEDS[verb])
        assert default is not None
        assert all(told[name] == default[name] for name in told.keys() - quick.keys()), words

    drawn()


@pytest.mark.parametrize(
    ("verb", "words", "told"),
    [
        ("recall", ["pool", "size", "-k", "fact", "--kind=plan", "-n", "3"],
         {"words": ["pool", "size"], "kinds": ["fact", "plan"], "limit": "3"}),
        ("recall", ["-q", "a b", "--question", "c", "--format", "prompt", "--with-previous", "x"],
         {"questions": ["a b", "c"], "form": "prompt", "previous": "x"}),
        ("context", ["a.py", "b.py", "--budget", "300"], {"paths": ["a.py", "b.py"], "budget": "300"}),
        ("brief", ["--peek", "--format=prompt"], {"peek": True, "form": "prompt"}),
    ],
)  # fmt: skip
def test_a_usual_command_line_is_read_quickly(verb: str, words: list[str], told: dict[str, Any]) -> None:
    assert module(verb).FLAGS.read(words) == told


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "words", [["--help"], ["--nope", "x"], ["-n5"], ["--budget"], ["--", "a"], ["--budget", "-3"], ["--full=1"]]
)
def test_on_doubt_typer_reads(verb: str, words: list[str]) -> None:
    assert module(verb).FLAGS.read(["--budget", "3"]) == {"budget": "3"}
    assert module(verb).FLAGS.read(words) is None


def test_brief_takes_no_word() -> None:
    assert module("brief").FLAGS.read(["pool"]) is None
    assert module("recall").FLAGS.read(["pool"]) == {"words": ["pool"]}
