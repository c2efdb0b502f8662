"""What an agent may ask for and propose through `gitmem mcp`: few tools, each of which reads or proposes.

A tool takes words and numbers, never a place to write, an actor or a scope. What it answers is framed as data, at most
`RESULT` tokens. It knows nothing of the protocol (`gitmem.mcp`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

from gitmem.app.env import Env
from gitmem.app.tool_arguments import Given, Take, checked
from gitmem.errors import GitmemError, UsageError, error_data
from gitmem.model.frozen import dataclass, replace
from gitmem.model.text import one_line
from gitmem.model.vocabulary import BODY_LIMIT, KINDS, QUOTE_LIMIT, TITLE_LIMIT

if TYPE_CHECKING:
    from gitmem.app.ground import Ground
    from gitmem.app.recalling import Item
    from gitmem.app.workspace import Workspace
    from gitmem.capture.turns import Turn

RESULT: Final = 4000  # tokens of one answer; hosts warn at 10,000
_RECALLED: Final = 2000
_WORDS: Final = 2000  # characters of a question
_TURN: Final = 1200  # characters of a turn that are told
_FOUND: Final = 600  # of one that was searched for
_T = TypeVar("_T")


@dataclass(frozen=True)
class Tool:
    """One tool. reads: it changes nothing. run: gives the framed answer, or raises GitmemError."""

    about: str
    takes: Mapping[str, Take]
    run: Callable[[Env, Given], str]
    reads: bool = True


def call(env: Env, name: str, given: Any) -> tuple[str, bool]:
    """The answer of a tool, and whether it is an error. Raises nothing that is a GitmemError or an OSError."""
    as_tool = replace(env, channel="tool")
    try:
        tool = TOOLS.get(name)
        if tool is None:
            raise UsageError(f"there is no tool {one_line(str(name), 60)!r}", hint=f"one of {', '.join(TOOLS)}")
        return tool.run(as_tool, checked(tool.takes, given)), False
    except GitmemError as error:
        return _framed(as_tool, [_in_own_words(error_data(error))], "an error"), True
    except OSError as error:
        told = GitmemError(f"{error.strerror or type(error).__name__}", hint="gitmem doctor")
        return _framed(as_tool, [error_data(told)], "an error"), True


# What a hint says to somebody at a command line, and what it says to somebody who has these tools.
_OWN_WORDS: Final = (
    (re.compile(r"gitmem list --kind problem[^;,]*"), 'the tool recall with kinds ["problem"] finds problems'),
    (re.compile(r"gitmem list[^;,]*(?:, or gitmem list[^;,]*)?"), "the tool recall finds ids"),
    (re.compile(r"gitmem show (\w+)"), r"the tool show with id \1"),
    (re.compile(r"--(solves|tried-for|distinct-from) (\w+)"), lambda found: _argument(found[1], found[2])),
    (re.compile(r'--because "…"'), "and because"),
    (re.compile(r"(?:cite it again: )?--evidence "), "evidence: "),
)


def _argument(flag: str, value: str) -> str:
    return f'{flag.replace("-", "_")} ["{value}"]'


def _in_own_words(row: Mapping[str, Any]) -> dict[str, Any]:
    """An error or a proposal's answer with hints that name these tools."""
    told = dict(row)
    if isinstance(told.get("hint"), str):
        for form, words in _OWN_WORDS:
            told["hint"] = form.sub(words, told["hint"])
    if "reasons" in told:
        told["reasons"] = [_in_own_words(reason) for reason in told["reasons"]]
    return told


def _framed(env: Env, rows: Iterator[Mapping[str, Any]] | Sequence[Mapping[str, Any]], title: str) -> str:
    from gitmem.app.blocks import framed

    return framed(rows, boundary=env.random(8).hex(), title=title, budget=RESULT)


def _asked(env: Env, ask: Callable[[Ground], _T]) -> _T:
    """`ask` on the ground of now; what it opened is closed, as this process stays."""
    from gitmem.app.ground import answered

    grounds: list[Ground] = []

    def kept(here: Ground) -> _T:
        grounds.append(here)
        return ask(here)

    try:
        return answered(env, kept)
    finally:
        for here in grounds:
            view = here.opened or here.__dict__.get("view")
            if view is not None:
                view.workspace.close()


def _in(env: Env, work: Callable[[Workspace], _T]) -> _T:
    from gitmem.app.workspace import open_workspace

    workspace = open_workspace(env)
    try:
        return work(workspace)
    finally:
        workspace.close()


def _memories(env: Env, items: Sequence[Item], here: Ground, title: str, otherwise: Mapping[str, Any]) -> str:
    from gitmem.app.blocks import prompt

    text = prompt(
        items, now=here.now, boundary=env.random(8).hex(), commit=here.commit, budget=_RECALLED, title=title,
        notes=here.warnings,
    )  # fmt: skip
    return text if items else _framed(env, [otherwise], title)


def _recall(env: Env, given: Given) -> str:
    from gitmem.app.blocks import abstention_data
    from gitmem.app.read_filters import Filters
    from gitmem.app.recalling import Asked, recall

    kinds = tuple(given.get("kinds", ()))
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        raise UsageError(f"there is no kind {one_line(unknown[0], 60)!r}", hint=f"one of {', '.join(KINDS)}")
    filters = Filters(kinds=kinds, limit=max(given.get("limit", 10), 1))
    asked = Asked((given["question"],), filters, previous=given.get("previous"), weak="limit" in given)

    def told(here: Ground) -> str:
        answer = recall(here, asked)
        nothing = abstention_data(answer, 0) if 0 in answer.abstained else {"note": "nothing holds these words"}
        return _memories(env, answer.items, here, given["question"], {"found": 0, **nothing})

    return _asked(env, told)


def _context(env: Env, given: Given) -> str:
    from gitmem.app.context import context

    path = given["path"]
    parts = path.split("/")
    if path.startswith(("/", "~")) or "\\" in path or ".." in parts or "\n" in path or not path.strip():
        raise UsageError("path is no path from the top of the repository", hint="such as src/pool.py")

    def told(here: Ground) -> str:
        if here.work_tree is not None:  # from the top, wherever this process was started
            here = replace(here, env=replace(env, start=here.work_tree))
        answer = context(here, [path], 10).answer
        return _memories(env, answer.items, here, path, {"found": 0, "searched": answer.searched})

    return _asked(env, told)


def _show(env: Env, given: Given) -> str:
    from gitmem.app.reading import show
    from gitmem.model.citations import citation
    from gitmem.model.records import to_data
    from gitmem.policy.visibility import visible

    def told(workspace: Workspace) -> str:
        from gitmem.app.belief import believed_view

        found = show(workspace, given["id"])
        memory = found.memory
        if not visible(believed_view(workspace).viewer, at=env.now()).admits(memory):
            later = memory.linked("superseded_by")
            row = {"id": memory.id, "status": memory.status, "withheld": "its words are not told to agents"}
            return _framed(env, [{**row, **({"superseded_by": list(later)} if later else {})}], memory.id)
        evidence = [
            {"citation": citation(r.ref), "state": r.state, "detail": r.detail, "drift": drift}
            for r, drift in zip(found.resolutions, found.drifts, strict=True)
        ]
        data = {
            key: value for key, value in to_data(memory).items() if key != "evidence" and value not in (None, "", [])
        }
        level = found.review.level if found.review else 0
        return _framed(env, [{**data, "review": level, "evidence": evidence}], memory.id)

    return _in(env, told)


def _propose(env: Env, given: Given) -> str:
    from gitmem.app.remember import remember
    from gitmem.model.nouns import Alternative, Draft, Link, Step

    if not [item for item in given["evidence"] if item.strip()]:
        raise UsageError("a memory needs evidence", hint=TOOLS["propose"].takes["evidence"].about)
    links = [Link("solves", to) for to in given.get("solves", ())]
    links += [Link("tried_for", to) for to in given.get("tried_for", ())]
    links += [Link("differs_from", to, given.get("because", "")) for to in given.get("distinct_from", ())]
    ruled_out = [text.partition(": ") for text in given.get("ruled_out", ())]
    draft = Draft(
        kind=given["kind"], title=given["title"], body=given.get("body", ""), evidence=tuple(given["evidence"]),
        tags=tuple(given.get("tags", ())), applies_to=tuple(given.get("applies_to", ())), key=given.get("key"),
        links=tuple(links), alternatives=tuple(Alternative(title.strip(), why.strip()) for title, _, why in ruled_out),
        cue=given.get("cue"), steps=tuple(Step(text) for text in given.get("steps", ())),
    )  # fmt: skip

    def told(workspace: Workspace) -> str:
        (item,) = remember(workspace, [draft], reason=given.get("because", ""))
        reasons = [{"code": r.code, "message": r.message, "hint": r.hint, "where": r.where} for r in item.reasons]
        row = {"id": item.memory.id, "result": item.result, "note": "a person decides", "reasons": reasons}
        return _framed(env, [_in_own_words(row)], "a proposal")

    return _in(env, told)


def _sessions_search(env: Env, given: Given) -> str:
    from gitmem.app.sessions_search import Asked, search

    asked = Asked(given["words"], host=given.get("host"), limit=max(given.get("limit", 8), 1))

    def told(workspace: Workspace) -> str:
        answer = search(workspace, asked)
        rows = [
            {"cite": f"transcript:{hit.stored.manifest.name}#{hit.turn.record}", **_turn(hit.turn, _FOUND)}
            for hit in answer.hits
        ]
        looked = {"found": answer.total, "sessions": sum(answer.coverage.sessions.values())}
        return _framed(env, [looked, *rows], given["words"])

    return _in(env, told)


def _session_get(env: Env, given: Given) -> str:
    from gitmem.app.sessions import session, turns
    from gitmem.app.sessions_search import DEFAULT

    start, most = given.get("start", 0), max(given.get("limit", 20), 1)

    def told(workspace: Workspace) -> str:
        stored = session(workspace, given["session"])
        said = enumerate(turns(workspace, stored, roles=DEFAULT, record=given.get("record")))
        page = list(islice(said, start, start + most + 1))
        rows = [{"turn": number, "record": turn.record, **_turn(turn, _TURN)} for number, turn in page[:most]]
        more = [{"more": f"start {start + most} goes on"}] if len(page) > most else []
        if given.get("record"):
            from gitmem.app.use_heard import note_opened

            note_opened(workspace, stored.manifest.name, [turn.record for _, turn in page])
        return _framed(env, [{"session": stored.manifest.name}, *more, *rows], stored.manifest.name)

    return _in(env, told)


def _turn(turn: Turn, most: int) -> dict[str, Any]:
    from gitmem.model.times import format_instant

    text = turn.text if len(turn.text) <= most else turn.text[: most - 1] + "…"
    row = {
        "speaker": turn.speaker, "at": format_instant(turn.at) if turn.at else "", "tool": turn.tool,
        "outcome": turn.outcome, "text": text,
    }  # fmt: skip
    return {key: value for key, value in row.items() if value}


def _status(env: Env, given: Given) -> str:
    from gitmem.app.status import status

    def told(workspace: Workspace) -> str:
        health = status(workspace)
        memory = health.memory
        rows: list[dict[str, Any]] = [
            {
                "memory": memory.state,
                "reason": memory.reason,
                "candidates": memory.candidates,
                "sessions": health.sessions,
            }
        ]
        rows += [
            {"host": host.host, "state": host.state, "reason": host.reason, "sessions": host.sessions}
            for host in health.hosts
            if host.state != "absent"
        ]
        return _framed(env, rows, "status")

    return _in(env, told)


_QUESTION: Final = Take("string", "", _WORDS, required=True)
_EVIDENCE: Final = (
    "What it rests on, in short forms: file:PATH:LINES, commit:REV, test:REPORT#case, "
    'transcript:SESSION#RECORD:"quote", memory:ID; url:ADDRESS never alone.'
)


def _many(about: str, most: int = TITLE_LIMIT, *, required: bool = False) -> Take:
    return Take("array", about, most, required=required)


TOOLS: Final[Mapping[str, Tool]] = {
    "recall": Tool(
        "What this repository's memory holds about a question, and what still holds, with ids and citations; or that "
        "it holds nothing. Ask before you assume.",
        {
            "question": _QUESTION,
            "previous": Take("string", "The request before, for a short follow-up.", _WORDS),
            "kinds": _many(f"Only these: {', '.join(KINDS)}."),
            "limit": Take("integer", "", 50),
        },
        _recall,
    ),
    "context": Tool(
        "Rules, known traps and decisions about a file or folder. Ask before you edit it.",
        {"path": Take("string", "From the top of the repository, such as src/pool.py.", 1000, required=True)},
        _context,
    ),
    "show": Tool(
        "One memory in full, with its evidence checked again.",
        {"id": Take("string", "An id or the start of one.", 64, required=True)},
        _show,
    ),
    "propose": Tool(
        "Propose one memory worth keeping: a fact, decision, convention, problem, solution or failed_tactic (a trap: "
        "what was tried and failed) of this project, or another of the kinds. It waits for a person. When it is "
        "refused, mend what the reasons name and propose again; what was rejected is not proposed again.",
        {
            "kind": Take("string", "", 40, required=True, words=KINDS),
            "title": Take("string", "The claim in one sentence.", 4 * TITLE_LIMIT, required=True),
            "evidence": _many(_EVIDENCE, 2 * QUOTE_LIMIT, required=True),
            "body": Take("string", "", 2 * BODY_LIMIT),
            "tags": _many(""),
            "applies_to": _many("The files that it is about, as patterns: src/**."),
            "key": Take("string", "What it is the value of, if only one may hold: build.timeout", TITLE_LIMIT),
            "solves": _many("Ids of problems, for a solution."),
            "tried_for": _many("Ids of problems, for a failed_tactic."),
            "distinct_from": _many("Ids of near ones that it is not; say why in because."),
            "because": Take("string", "", 2 * QUOTE_LIMIT),
            "ruled_out": _many('For a decision: "title: why".', 2 * QUOTE_LIMIT),
            "cue": Take("string", "For a reminder: a date or a file.", TITLE_LIMIT),
            "steps": _many("Of a plan or procedure.", QUOTE_LIMIT),
        },
        _propose,
        reads=False,
    ),
    "sessions_search": Tool(
        "Turns of captured agent sessions that hold most of these words, each as it is cited.",
        {
            "words": _QUESTION,
            "host": Take("string", "Only of this host, such as claude-code.", 40),
            "limit": Take("integer", "", 30),
        },
        _sessions_search,
    ),
    "session_get": Tool(
        "Who said what in one captured session.",
        {
            "session": Take("string", "Its id or the start of one.", 200, required=True),
            "record": Take("string", "Only the record or call whose id begins so.", 200),
            "start": Take("integer", "The turn to begin with.", 10_000_000),
            "limit": Take("integer", "", 50),
        },
        _session_get,
    ),
    "status": Tool(
        "Whether sessions are captured, the index has seen all, and how many candidates wait for a person.", {}, _status
    ),
}
