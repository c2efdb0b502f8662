"""Rules about every text of a change: characters, secrets, instructions to the reader."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

from gitmem.model.judgement import Change, Facts, Reason
from gitmem.model.nouns import Config, Memory
from gitmem.model.text import forbidden, is_clean
from gitmem.model.vocabulary import FILE_LIMIT
from gitmem.policy.codes import reason
from gitmem.policy.instructions import instruction, may_instruct
from gitmem.policy.origin import origin_of
from gitmem.policy.secrets import Secret, find_secrets, may_hold
from gitmem.policy.texts import Text, claims, new_texts, strings

_LONGEST: Final = 4  # bytes of one character in UTF-8
# One record says many things twice, and many records say "active" and "supports".
_secrets_in: Final = lru_cache(maxsize=128)(find_secrets)
_is_instruction: Final = lru_cache(maxsize=128)(instruction)


def fit_to_be_read(change: Change, facts: Facts, config: Config | None) -> Iterator[Reason]:
    """Everything that the change would store is looked at, by each of the rules below."""
    stored, named = ([], False) if facts.plain is change.after else strings(change.after)
    yield from _not_too_many(change, stored)
    if not _suspicious(change, facts, stored, named):
        return
    texts = new_texts(change, facts)
    found = [*_plain_characters(texts), *_no_secrets(texts, change, facts)]
    if origin_of(change, facts) != "human":
        found += _no_instructions(texts)
    # A commit's subject repeats a title: what is told of the title is not told again of a place that nobody wrote.
    told = {one.code for one in found if not _is_name(one)}
    yield from (one for one in found if not (_is_name(one) and one.code in told))


def _is_name(found: Reason) -> bool:
    return found.where.startswith("names[")


def is_plain(memory: Memory) -> bool:
    """True when no rule about texts has anything against this record, whatever its origin."""
    stored, named = strings(memory)
    fits = sum(map(len, stored)) * _LONGEST <= FILE_LIMIT
    together = _together(memory, stored)
    return fits and not named and is_clean(together) and not (may_hold(together) or may_instruct(stored))


def _together(memory: Memory, values: Iterable[str]) -> str:
    # What is looked for as the value of its label has to stand behind it: a body is labelled by the title.
    return "\n".join((*values, f"{memory.title}: {memory.body}"))


def _not_too_many(change: Change, stored: Sequence[str]) -> Iterator[Reason]:
    if not claims(change) or sum(map(len, stored)) * _LONGEST <= FILE_LIMIT:
        return
    size = sum(len(value.encode("utf-8", "surrogatepass")) for value in stored)
    if size > FILE_LIMIT:
        message = f"the texts are {size} bytes together; a file may have {FILE_LIMIT}"
        yield reason("record.long", message, "split the memory into several that link to each other")


def _suspicious(change: Change, facts: Facts, stored: Sequence[str], named: bool) -> bool:
    """False only when no rule below finds anything: one look at all texts together, for that is nearly always so."""
    values = dict.fromkeys((*stored, change.reason, *facts.names))
    together = "\n".join(values) if facts.plain is change.after else _together(change.after, values)
    return (
        _holds_exact(together, change, facts)
        or named
        or not is_clean(together)
        or may_hold(together)
        or (origin_of(change, facts) != "human" and may_instruct(values))
    )


def _holds_exact(together: str, change: Change, facts: Facts) -> bool:
    """True when a value that is secret here may stand in the texts; one that is written otherwise shows as such."""
    if not facts.exact_secrets:
        return False
    if facts.plain is change.after:
        together = "\n".join((together, *strings(change.after)[0]))
    return any(value in together for value in facts.exact_secrets)


def _plain_characters(texts: Sequence[Text]) -> Iterator[Reason]:
    for text in texts:
        found = next(forbidden(text.value), None)
        if found is not None:
            position, char = found
            message = f"{text.where} holds the control or invisible character U+{ord(char):04X} at {position}"
            yield reason("text.characters", message, "write the text without it", text.where)


def _no_secrets(texts: Sequence[Text], change: Change, facts: Facts) -> Iterator[Reason]:
    hint = "write it without the value; a real one must be changed where it is used: it was typed here"
    for text in texts:
        for secret in _secrets(text, facts):
            message = (
                f"{text.where} holds what looks like a secret ({secret.rule}), characters {secret.start}-{secret.end}"
            )
            yield reason("secret", message, hint, text.where)
    title, body = change.after.title, change.after.body
    if not body or not any(text.where == "body" for text in texts):
        return
    if not (_secrets_in(title, facts.exact_secrets) or _secrets_in(body, facts.exact_secrets)):
        for secret in _secrets_in(f"{title}: {body}", facts.exact_secrets):
            message = f"title and body read together hold what looks like a secret ({secret.rule})"
            yield reason("secret", message, hint, "body")


def _secrets(text: Text, facts: Facts) -> list[Secret]:
    """Secrets of the text, or of the text as the value of its field: `db_password: …` in an unknown field."""
    found = _secrets_in(text.value, facts.exact_secrets)
    field = text.where.rpartition(".")[2]
    if found or "extra" not in text.where.replace("[", ".").split("."):
        return found
    label = f"{field}: "
    return [
        Secret(s.rule, s.start - len(label), s.end - len(label))
        for s in _secrets_in(label + text.value)
        if s.start >= len(label)
    ]


def _no_instructions(texts: Sequence[Text]) -> Iterator[Reason]:
    for text in texts:
        if _is_instruction(text.value):
            message = f"{text.where} speaks to its reader and tells it what to do"
            hint = "say it as a fact or as a rule of the project; a person may say it at a terminal"
            yield reason("instruction", message, hint, text.where)


RULES: Final = (fit_to_be_read,)
