"""The text of a pull request for a proposal: Markdown in which nothing that others wrote is markup."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gitmem.app.markdown import cell, quoted
from gitmem.app.propose import Offer, Proposed
from gitmem.model.citations import citation
from gitmem.model.judgement import Neighbour
from gitmem.model.nouns import Config
from gitmem.model.text import one_line

BODY_LIMIT: Final = 60_000  # characters; GitHub takes 65,536
_QUOTES: Final = 4  # references of one memory that are quoted
_WHOLE: Final = 25  # memories that are shown in full


def title(offer: Offer) -> str:
    """One line without markup."""
    if len(offer.items) == 1:
        return one_line(f"memory: {offer.items[0].memory.title}", 120)
    return f"memory: {len(offer.items)} memories"


def body(offer: Offer, config: Config) -> str:
    """What a reviewer has to know: the table, each memory with its evidence, what is like it, what was checked."""
    lines = [
        f"{len(offer.items)} {'memory' if len(offer.items) == 1 else 'memories'} for `gitmem/main`, one commit each.",
        "",
        "| id | kind | what | origin | proposed by |",
        "|---|---|---|---|---|",
        *(_row(item) for item in offer.items),
        "",
        *_how_it_lands(offer, config),
        "",
    ]
    for number, item in enumerate(offer.items):
        shown = list(_shown(item))
        if number >= _WHOLE or sum(map(len, lines)) + sum(map(len, shown)) > BODY_LIMIT - 4000:
            lines += [f"… and {len(offer.items) - number} more: the files of this pull request hold them.", ""]
            break
        lines += shown
    lines += [*_checks(offer), ""]
    text = "\n".join(lines)
    return text if len(text) <= BODY_LIMIT else text[: BODY_LIMIT - 40] + "\n\n… cut: see the files.\n"


def _row(item: Proposed) -> str:
    memory, actor = item.memory, item.proposal.actor if item.proposal else None
    by = f"{actor.channel}" + (f" ({actor.host})" if actor.host else "") if actor else "unknown"
    said = cell(memory.title, width=200)
    return f"| `{memory.id}` | {memory.kind} | {said} | {memory.origin} | {cell(by, width=60)} |"


def _how_it_lands(offer: Offer, config: Config) -> Iterator[str]:
    if offer.waits:
        yield (
            "A program proposed this. Merged, these stay candidates that nobody is shown, "
            "until a person runs `gitmem review`."
        )
    elif config.review == "forge":
        yield "Merging decides: the policy leaves review to the forge. Merged, these are active."
    else:
        yield "A person at a terminal let these in; merged, they are active."
    yield "Review level 0: no key proves who proposed or decided."


def _shown(item: Proposed) -> Iterator[str]:
    memory = item.memory
    yield f"### {cell(memory.title, width=200)}"
    yield ""
    yield f"`{memory.id}` · {memory.kind}"
    if memory.body:
        yield ""
        yield from quoted(memory.body, lines=20)
    facts = [("key", memory.key or ""), ("tags", ", ".join(memory.tags)), ("paths", ", ".join(memory.applies_to))]
    facts += [(link.type, link.to + (f" ({link.why})" if link.why else "")) for link in memory.links]
    if any(value for _, value in facts):
        yield ""
        yield from (f"- {name.replace('_', ' ')}: {cell(value)}" for name, value in facts if value)
    yield ""
    yield "Evidence, as it resolved when this was proposed:"
    yield ""
    for resolution in item.facts.resolutions[:_QUOTES]:
        yield f"- **{resolution.state}** {cell(citation(resolution.ref), code=True)}"
        if resolution.ref.quote:
            yield ""
            yield from (f"  {line}" for line in quoted(resolution.ref.quote, lines=6))
            yield ""
    if len(item.facts.resolutions) > _QUOTES:
        yield f"- and {len(item.facts.resolutions) - _QUOTES} more"
    if item.facts.neighbours:
        yield ""
        yield "What says nearly the same, or has the same title:"
        yield ""
        yield from (_near(near) for near in item.facts.neighbours[:8])
    yield ""


def _near(near: Neighbour) -> str:
    state = "rejected" if near.where == "tombstone" else near.status
    return f"- `{near.id}` ({state}, {near.similarity:.2f}): {cell(near.title, width=160)}"


def _checks(offer: Offer) -> Iterator[str]:
    yield "### Checks"
    yield ""
    yield f"- the gate let each of these in on top of `{offer.base[:12]}`; evidence was looked at again"
    yield f"- `gitmem verify --merge-into gitmem/main --head {offer.branch}` judges the merge, as the check does"
    for memory, reasons in offer.left:
        codes = ", ".join(dict.fromkeys(reason.code for reason in reasons))
        # Without a word of it: what the gate refuses may hold a secret, and nobody else has it.
        yield f"- left out: `{memory.id}` ({cell(codes)})"
