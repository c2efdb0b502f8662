"""Episodes: one memory for each session in which something was done, written when the session has fallen silent.

How long it is silent goes by the times of its records. A session that goes on later changes its episode.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, Literal

from gitmem.app.facts import Lookup
from gitmem.app.learning_reader import Reader, reader_of
from gitmem.app.lesson_text import below
from gitmem.app.lessons import cited, holder
from gitmem.app.plan_carried import carried
from gitmem.app.writing import Mutation, write
from gitmem.capture.story import Story, story
from gitmem.errors import GitmemError, Refused
from gitmem.model.frozen import dataclass, replace
from gitmem.model.ids import memory_id
from gitmem.model.judgement import Change
from gitmem.model.layout import PRIVATE
from gitmem.model.nouns import Memory, Scope, TranscriptRef
from gitmem.model.text import is_clean, one_line
from gitmem.model.times import format_instant, parse_instant
from gitmem.model.vocabulary import ITEM_LIMIT, TITLE_LIMIT
from gitmem.policy.text_rules import is_plain
from gitmem.store.sessions import stored_session

if TYPE_CHECKING:
    from gitmem.app.workspace import View, Workspace

TAG: Final = "episode"
SILENT: Final = timedelta(hours=1)  # without a record, after which a session is over until it goes on
_ASKED: Final = 300
_LISTED: Final = 12  # of files, checks and so on that are named
Result = Literal["told", "changed", "unchanged", "empty", "set aside", "refused"]


@dataclass(frozen=True)
class Episode:
    """What became of one session's episode. `empty`: nothing was done in it, so there is none. `id`, `plan`: of the
    episode and of the plan that carries its open steps on; empty where there is none."""

    session: str
    result: Result
    ended: str = ""
    title: str = ""
    id: str = ""
    plan: str = ""
    why: str = ""


def tell_silent(workspace: Workspace, kept: dict[str, Any], top: Sequence[str], *, dry_run: bool) -> list[Episode]:
    """Write the episodes of the sessions that have fallen silent since they were told; `kept` remembers which were."""
    now = workspace.env.now()
    told = []
    for name, row in kept.items():
        if not is_due(row, kept, now):
            continue
        host, _, session = name.partition("/")
        stored = stored_session(workspace.backend, host, session)
        reader = reader_of(workspace, stored) if stored is not None else None
        if reader is None:
            continue
        try:
            told.append(_told(workspace, reader, top, dry_run=dry_run))
        except GitmemError as error:
            told.append(Episode(name, "refused", why=error.message))
        row["told"] = row.get("at")
    return told


def is_due(row: Mapping[str, Any], kept: Mapping[str, Any], now: datetime) -> bool:
    """Whether a session, by what is remembered of it, has fallen silent and its episode does not say so yet."""
    last = _last(row)
    if row.get("child") or row.get("told") == row.get("at"):
        return False
    return last is None or _now_by(kept, now) - last >= SILENT


def _now_by(kept: Mapping[str, Any], now: datetime) -> datetime:
    """The time it is at the least: a clock that is behind the records is wrong."""
    return max([now, *(last for row in kept.values() if (last := _last(row)) is not None)])


def _last(row: Mapping[str, Any]) -> datetime | None:
    try:
        return parse_instant(row["last"]) if row.get("last") else None
    except ValueError:
        return None


def _told(workspace: Workspace, reader: Reader, top: Sequence[str], *, dry_run: bool) -> Episode:
    name = reader.stored.manifest.name
    found = story(reader.turns())
    if found is None or not _worth(found):
        return Episode(name, "empty", ended=found.ended if found else "")
    key = f"episode.{sha256(name.encode()).hexdigest()[:20]}"
    done: list[Episode] = []

    def plan(view: View, known: Lookup) -> list[Mutation]:
        before, aside = holder(view, known, key)
        if aside and before is None:
            done[:] = [Episode(name, "set aside", found.ended)]
            return []
        memory = _memory(view, reader, found, key, top)
        steps = carried(view, known, reader, found, key)
        plan_id = steps[-1].change.after.id if steps else ""
        if before is None:
            done[:] = [Episode(name, "told", found.ended, memory.title, memory.id, plan_id)]
            return [Mutation(Change("create", memory), PRIVATE), *steps]
        after = replace(memory, id=before.id, status=before.status, origin=before.origin, extra=before.extra)
        if before.scope.audience != "private" or _same(after, before):
            done[:] = [Episode(name, "unchanged", found.ended, before.title, before.id, plan_id)]
            return steps
        done[:] = [Episode(name, "changed", found.ended, after.title, after.id, plan_id)]
        return [Mutation(Change("edit", after, before=before, reason="the session went on"), PRIVATE), *steps]

    try:
        write(workspace, plan, subject=lambda _: f"episode: {one_line(name, 60)}", dry_run=dry_run)
    except Refused as error:
        codes = {reason.code for reason in error.reasons}
        why = "; ".join(dict.fromkeys(f"{reason.code}: {reason.message}" for reason in error.reasons))
        if codes == {"origin.lower"}:  # a person has written it anew
            return Episode(name, "unchanged", found.ended)
        return Episode(name, "set aside" if "tombstoned" in codes else "refused", found.ended, why=why)
    return done[0]


def _same(after: Memory, before: Memory) -> bool:
    return replace(after, origin=before.origin) == before


def _worth(found: Story) -> bool:
    """Whether there is more to tell than what was said, which the session itself holds."""
    done = found.files or found.commits or found.passed or found.broken or found.fixed
    return bool(done or any(not step.done for step in found.steps) or (found.ended == "interrupted" and found.asked))


def _memory(view: View, reader: Reader, found: Story, key: str, top: Sequence[str]) -> Memory:
    memory = _written(view, reader, found, key, top, asked=_words(found))
    return memory if is_plain(memory) else _written(view, reader, found, key, top, asked="")


def _words(found: Story) -> str:
    """The person's first words, as far as they are one line that can be quoted."""
    text = found.asked.text.strip() if found.asked else ""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line[:_ASKED].strip() if is_clean(line) else ""


def _written(view: View, reader: Reader, found: Story, key: str, top: Sequence[str], *, asked: str) -> Memory:
    manifest = reader.stored.manifest
    when = found.began or found.fell_silent
    start = f"{manifest.host} {manifest.session[:8]}" + (
        f", {format_instant(when)[:16].replace('T', ' ')}" if when else ""
    )
    folders = [*top, *([found.top] if found.top else [])]
    files = [below(path, folders) for path in found.files]
    evidence: list[TranscriptRef] = []
    if found.asked is not None:
        evidence.append(cited(view, reader, found.asked, asked))
    if found.shown is not None:
        evidence.append(cited(view, reader, found.shown, ""))
    return Memory(
        id=memory_id(view.workspace.env.random(8)),
        kind="episode",
        title=one_line(f"{start} ({found.ended}): {asked or 'a session'}", TITLE_LIMIT),
        body="\n".join(_body(found, asked, files)),
        status="active",
        scope=Scope(view.require_config().project, "private"),
        origin="observed",
        key=key,
        tags=(TAG, found.ended),
        applies_to=tuple(path for path in dict.fromkeys(files) if path[:1] not in ("…", "/") and ".." not in path)[
            :ITEM_LIMIT
        ],
        evidence=tuple(evidence),
    )


def _body(found: Story, asked: str, files: Sequence[str]) -> Iterator[str]:
    if asked:
        yield f"Asked: “{asked}”"
    yield f"Ended: {found.ended}; {found.why}"
    rows = (
        ("Files", list(dict.fromkeys(files))),
        ("Commits", list(found.commits)),
        ("Passed", [check.name for check in found.passed]),
        ("Still failing", [f"{check.name}: {check.error}" if check.error else check.name for check in found.broken]),
        ("Got past", [_got_past(fix.failed.name, fix.failed.error) for fix in found.fixed]),
        ("Open", [step.text for step in found.steps if not step.done]),
    )
    for title, items in rows:
        told = [one_line(item, 200) for item in dict.fromkeys(items) if is_clean(item)]
        if told:
            more = f"; {len(told) - _LISTED} more" if len(told) > _LISTED else ""
            yield f"{title}: {'; '.join(told[:_LISTED])}{more}"


def _got_past(name: str, error: str) -> str:
    return f"{name}: {error}"
