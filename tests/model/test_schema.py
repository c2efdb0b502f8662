"""The schemas that editors use are the ones that the nouns give, and they describe what is really written."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gitmem.model.layout import SCHEMA, SCHEMA_COMMENT, memory_path
from gitmem.model.nouns import EVIDENCE_CLASSES, Memory
from gitmem.model.records import to_data
from gitmem.model.schema import NAMES, schema, schema_text
from gitmem.model.vocabulary import FORMAT, KINDS, STATUSES
from tests.model.samples import MEMORY
from tests.model.test_drafts import DATA
from tests.model.test_records import CONFIG, EVENT, TOMBSTONE

SCHEMAS = Path(__file__).parents[2] / "schemas"
TYPES = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict, "null": type(None)}


def mismatches(value: Any, rule: dict[str, Any], defs: dict[str, Any], place: str = "") -> list[str]:
    """What a validator would say, for the few words of JSON Schema that the schemas use."""
    if "$ref" in rule:
        rule = defs[rule["$ref"].rsplit("/", 1)[1]]
    for word in ("anyOf", "oneOf"):
        if word in rule:
            fits = [option for option in rule[word] if not mismatches(value, option, defs)]
            return [] if (len(fits) == 1 if word == "oneOf" else fits) else [f"{place}: fits {len(fits)} of {word}"]
    expected = TYPES.get(rule.get("type", ""))
    if expected and (not isinstance(value, expected) or (expected is int and isinstance(value, bool))):
        return [f"{place}: is no {rule['type']}"]
    found = []
    if "const" in rule and value != rule["const"]:
        found.append(f"{place}: is not {rule['const']}")
    if "enum" in rule and value not in rule["enum"]:
        found.append(f"{place}: is none of the words")
    if "pattern" in rule and not re.search(rule["pattern"], value):
        found.append(f"{place}: has another shape")
    if isinstance(value, str) and not rule.get("minLength", 0) <= len(value) <= rule.get("maxLength", 10**9):
        found.append(f"{place}: is too short or too long")
    if isinstance(value, list):
        for number, item in enumerate(value):
            found += mismatches(item, rule.get("items", {}), defs, f"{place}.{number}")
    if isinstance(value, dict):
        known = rule.get("properties", {})
        found += [f"{place}.{key}: is missing" for key in rule.get("required", ()) if key not in value]
        for key, item in value.items():
            other = rule.get("additionalProperties", True)
            if key not in known and other is False:
                found.append(f"{place}.{key}: is not known")
            else:
                found += mismatches(
                    item, known.get(key, other if isinstance(other, dict) else {}), defs, f"{place}.{key}"
                )
    return found


def check(name: str, value: Any) -> list[str]:
    made = schema(name)
    return mismatches(value, made, made.get("$defs", {}))


@pytest.mark.parametrize("name", NAMES)
def test_the_files_are_what_the_nouns_give(name: str) -> None:
    """gitmem schema NAME > schemas/NAME.schema.json mends it."""
    assert (SCHEMAS / f"{name}.schema.json").read_text() == schema_text(name)
    assert json.loads(schema_text(name))["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_there_are_no_other_files() -> None:
    assert sorted(path.name for path in SCHEMAS.iterdir()) == sorted(f"{name}.schema.json" for name in NAMES)


@pytest.mark.parametrize(
    ("name", "good"),
    [
        ("memory", to_data(MEMORY)), ("draft", DATA), ("event", to_data(EVENT)), ("tombstone", to_data(TOMBSTONE)),
        ("config", to_data(CONFIG)),
    ],
)  # fmt: skip
def test_a_written_record_fits_and_a_wrong_one_does_not(name: str, good: dict[str, Any]) -> None:
    assert check(name, good) == []
    for key in schema(name)["required"]:
        assert check(name, {other: value for other, value in good.items() if other != key}) == [f".{key}: is missing"]
    for key in schema(name)["properties"]:
        assert check(name, {**good, key: 1.5}), key


@pytest.mark.parametrize(
    ("field", "value"),
    [("id", "7K3Q9DXWM2AB"), ("id", "7k3q"), ("kind", "rumour"), ("status", "new"), ("origin", "rumour"), ("title", ""),
     ("title", "x" * 201), ("body", "x" * 8001), ("format", FORMAT + 1), ("evidence", [{"type": "rumour"}]),
     ("evidence", [{"type": "human", "quote": "x"}]), ("scope", {}), ("links", [{"type": "likes", "to": "x"}])],
)  # fmt: skip
def test_what_the_gate_would_refuse_is_marked_in_the_editor(field: str, value: Any) -> None:
    good = to_data(MEMORY)
    assert check("memory", good) == []
    assert check("memory", {**good, field: value})


def test_a_memory_may_have_unknown_fields_and_a_draft_may_not() -> None:
    assert check("memory", to_data(replace(MEMORY, extra={"x": 1}))) == []
    assert check("draft", DATA) == []
    assert check("draft", {**DATA, "titel": "x"}) == [".titel: is not known"]


def test_the_lists_of_words_are_those_of_the_format() -> None:
    made = schema("memory")
    assert made["properties"]["kind"]["enum"] == list(KINDS)
    assert made["properties"]["status"]["enum"] == list(STATUSES)
    assert set(made["properties"]["evidence"]["items"]["discriminator"]["mapping"]) == set(EVIDENCE_CLASSES)
    assert made["additionalProperties"] is True


@pytest.mark.parametrize("name", ["memory", "draft", "config"])
def test_what_people_write_is_explained(name: str) -> None:
    silent = [key for key, about in schema(name)["properties"].items() if not about.get("description")]
    assert silent == (["id"] if NAMES[name] is Memory else [])


def test_a_memory_file_points_at_its_schema() -> None:
    folder = Path(memory_path(MEMORY.id)).parent
    relative = SCHEMA_COMMENT.rsplit("$schema=", 1)[1]
    parts: list[str] = []
    for part in (folder / relative).parts:
        parts = parts[:-1] if part == ".." else [*parts, part]
    assert "/".join(parts) == SCHEMA
