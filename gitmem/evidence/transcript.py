"""`transcript:SESSION#RECORD[:"quote"]`: what was said or shown in a captured session.

The digest is over the stored bytes of the record, so it is proved by `git cat-file` and `sha256sum` alone. Who spoke is
read by the rules of today, by whoever sets up `Sources.transcripts`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from gitmem.errors import Ambiguous, CorruptRecord, NotFound, UsageError
from gitmem.evidence.quote import occurs, shown, telling_line
from gitmem.evidence.sources import Said, Sources, Transcripts
from gitmem.model.judgement import Resolution
from gitmem.model.nouns import Span, TranscriptRef
from gitmem.model.records import digest
from gitmem.model.text import one_line
from gitmem.model.vocabulary import QUOTE_LIMIT, Role

if TYPE_CHECKING:
    from gitmem.model.sessions import Generation
    from gitmem.store.sessions import StoredSession

EXAMPLE: Final = 'transcript:8c2f6a10#4d1e:"412 passed"'
_PREFIX_LEAST: Final = 4
_BEHIND: Final = 8 * 1024 * 1024  # bytes behind a record within which a host may still tell something of it
_OURS: Final = "ours"  # what gitmem put into a session itself, and so shows nothing
_CANDIDATES: Final = 10
_DEPTH: Final = 40  # levels of a JSON value that are looked into


class _Asked(NamedTuple):
    session: str
    record: str
    quote: str | None


def expand(rest: str, role: Role, sources: Sources) -> TranscriptRef:
    """SESSION is `[HOST/]` and an id or a unique prefix of one; RECORD the id of a record or a tool call, or a prefix.

    Of the turns of one record the first with the quote is meant; of a call without one, its result. Raises
    UsageError, NotFound, Ambiguous with the candidates.
    """
    if sources.transcripts is None:
        raise UsageError("transcript evidence has not been set up here", hint="what can be cited: file, commit, …")
    asked = _parsed(rest)
    stored = _session(asked.session, sources)
    for generation in reversed(stored.manifest.generations):
        turn = _turn(asked, stored, generation, sources.transcripts)
        if turn is None:
            continue
        data = stored.span(generation, turn.start, turn.end)
        if not data:
            raise NotFound(f"the record {turn.record} has no bytes", hint=_show(stored))
        quote = asked.quote if asked.quote is not None else _chosen_quote(turn, data)
        span = Span(generation.number, turn.start, turn.end)
        return TranscriptRef(stored.manifest.name, turn.record, span, digest(data), turn.speaker, quote, role)
    raise NotFound(f"{stored.manifest.name} has no record or call {one_line(asked.record, 60)!r}", hint=_show(stored))


def resolve(ref: TranscriptRef, sources: Sources) -> Resolution:
    """Record and speaker are compared with what the rules of today read there, where an adapter can.

    `human` only when these say that the quoted words are the person's own.
    """
    from gitmem.store.sessions import fetched_sessions, stored_session

    if not isinstance(ref.span, Span):
        return Resolution(ref, "missing", "the span is none")
    host, _, session = ref.session.partition("/")
    stored = stored_session(sources.backend, host, session) if host and session else None
    fetched = fetched_sessions(sources.backend, host, session) if host and session and stored is None else []
    if fetched:
        stored = next((item for item in fetched if _has(item, ref)), fetched[0])
    if stored is None:
        gone = sources.transcripts.forgotten(ref.session) if sources.transcripts else ""
        return Resolution(ref, "unobservable", gone or "the session is not in this clone")
    generation = stored.manifest.generation(ref.span.generation)
    try:
        cited = stored.span(generation, ref.span.start, ref.span.end) if generation else None
    except CorruptRecord as error:
        return Resolution(ref, "changed", error.message)
    if generation is None or cited is None:
        return Resolution(ref, "missing", f"generation {ref.span.generation} has no such bytes")
    quoted = None if ref.quote is None else _is_said(ref.quote, cited)
    text = shown(cited) if not quoted or occurs(ref.quote, cited) else "\n".join(_texts(cited))
    if digest(cited) != ref.sha256:
        return Resolution(ref, "changed", "the stored bytes do not hash to the record", text, quoted)
    read = sources.transcripts
    here = _turns_at(ref, stored, generation, read) if read else []
    if here and not any(turn.record == ref.record for turn in here):
        return Resolution(ref, "missing", f"the bytes are those of the record {here[0].record}", text, quoted)
    if here and not any(turn.speaker == ref.speaker for turn in here):
        said = f"said by {here[0].speaker}, not by {one_line(ref.speaker, 40)}"
        return Resolution(ref, "changed", said, text, quoted)
    if _only_ours(ref, here):
        return Resolution(ref, "missing", "the words are what gitmem itself put into the session", text, False)
    # Of one record parts may be the person's and parts the host's: the quote has to be in the person's.
    human = any(
        turn.speaker == ref.speaker == "human" and (ref.quote is None or ref.quote in turn.text) for turn in here
    )
    if human and read and not read.captured_here(stored):
        return Resolution(ref, "verified", _elsewhere(stored), text, quoted, human=False)
    return Resolution(ref, "verified", read.receipt(stored) if read else "", text, quoted, human)


def _has(stored: StoredSession, ref: TranscriptRef) -> bool:
    """Whether the cited bytes are in it: of two remotes one may have them."""
    generation = stored.manifest.generation(ref.span.generation)
    try:
        cited = stored.span(generation, ref.span.start, ref.span.end) if generation else None
    except CorruptRecord:
        return False
    return cited is not None and digest(cited) == ref.sha256


def _elsewhere(stored: StoredSession) -> str:
    where = f"fetched from {one_line(stored.fetched, 60)}" if stored.fetched else "not captured by this clone"
    return f"the session was {where}: that a person said this is the word of whoever shared it"


def _only_ours(ref: TranscriptRef, here: list[Said]) -> bool:
    """True when the quote, or without one the record, is nothing but what gitmem handed to the host."""
    said = [turn for turn in here if ref.quote is None or ref.quote in turn.text]
    return bool(said) and all(turn.speaker == _OURS for turn in said)


def _turns_at(ref: TranscriptRef, stored: StoredSession, generation: Generation, read: Transcripts) -> list[Said]:
    """The turns of the cited record. Who spoke may hang on what came before, so it is read from the start."""
    found = []
    for turn in read.turns(stored, generation):
        if turn.start > ref.span.end + _BEHIND:
            break
        if (turn.start, turn.end) == (ref.span.start, ref.span.end):
            found.append(turn)
    return found


def _parsed(rest: str) -> _Asked:
    session, mark, record = rest.strip().partition("#")
    quote = None
    if record.endswith('"') and ':"' in record[:-1]:
        record, _, quote = record[:-1].partition(':"')
    if not (session and mark and record):
        raise UsageError(f"{one_line(rest, 80)!r} names no record of a session", hint=f"for example {EXAMPLE}")
    if quote is not None and not 0 < len(quote) <= QUOTE_LIMIT:
        raise UsageError(f"a quote has 1 to {QUOTE_LIMIT} characters", hint="quote the sentence that matters")
    return _Asked(session, record, quote)


def _session(wanted: str, sources: Sources) -> StoredSession:
    from gitmem.store.sessions import sessions_like

    found = sessions_like(sources.backend, wanted)
    if not found:
        raise NotFound(f"no captured session begins with {one_line(wanted, 60)!r}", hint="gitmem sessions list")
    if len(found) > 1:
        names = sorted(item.manifest.name for item in found)
        lines = "\n".join(f"  {name}" for name in names[:_CANDIDATES])
        raise Ambiguous(
            f"{one_line(wanted, 60)!r} begins {len(names)} sessions:\n{lines}",
            hint="type more of the id, or HOST/ID",
            details={"sessions": names},
        )
    return found[0]


def _turn(asked: _Asked, stored: StoredSession, generation: Generation, read: Transcripts) -> Said | None:
    """The turn that is meant. Raises NotFound when its record is there and the quote is not in it."""
    exact: list[Said] = []
    begun: list[Said] = []
    for turn in read.turns(stored, generation):
        ids = (turn.record, turn.call or "")
        if asked.record in ids:
            exact.append(turn)
        elif not exact and len(asked.record) >= _PREFIX_LEAST and any(i.startswith(asked.record) for i in ids):
            begun.append(turn)
    turns = exact or begun
    matched = {turn.record if turn.record.startswith(asked.record) else turn.call for turn in turns}
    if len(matched) > 1:
        lines = "\n".join(f"  {name}" for name in sorted(map(str, matched))[:_CANDIDATES])
        raise Ambiguous(f"{asked.record!r} begins {len(matched)} records:\n{lines}", hint="type more of the id")
    if not turns:
        return None
    meant = [turn for turn in turns if asked.quote is None or asked.quote in turn.text]
    said = [turn for turn in meant if turn.speaker != _OURS]
    if meant and not said:
        raise UsageError(
            "these words are what gitmem itself put into the session, and so no evidence",
            hint="cite what they rest on: gitmem show ID names it",
        )
    if not said:
        raise NotFound(
            f"the record {turns[0].record} of {stored.manifest.name} does not say {one_line(str(asked.quote), 60)!r}",
            hint=f"gitmem sessions show {stored.manifest.name} --record {turns[0].record} --full",
        )
    results = [turn for turn in said if turn.call in matched and turn.speaker == "tool"]
    return results[0] if results and asked.quote is None else said[0]


def _chosen_quote(turn: Said, data: bytes) -> str | None:
    quote = telling_line(turn.text.encode())
    return quote if quote is not None and _is_said(quote, data) else None


def _is_said(quote: str, cited: bytes) -> bool:
    """Whether the quote stands in the record word for word: in its bytes, or in one of its strings."""
    return bool(occurs(quote, cited)) or (bool(quote) and any(quote in text for text in _texts(cited)))


def _texts(cited: bytes) -> Iterator[str]:
    """The strings of the JSON value that the bytes are; none when they are none."""
    try:
        value = json.loads(cited, strict=False)
    except (ValueError, RecursionError):
        return iter(())
    return _strings(value, 0)


def _strings(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < _DEPTH and isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item, depth + 1)


def _show(stored: StoredSession) -> str:
    return f"gitmem sessions show {stored.manifest.name}"
