"""What an agent is told unasked: a brief when a session starts or lost its context, what surely answers a prompt, and
what holds for a file before it is edited. Nothing twice in a session, and nothing at all when nothing is relevant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitmem.app import reminded, shown
from gitmem.app.blocks import Block, block
from gitmem.app.env import Env
from gitmem.app.ground import Ground, answered
from gitmem.app.injection_budget import CEILING, budgets
from gitmem.app.injection_hosts import Said, answer, said, silence
from gitmem.app.injection_log import note_failure
from gitmem.errors import GitmemError, NotARepository, UsageError
from gitmem.model.frozen import replace
from gitmem.store.at_rest import look

if TYPE_CHECKING:
    from datetime import datetime

    from gitmem.app.recalling import Item
    from gitmem.recall.query import Hit

LARGEST: Final = 16 * 1024 * 1024  # bytes of a payload: a write brings the file with it
SHORT: Final = 8  # words of a prompt that is read together with the one before it
_LONGEST: Final = 4000  # characters of a prompt that are asked
_ITEMS: Final = 12  # that are looked at; the budget lets in fewer
_PATIENCE: Final = 600  # seconds in which a hook is not tried again after one that was stopped
_TAIL: Final = 256 * 1024  # bytes of a transcript in which the prompt before is looked for


def injected(env: Env, host: str, event: str, raw: bytes) -> str:
    """What answers a host's hook, in its own form; what was told is kept. Never raises: what goes wrong is silence for
    the host, and kept for `status`."""
    private: Path | None = None
    try:
        private = home_of(env)
        if len(raw) > LARGEST:
            raise UsageError(f"the hook was given more than {LARGEST:,} bytes")
        heard = said(host, event, raw)
        if heard is None:
            return silence("cursor" if b'"cursor_version"' in raw else host)
        here = _where(env, heard)
        private = home_of(here)
        if private is None:
            return answer(heard, "")
        with shown.session(private, heard.host, heard.session) as path, _at_work(path.parent, env.now()):
            return answer(heard, _told(here, heard, path))
    except Exception as error:  # whatever it is, it is not the host's
        if private is not None:
            note_failure(private, env.now(), host, event, error)
        return silence(host)


@contextmanager
def _at_work(folder: Path, now: datetime) -> Iterator[None]:
    """Raises GitmemError when the hook before this one was stopped by its host, as while a large index is built:
    not every prompt should wait for that in vain."""
    mark = folder / ".at-work"
    with suppress(FileNotFoundError):
        if now.timestamp() - mark.stat().st_mtime < _PATIENCE:
            raise GitmemError("the hook before this one was stopped before it ended", hint="gitmem reindex")
    mark.touch(0o600)
    try:
        yield
    finally:
        mark.unlink(missing_ok=True)


def _where(env: Env, heard: Said) -> Env:
    """The folder that the host names, where it is one: some run a hook elsewhere."""
    if env.start is None and heard.folder and Path(heard.folder).is_dir():
        return replace(env, start=Path(heard.folder))
    return env


def home_of(env: Env) -> Path | None:
    """This clone's private folder; None where gitmem is not set up."""
    start = env.start or env.cwd
    seen = look(start, env.environ, ())
    if seen is not None:
        private = seen.private
    else:
        from gitmem.store.repository import locate

        try:
            private = locate(start, environ=env.environ).private
        except NotARepository:
            return None
    return private if (private / "belief.json").is_file() else None


def _told(env: Env, heard: Said, path: Path) -> str:
    """The blocks for one event, which the session holds from now on."""
    room = budgets(env.environ)
    known = shown.Shown() if heard.forgets else shown.load(path)
    if heard.moment == "compact":
        shown.save(path, known)
        return ""
    told: list[Block] = []
    if room["brief"] and heard.moment != "edit" and (heard.moment == "start" or not known.briefed):
        told.append(answered(env, lambda ground: _brief(ground, known, room["brief"])))
    if heard.moment == "prompt" and (most := min(room["prompt"], CEILING - sum(part.tokens for part in told))) > 0:
        now_known = _with(known, told, env.now())
        told.append(answered(env, lambda ground: _prompt(ground, heard, now_known, most)))
    if heard.moment == "edit" and room["edit"]:
        told.append(answered(env, lambda ground: _edit(ground, heard, known, room["edit"])))
    fresh = _with(known, told, env.now())
    if heard.moment != "edit":
        fresh = replace(fresh, briefed=True)
    if fresh != known or heard.forgets:
        shown.save(path, fresh)
    reminded.note(path.parent.parent, [item for part in told for item in part.told])
    return "".join(part.text for part in told)


def _brief(ground: Ground, known: shown.Shown, budget: int) -> Block:
    from gitmem.app.brief import brief, remember_told

    found = brief(ground)
    items = [item for _, item in found.in_turn() if version(item.hit) not in known.versions]
    news = [] if known.briefed else found.news()
    told = _block(ground, items, budget, "this repository", known, [*news, *found.warnings], turn=found.turn_of())
    remember_told(found, told.told, ground.env.environ)
    return told


def _prompt(ground: Ground, heard: Said, known: shown.Shown, budget: int) -> Block:
    from gitmem.app.plans import adopted
    from gitmem.app.read_filters import Filters
    from gitmem.app.recalling import Asked, sure

    prompt = heard.prompt or (last_words(heard) if heard.event == "PreInvocation" else "")
    question = asked(prompt)
    if not question:
        return Block()
    before = asked(last_words(heard, but=prompt)) if heard.prompt and len(question.split()) <= SHORT else ""
    wanted = Asked((question,), Filters(limit=_ITEMS), previous=before or None)
    is_new = _news(ground, known)
    items = (*adopted(ground, prompt, is_new), *sure(ground, wanted, is_new))
    return _block(ground, items, budget, "this prompt", known)


def _edit(ground: Ground, heard: Said, known: shown.Shown, budget: int) -> Block:
    from gitmem.app.context import context, path_from_top
    from gitmem.app.recalling import HAPPENED

    paths = []
    for path in heard.paths:
        with suppress(UsageError):  # it lies outside of the repository
            paths.append(path_from_top(ground, path))
    if not paths:
        return Block()
    found = context(ground, [str(Path(ground.work_tree or "") / path) for path in paths], _ITEMS, companions=False)
    is_new = _news(ground, known)
    items = [item for item in found.answer.items if item.memory.kind not in HAPPENED and is_new(item.hit)]
    return _block(ground, items, budget, ", ".join(found.paths), known)


def _news(ground: Ground, known: shown.Shown) -> Callable[[Hit], bool]:
    """Whether a memory is news to the session, and no reminder that came up before."""
    not_yet = reminded.not_yet(ground.private)
    return lambda hit: version(hit) not in known.versions and not_yet(hit)


def _block(
    ground: Ground, items: Sequence[Item], budget: int, title: str, known: shown.Shown, notes: Sequence[str] = (),
    turn: Callable[[Item], int] = lambda _: 0,
) -> Block:  # fmt: skip
    return block(
        items, now=ground.now, boundary=ground.env.random(8).hex(), commit=ground.commit, budget=budget, title=title,
        notes=notes, turn=turn, is_new=lambda hit: version(hit) not in known.versions,
        is_named=lambda hit: version(hit) in known.named,
    )  # fmt: skip


def version(hit: Hit) -> str:
    """A memory as it stands: told again when it changes."""
    return f"{hit.id}:{hit.changed}"


def _with(known: shown.Shown, told: Sequence[Block], now: datetime) -> shown.Shown:
    hits = [item.hit for part in told for item in part.told]
    since = {**{hit.id: int(now.timestamp()) for hit in hits}, **known.since}
    versions = tuple(dict.fromkeys((*known.versions, *map(version, hits))))
    titles = dict.fromkeys((*known.named, *(version(item.hit) for part in told for item in part.named)))
    return replace(known, versions=versions, named=tuple(titles), since=since)


def asked(prompt: str) -> str:
    """A prompt as a question: no command of the host, and no quotes, which would ask for the words as they stand."""
    text = prompt[:_LONGEST].replace('"', " ").split()
    return " ".join(text[1:] if text and text[0].startswith("/") and text[0].count("/") == 1 else text)


def last_words(heard: Said, but: str = "") -> str:
    """What a person said last, other than `but`, by the end of the host's own file; it is not kept anywhere."""
    from gitmem.app.transcripts import adapter_of
    from gitmem.capture.records import records

    adapter = adapter_of(heard.host)
    if adapter is None or not heard.transcript.startswith("/"):
        return ""
    try:
        with Path(heard.transcript).open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(size - _TAIL, 0))
            if size > _TAIL:
                file.readline()
            tail = file.read(_TAIL)
    except (OSError, ValueError):
        return ""
    last = ""
    for turn in adapter.turns(records([tail], adapter.suffix)):
        if turn.speaker == "human" and turn.text.strip() and turn.text.strip() != but.strip():
            last = turn.text
    return last
