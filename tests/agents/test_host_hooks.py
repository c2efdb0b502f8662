"""Hooks in a host's JSON: put in beside what is there, taken out again, every other byte as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.app.host_hooks import Hook, Shape, commands, inserts, with_inserts, without_hooks, without_inserts
from gitmem.app.host_settings import HOSTS

EVENTS = ("SessionStart", "Stop")
BELL = "'/home/a b/it'\\''s/doorbell' claude-code"
HOOKS = [Hook(event, BELL) for event in EVENTS]

OTHER = '{"type": "command", "command": "make lint"}'
TEXTS = [
    "",
    "\n",
    "{}",
    "{ }\n",
    "{\n}\n",
    '{"a": [1, 2], "b": 1.50}',
    '{\n    "permissions": {"allow": ["Bash(ls:*)"]},\n    "x": "ünï \\u00e9"\n}\n',
    '{\n\t"hooks": {}\n}',
    '{\r\n  "hooks": {\r\n    "Stop": []\r\n  }\r\n}\r\n',
    f'{{"hooks": {{"Stop": [{{"hooks": [{OTHER}]}}]}}, "z": true}}\n',
    '{\n  "hooks": {\n    "Stop": [\n'
    f'      {{\n        "matcher": "",\n        "hooks": [{OTHER}]\n      }}\n    ]\n  }}\n}}\n',
]


def added(text: str) -> tuple[str, list[tuple[int, int]]]:
    wanted = inserts(text, HOOKS)
    return with_inserts(text, wanted), [(at, len(piece)) for at, piece in wanted]


@pytest.mark.parametrize("text", TEXTS)
def test_it_is_put_in_once_beside_what_is_there_and_comes_out_byte_for_byte(text: str) -> None:
    before = commands(text)
    after, places = added(text)
    assert sorted(commands(after)) == sorted([*before, *((event, BELL) for event in EVENTS)])
    assert inserts(after, HOOKS) == []
    assert without_inserts(after, places) == text
    rest = without_hooks(after, BELL)
    assert commands(rest) == before
    others = {key: value for key, value in json.loads(text if text.strip() else "{}").items() if key != "hooks"}
    for changed in (after, rest):
        assert {key: value for key, value in json.loads(changed).items() if key != "hooks"} == others


def test_what_it_writes_looks_like_its_neighbours() -> None:
    assert added('{\n\t"a": 1\n}')[0].startswith('{\n\t"a": 1,\n\t"hooks": {\n\t\t"SessionStart": [\n\t\t\t{')
    assert "\n" not in added('{"a": 1}')[0]
    assert "\n" not in added(TEXTS[8])[0].replace("\r\n", "")


def test_what_a_person_changed_since_stays() -> None:
    after, _ = added('{\n  "a": 1\n}\n')
    changed = after.replace('"a": 1', '"a": 2')
    assert without_hooks(changed, BELL) == '{\n  "a": 2\n}\n'
    shared = json.loads(after)
    shared["hooks"]["Stop"][0]["hooks"].append(json.loads(OTHER))
    assert commands(without_hooks(json.dumps(shared), BELL)) == [("Stop", "make lint")]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "Expecting"), ("// mine\n{}", "Expecting"), ('{"a": 1,}', "property name"), ("[]", "no JSON object"),
        ('{"hooks": []}', "hooks is no"), ('{"hooks": {"Stop": {}}}', "hooks.Stop"), ("\ufeff{}", "BOM"),
        ('{"hooks": {"Stop": [{"command": "x"}]}}', "hooks.Stop"), ('{"a": 1, "a": 2}', "twice"),
        ("[" * 90_000, "deep"),
    ],
)  # fmt: skip
def test_what_a_host_would_not_read_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        inserts(text, HOOKS)
    assert inserts("{}", HOOKS)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
groups = st.lists(st.fixed_dictionaries({"hooks": st.lists(st.just({"type": "command", "command": "x"}), max_size=2)}))
hooks = st.dictionaries(st.sampled_from(["Stop", "SessionStart", "Other"]), groups, max_size=3)


@settings(deadline=None)
@given(
    data=st.dictionaries(st.text(max_size=4).filter(lambda key: key != "hooks"), values, max_size=3),
    hooks=st.none() | hooks,
    indent=st.sampled_from([None, 0, 1, 4, "\t"]),
    after=st.sampled_from(["", "\n", " \r\n"]),
)
def test_any_settings_survive(data: dict[str, Any], hooks: dict[str, Any] | None, indent: Any, after: str) -> None:
    whole = data if hooks is None else {**data, "hooks": hooks}
    text = json.dumps(whole, indent=indent, ensure_ascii=False) + after
    changed, places = added(text)
    assert without_inserts(changed, places) == text
    kept = json.loads(changed)
    assert list(kept)[: len(whole)] == list(whole) and {**kept, "hooks": None} == {**whole, "hooks": None}
    assert [item for item in commands(changed) if item[1] != BELL] == commands(text)
    assert commands(without_hooks(changed, BELL)) == commands(text)


FLAT = [HOSTS[name].shape for name in ("cursor", "copilot-cli", "antigravity")]
HANDLER = {"command": "x", "bash": "y", "matcher": "a|b", "failClosed": True}


@settings(deadline=None)
@given(
    shape=st.sampled_from(FLAT),
    data=st.dictionaries(st.sampled_from(["a", "$schema", "mine"]), values, max_size=2),
    events=st.none()
    | st.dictionaries(
        st.sampled_from(["Stop", "SessionStart", "Other"]), st.lists(st.just(HANDLER), max_size=2), max_size=3
    ),
    indent=st.sampled_from([None, 2, "\t"]),
    grouped=st.booleans(),
)
def test_any_settings_survive_where_hooks_stand_without_groups(
    shape: Shape, data: dict[str, Any], events: dict[str, Any] | None, indent: Any, grouped: bool
) -> None:
    if events is not None and grouped:  # which the hosts of this shape read as well
        events = {event: [{"hooks": handlers}] for event, handlers in events.items()}
    whole = {"version": 1, **data} if shape.version and events is not None else dict(data)
    if events is not None:
        whole[shape.section] = {**shape.inside, **events}
    text = json.dumps(whole, indent=indent)
    wanted = inserts(text, HOOKS, shape)
    changed = with_inserts(text, wanted)
    assert without_inserts(changed, [(at, len(piece)) for at, piece in wanted]) == text
    assert inserts(changed, HOOKS, shape) == []
    kept = json.loads(changed)
    for event in EVENTS:
        handler = kept[shape.section][event][-1]
        assert handler[shape.command] == BELL and isinstance(handler[shape.timeout], int)
    assert all(kept[key] == value for key, value in whole.items() if key != shape.section)
    assert kept.get("version", 1) == 1 and all(kept[shape.section][key] is value for key, value in shape.inside.items())
    assert [item for item in commands(changed, shape) if item[1] != BELL] == commands(text, shape)
    rest = without_hooks(changed, BELL, shape)
    assert commands(rest, shape) == commands(text, shape)
    assert all(json.loads(rest)[key] == value for key, value in whole.items() if key != shape.section)
