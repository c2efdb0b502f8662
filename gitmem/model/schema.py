"""JSON Schemas of the nouns, generated from them. `schemas/` holds the output; CI fails when it is stale."""

from __future__ import annotations

import json
from typing import Any, Final

from gitmem.model import vocabulary as words
from gitmem.model.ids import ALPHABET, MEMORY_ID_LENGTH
from gitmem.model.nouns import Config, Draft, Event, Memory, Tombstone

NAMES: Final = {"memory": Memory, "draft": Draft, "event": Event, "tombstone": Tombstone, "config": Config}
_MEMORY_ID: Final = f"^[{ALPHABET}]{{{MEMORY_ID_LENGTH}}}$"


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of one noun, by its name in NAMES."""
    from gitmem.model.read import model

    cls = NAMES[name]
    made: dict[str, Any] = model(cls, closed=cls is Draft).model_json_schema()
    properties = made["properties"]
    if cls is Memory:
        properties["id"]["pattern"] = _MEMORY_ID
        properties["status"]["enum"] = list(words.STATUSES)
        properties["format"]["const"] = words.FORMAT
    if "title" in properties and cls in (Memory, Draft):
        properties["title"].update(minLength=1, maxLength=words.TITLE_LIMIT)
        properties["body"].update(maxLength=words.BODY_LIMIT)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"gitmem-{name}-{words.FORMAT}",
        "title": f"gitmem {name}, format {words.FORMAT}",
        **{key: value for key, value in made.items() if key != "title"},
    }


def schema_text(name: str) -> str:
    return json.dumps(schema(name), indent=2, ensure_ascii=False) + "\n"
