"""The command `gitmem`: finds the verb, loads only what it needs, and turns every error into one message.

Only the module of the verb that was asked for is imported (docs/performance.md, "Start-up").
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from gitmem import __version__
from gitmem.app.env import Env, observe
from gitmem.cli.door import Door
from gitmem.errors import EXIT_CODES, GitmemError, UsageError
from gitmem.model.frozen import dataclass
from gitmem.model.text import one_line

if TYPE_CHECKING:
    import typer


@dataclass(frozen=True)
class Verb:
    """Where a verb lives, and its line in the list of verbs. Hidden verbs are for hooks."""

    module: str
    help: str
    group: str
    hidden: bool = False


VERBS: Final[dict[str, Verb]] = {
    "init": Verb("init", "begin the memory of this repository, or adopt its remote's", "Begin"),
    "trust": Verb("sync", "let memory that came from elsewhere be shown", "Begin"),
    "sync": Verb("sync", "fetch, verify, merge and push the branch of memory", "Share"),
    "remember": Verb("remember", "put memory in, with its evidence", "Write"),
    "check": Verb("remember", "ask the gate about drafts without writing", "Write"),
    "import": Verb("imports", "bring in existing notes as candidates", "Write"),
    "propose": Verb("propose", "cut a branch for review by pull request from what waits", "Write"),
    "edit": Verb("moves", "change the text, tags, paths or evidence of a memory", "Write"),
    "supersede": Verb("moves", "put a new memory in the place of an old one", "Write"),
    "wrong": Verb("moves", "a memory is wrong: withhold it and keep it from coming back", "Write"),
    "lift": Verb("moves", "undo a rejection", "Write"),
    "promote": Verb("promote", "propose a memory of your own to the team", "Write"),
    "retract": Verb("moves", "take a memory back without saying that it is wrong", "Write"),
    "archive": Verb("moves", "put a memory away", "Write"),
    "restore": Verb("moves", "bring an archived, disputed or stale memory back", "Write"),
    "dispute": Verb("moves", "withhold a memory until somebody settles it", "Write"),
    "accept": Verb("moves", "let candidates of the inbox in", "Write"),
    "reject": Verb("moves", "turn candidates of the inbox down for good", "Write"),
    "feedback": Verb("feedback", "a memory was useful, or is wrong", "Write"),
    "conflicts": Verb("conflicts", "what merges left for people to decide, and the decision", "Write"),
    "review": Verb("review", "decide on what waits, with its evidence and what stands against it", "Write"),
    "install": Verb("install", "have agent hosts ring, so that their sessions are captured", "Sessions"),
    "uninstall": Verb("install", "take out of agent hosts what install put in", "Sessions"),
    "package": Verb("package", "write a folder that an agent host installs as its plugin", "Sessions"),
    "capture": Verb("capture", "store what the agents' transcripts have gained, without secrets", "Sessions"),
    "sessions": Verb("sessions", "list, show, search, verify or restore captured sessions", "Sessions"),
    "lessons": Verb("lessons", "learn from captured sessions: what failed and passed later, what is open", "Sessions"),
    "directives": Verb("directives", "what was learned from what you told your agents to do from now on", "Sessions"),
    "consolidate": Verb("consolidate", "close what time has decided, list what needs a person", "Sessions"),
    "distill": Verb("distill", "have a model of yours draft candidates from a captured session", "Sessions"),
    "skill": Verb("skill", "what helped in two sessions, as a SKILL.md on your word", "Sessions"),
    "recall": Verb("reading", "what is known about these words, and still holds", "Read"),
    "context": Verb("unasked", "what still holds for these files, before an edit", "Read"),
    "brief": Verb("unasked", "what to know at the start of a session", "Read"),
    "plan": Verb("plan", "the open plan that goes on, its steps; mark one as done, drop it", "Read"),
    "mcp": Verb("mcp", "serve this memory to an agent over the Model Context Protocol", "Read"),
    "list": Verb("reading", "memories by kind, status, tag, path, key or date", "Read"),
    "show": Verb("reading", "one memory with its evidence checked", "Read"),
    "key": Verb("reading", "who holds a key, now or then", "Read"),
    "why": Verb("why", "what recall made of a question, and why a memory is not in the answer", "Read"),
    "related": Verb("why", "what belongs to a memory", "Read"),
    "log": Verb("history", "who changed what, when, why", "Read"),
    "blame": Verb("history", "which event each line of a memory comes from", "Read"),
    "export": Verb("export", "all records as JSON lines, or the branch as a git bundle", "Read"),
    "stale": Verb("stale", "which memories cite code that changed, and how", "Check"),
    "reverify": Verb("stale", "a memory whose code changed still holds, or another one does", "Write"),
    "verify": Verb("verify", "check commits of the memory branch as every reader does", "Check"),
    "audit": Verb("audit", "whether the record of changes is whole, and what it says", "Check"),
    "scan-secrets": Verb("scan_secrets", "look for secrets in all that gitmem keeps", "Check"),
    "status": Verb("status", "whether sessions are captured and the index has seen all", "Check"),
    "doctor": Verb("upkeep", "what is wrong or at risk here", "Check"),
    "hooks": Verb("hooks", "install or remove the git hooks, or say which are there", "Check"),
    "policy": Verb("policy", "show, change or explain the policy; whose signatures count", "Check"),
    "reindex": Verb("upkeep", "build the search index anew", "Check"),
    "schema": Verb("upkeep", "print a JSON Schema of the format", "Check"),
    "completion": Verb("upkeep", "print the completion script of a shell", "Check"),
    "merge-driver": Verb("conflicts", "what git calls to merge a file of the branch", "", hidden=True),
    "hook-impl": Verb("hooks", "what the git hooks call", "", hidden=True),
    "hook-agent": Verb("install", "what the hooks of agent hosts call", "", hidden=True),
}

# After these a person's command marks what the commits that git's hooks noted made stale (docs/staleness.md).
TELLING: Final = frozenset({"status", "brief", "recall", "context", "list", "show", "log"})
_FEW_COLLECTIONS: Final = 100_000  # containers made before Python looks for cycles; its own number is 700

GLOBAL_HELP: Final = """\
Everywhere:
  -C, --repo PATH   act on the repository at PATH
  --json            answers and errors as JSON lines
  --color WHEN      auto, always or never (auto: only on a terminal, not with NO_COLOR)
  --help            what a verb takes, with an example
"""


def main() -> None:
    """The entry point of `gitmem` and `git-mem`. Does not return.

    One command is short: memory that a collection of cycles would find goes back with the process, and so does the
    interpreter, whose orderly end takes as long as a write.
    """
    gc.set_threshold(_FEW_COLLECTIONS)
    code = run(sys.argv[1:], observe)
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        code = _quiet_pipe()
    except OSError:
        if not code:
            sys.exit(0)  # nobody has said that what was written is lost: Python does, and exits with 120
    os._exit(code)


def run(arguments: Sequence[str], observed: Callable[[str | None], Env]) -> int:
    """Run one command line; returns the exit code. Every error becomes a message here and nowhere else."""
    door = Door(observed(None), as_json="--json" in arguments)
    try:
        if "_GITMEM_COMPLETE" in door.env.environ:
            return _complete(door, observed, list(arguments))
        options, words = _split(arguments)
        env = observed(options["repo"]) if "repo" in options else door.env
        door = Door(env, as_json="json" in options, colour=_colour(env, options.get("color", "auto")))
        code = _dispatch(door, words)
        if words and words[0] in TELLING:
            _mark_noted(door)
        door.flush()
        _ring_again(door, words)
        return code
    except GitmemError as error:
        door.error(error)
        return error.exit_code
    except KeyboardInterrupt:
        door.note("interrupted")
        return 130
    except BrokenPipeError:
        return _quiet_pipe()
    except OSError as error:
        if error.errno not in _SURROUNDINGS:
            return _unexpected(door, error, arguments)
        door.error(_of_surroundings(error))
        return GitmemError.exit_code
    except Exception as error:  # the one place that catches everything
        return _unexpected(door, error, arguments)


def _ring_again(door: Door, words: list[str]) -> None:
    """After the answer: see whether a session rang and nobody captured it."""
    from gitmem.app.missed_rings import ON_THEIR_OWN, ring_again

    if words and words[0] not in ON_THEIR_OWN:
        ring_again(door.env)


def _mark_noted(door: Door) -> None:
    """Look at the code that was committed since, when a person is there. Never a reason for a command to fail."""
    if door.env.channel != "terminal":
        return
    from gitmem.app.code_moves import mark_noted

    try:
        marked = mark_noted(door.env)
    except GitmemError as error:
        door.note(door.style(f"note: stale memories could not be marked: {error.message}", "yellow"))
        return
    if marked:
        named = ", ".join(f"{memory.id[:8]} {memory.status}" for memory in marked[:5])
        more = f" and {len(marked) - 5} more" if len(marked) > 5 else ""
        door.note(door.style(f"their code changed: {named}{more}: gitmem stale", "yellow"))


def _split(arguments: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The global options, wherever they stand before `--`, and the other words."""
    options: dict[str, str] = {}
    words: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if word == "--":
            return options, [*words, "--", *rest]
        name, equals, value = word.partition("=")
        if word == "--json":
            options["json"] = "yes"
        elif name in ("--repo", "--color") or word == "-C":
            if not equals and not rest:
                raise UsageError(f"{word} needs a value", hint="gitmem --help")
            options["repo" if name != "--color" else "color"] = value if equals else rest.pop(0)
        else:
            words.append(word)
    return options, words


_COLOURS: Final = ("auto", "always", "never")


def _colour(env: Env, when: str) -> bool:
    if when not in _COLOURS:
        raise UsageError(f"--color takes auto, always or never, not {when!r}", hint="gitmem --help")
    on_terminal = env.stdout.isatty() and env.environ.get("TERM") != "dumb" and not env.environ.get("NO_COLOR")
    return when == "always" or (when == "auto" and on_terminal)


def _dispatch(door: Door, words: list[str]) -> int:
    if not words or words[0] in ("--help", "-h", "help"):
        if len(words) > 1 and words[1] in VERBS:
            return _dispatch(door, [words[1], "--help"])
        door.env.stdout.write(overview())
        return 0 if words else 2
    if words[0] in ("--version", "-V"):
        door.say(f"gitmem {__version__}")
        return 0
    verb = VERBS.get(words[0])
    if verb is None:
        raise UsageError(f"there is no verb {one_line(words[0], 60)!r}", hint=_nearest(words[0]))
    return _invoke(door, words[0], words[1:])


def _complete(door: Door, observed: Callable[[str | None], Env], arguments: list[str]) -> int:
    """Answer a shell's completion; silent about every error, since the person is still typing."""
    from gitmem.cli.completion import answers

    position = door.env.environ["_GITMEM_COMPLETE"]
    cursor = max(int(position) - 1, 0) if position.isdigit() else 0
    typed = arguments[cursor] if cursor < len(arguments) else ""
    try:
        options, words = _split(arguments[:cursor])
        found = answers(words, typed, observed(options.get("repo")))
    except GitmemError:
        found = []
    door.env.stdout.writelines(f"{word}\n" for word in found)
    return 0


# Verbs that hooks call at every prompt or edit, and the module that reads their usual command lines without Typer.
QUICK: Final[Mapping[str, str]] = {
    "remember": "gitmem.cli.remembering",
    "recall": "gitmem.cli.recalling",
    "context": "gitmem.cli.context",
    "brief": "gitmem.cli.brief",
    "sync": "gitmem.cli.syncing",
    "hook-agent": "gitmem.cli.hook_agent",
}
_INTERRUPTED: Final = 130


def _invoke(door: Door, name: str, words: list[str]) -> int:
    if name in QUICK:
        from importlib import import_module

        quick: Any = import_module(QUICK[name])
        given = quick.FLAGS.read(words)
        if given is not None:
            quick.run(door, **given)
            return 0
    from contextlib import redirect_stdout

    import typer
    from typer.main import get_command

    usage: Any = typer.BadParameter.__mro__[2]  # typer's base of all usage errors; it has no public name
    try:
        with redirect_stdout(door.env.stdout):  # typer prints the help itself
            command = get_command(application(name))
            code = command.main(words, prog_name=f"gitmem {name}", obj=door, standalone_mode=False)
    except usage as error:
        raise UsageError(error.format_message(), hint=f"gitmem {name} --help") from None
    except typer.Abort:
        code = _INTERRUPTED
    except SystemExit:  # typer's answer to a reader that went away
        return _quiet_pipe()
    if code == _INTERRUPTED:
        door.note("interrupted")
    return code if isinstance(code, int) else 0


def application(name: str) -> typer.Typer:
    """The Typer application of one verb; `hooks` has verbs of its own."""
    from importlib import import_module

    module = import_module(f"gitmem.cli.{VERBS[name].module}")
    made: typer.Typer = module.APPLICATIONS[name]()
    return made


def overview() -> str:
    """What `gitmem --help` prints: verbs by group, global options, the table of exit codes."""
    lines = [
        "usage: gitmem VERB [OPTIONS]      (also: git mem VERB)",
        "",
        "Git-native memory for coding agents: each memory is a file on the branch gitmem/main of the",
        "repository that it is about, with evidence that is checked at every door.",
        "",
    ]
    for group in ("Begin", "Write", "Share", "Sessions", "Read", "Check"):
        lines.append(f"{group}:")
        shown = [(name, verb) for name, verb in VERBS.items() if verb.group == group]
        lines += [f"  {name:<14}{verb.help}" for name, verb in shown]
        lines.append("")
    lines += [GLOBAL_HELP.rstrip(), "", "Exit codes:"]
    lines += [f"  {code:<4}{meaning}" for code, meaning in EXIT_CODES.items()]
    lines += [
        "",
        'Example: gitmem remember --kind fact "The pool closes idle sockets" --evidence file:src/pool.py:40-58',
    ]
    return "\n".join(lines) + "\n"


def _nearest(word: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, [name for name, verb in VERBS.items() if not verb.hidden], n=1)
    return f"did you mean: gitmem {near[0]}" if near else "gitmem --help lists the verbs"


def _quiet_pipe() -> int:
    """The reader of our output went away: that is no error of ours, and Python must not complain at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


# A right, a disk, a name: what a person mends outside of gitmem.
_SURROUNDINGS: Final = frozenset(
    (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENAMETOOLONG, errno.EIO, errno.ELOOP)
)


def _of_surroundings(error: OSError) -> GitmemError:
    where = f"{one_line(str(error.filename), 200)}: " if error.filename else ""
    return GitmemError(f"{where}{error.strerror}", hint="see the rights, the free space and the name; gitmem doctor")


def _unexpected(door: Door, error: Exception, arguments: Sequence[str]) -> int:
    """Keep where it happened. What was typed or read, and so every message, stays out of the report."""
    import traceback

    from gitmem.app.state import private_folder, write_private

    env = door.env
    lines = [f"gitmem {__version__}, Python {sys.version.split()[0]}, verb {_verb(arguments)}"]
    cause: BaseException | None = error
    while cause is not None:
        lines += ["", type(cause).__name__, *(line.rstrip() for line in traceback.format_tb(cause.__traceback__))]
        cause = cause.__cause__ or cause.__context__
    name = f"crash-{env.now().strftime('%Y%m%dT%H%M%S')}.log"
    try:
        path = private_folder(env.state_home()) / name
        write_private(path, "\n".join([*lines, ""]).encode("utf-8", "backslashreplace"))
        where = f"a report was written to {path}"
    except GitmemError as failed:
        where = f"its report could not be written ({failed.message})"
    shown = GitmemError(
        f"unexpected {type(error).__name__}: {where}",
        hint="please report it; nothing of it leaves this machine by itself",
    )
    shown.code, shown.exit_code = "unexpected", 70
    door.error(shown)
    return shown.exit_code


def _verb(arguments: Sequence[str]) -> str:
    return next((word for word in arguments if word in VERBS), "none")
