"""JSON Schemas of the nouns, generated from them. `schemas/` holds the output; CI fails when it is stale."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from gitmem.model import vocabulary as words
from gitmem.model.ids import ALPHABET, MEMORY_ID_LENGTH
from gitmem.model.nouns import Config, Draft, Event, Memory, Tombstone

NAMES: Final = {"memory": Memory, "draft": Draft, "event": Event, "tombstone": Tombstone, "config": Config}
_MEMORY_ID: Final = f"^[{ALPHABET}]{{{MEMORY_ID_LENGTH}}}$"
# What an editor shows beside a field, by noun ("" for a field that means the same everywhere) and key.
_HELP: Final[Mapping[tuple[str, str], str]] = {
    ("", "format"): "Version of the format.",
    ("", "kind"): "What sort of knowledge this is. A solution or failed_tactic links to its problem.",
    ("", "title"): "The claim itself, in one line.",
    ("", "body"): "What the title leaves out: how it is known, when it holds, what was tried.",
    ("", "status"): "active, maybe_stale and stale are shown to readers; all others are withheld.",
    ("", "scope"): "Who may read it. Enforced.",
    ("", "project"): "The id of the project, made once by gitmem init.",
    ("", "audience"): "team is shared with the branch; private and user stay with one person.",
    ("", "applies_to"): "Path patterns such as services/api/** for which this is delivered before an edit.",
    ("", "key"): "A name such as python.version; at most one active memory has it.",
    ("", "tags"): "Words to find it by.",
    ("", "valid"): "When it was true in the world: from (inclusive) until (exclusive), dates or times, UTC.",
    ("", "from"): "First moment, such as 2026-03-02 or 2026-03-02T10:00:00Z; null is open.",
    ("", "until"): "The first moment at which it no longer holds; null is open.",
    ("", "origin"): "Where the knowledge comes from; derived by the gate, never chosen.",
    ("", "links"): "Typed edges to other memories.",
    ("", "evidence"): "What supports or contradicts it; each with a digest of the exact bytes.",
    ("", "aliases"): "Other names by which it is searched for.",
    ("", "alternatives"): "What a decision ruled out, and why.",
    ("", "cue"): "When a reminder is to be shown.",
    ("", "steps"): "The steps of a plan.",
    ("", "claims"): "What a concept says.",
    ("", "groundings"): "What a concept rests on.",
    ("", "quote"): "Words that occur in the cited bytes exactly so.",
    ("", "role"): "Whether it supports, contradicts or ended the memory.",
    ("", "sha256"): "SHA-256 of the cited bytes, in lower-case hexadecimal.",
    ("", "lines"): "12 or 40-58, counted from 1, both ends included; without it the whole file is cited.",
    ("", "blob"): "The git object id of the file.",
    ("", "commit"): "The git object id of the commit.",
    ("", "patch"): "git's stable patch id, which survives a rebase.",
    ("", "why"): "The reason in a few words.",
    (
        "draft",
        "evidence",
    ): "References in full, or in short: file:src/pool.py:40-58, commit:a9c4e1, test:junit.xml#case.",
    ("config", "evidence"): "For a kind, the types of evidence of which one must support it; else any but a url.",
    ("config", "aliases"): "Older ids of this project.",
    ("config", "review"): "local: a person at a terminal may write active memory. forge: every write goes to review.",
    ("config", "approvals"): "How many people have to approve a pull request on the forge; its check asks for them.",
    ("config", "signers"): "Whose signatures count, each with a public key of OpenSSH.",
    ("config", "languages"): "Languages of which questions are taken by their stems, beside English and Spanish.",
    ("config", "unobservable"): "What becomes of a reference whose bytes cannot be reached: hold or refuse.",
}


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of one noun, by its name in NAMES."""
    from gitmem.model.read import model

    cls = NAMES[name]
    made: dict[str, Any] = model(cls, closed=cls is Draft).model_json_schema()
    properties = made["properties"]
    if cls is Memory:
        properties["id"]["pattern"] = _MEMORY_ID
        properties["status"]["enum"] = list(words.STATUSES)
    if "format" in properties:
        properties["format"]["const"] = words.FORMAT
    if "title" in properties and cls in (Memory, Draft):
        properties["title"].update(minLength=1, maxLength=words.TITLE_LIMIT)
        properties["body"].update(maxLength=words.BODY_LIMIT)
    for part in (made, *made.get("$defs", {}).values()):
        for key, about in part["properties"].items():
            text = (part is made and _HELP.get((name, key))) or _HELP.get(("", key))
            if text and "description" not in about:
                about["description"] = text
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"gitmem-{name}-{words.FORMAT}",
        "title": f"gitmem {name}, format {words.FORMAT}",
        **{key: value for key, value in made.items() if key != "title"},
    }


def schema_text(name: str) -> str:
    return json.dumps(schema(name), indent=2, ensure_ascii=False) + "\n"
