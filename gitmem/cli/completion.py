"""Shell completion: a script that asks `gitmem` itself, and the answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gitmem.app.env import Env
from gitmem.errors import UsageError
from gitmem.model.layout import INBOX, PLACES
from gitmem.model.schema import NAMES
from gitmem.model.vocabulary import AUDIENCES, KINDS, ORIGIN_RANK, STATUSES

SCRIPTS: Final = {
    "bash": """\
_gitmem_complete() {
  local IFS=$'\\n'
  COMPREPLY=( $(_GITMEM_COMPLETE="$COMP_CWORD" gitmem "${COMP_WORDS[@]:1}" 2>/dev/null) )
}
complete -o default -F _gitmem_complete gitmem git-mem
""",
    "zsh": """\
#compdef gitmem git-mem
_gitmem_complete() {
  local -a answers
  answers=("${(@f)$(_GITMEM_COMPLETE="$((CURRENT - 1))" gitmem "${words[@]:1}" 2>/dev/null)}")
  compadd -- $answers
}
compdef _gitmem_complete gitmem git-mem
""",
    "fish": """\
function __gitmem_complete
  set -l words (commandline -opc) (commandline -ct)
  env _GITMEM_COMPLETE=(math (count $words) - 1) gitmem $words[2..-1] 2>/dev/null
end
complete -c gitmem -f -a '(__gitmem_complete)'
complete -c git-mem -f -a '(__gitmem_complete)'
""",
}


def script(shell: str) -> str:
    """The completion script of a shell. Raises UsageError for one that is not known."""
    if shell not in SCRIPTS:
        raise UsageError(f"no completion for {shell!r}", hint=f"one of {', '.join(SCRIPTS)}")
    return SCRIPTS[shell]


def answers(words: list[str], typed: str, env: Env) -> list[str]:
    """What the word being `typed` may become; `words` stand before it, the verb first."""
    return sorted(word for word in _known(words, typed, env) if word.startswith(typed))


def _known(words: list[str], typed: str, env: Env) -> Iterable[str]:
    from gitmem.cli.main import VERBS, application

    if not words:
        return [*(name for name, verb in VERBS.items() if not verb.hidden), *(_GLOBAL if typed[:1] == "-" else ())]
    verb, before = words[0], words[-1]
    if verb not in VERBS:
        return ()
    if before in _VALUES:
        return _VALUES[before]
    if typed.startswith("-"):
        from typer.main import get_command

        command = get_command(application(verb))
        return [*_GLOBAL, *(name for option in command.params for name in option.opts if name.startswith("--"))]
    if verb in _WORDS and len(words) == 1:
        return _WORDS[verb]
    return _identifiers(verb, env) if verb in _TAKE_ID else ()


def _identifiers(verb: str, env: Env) -> list[str]:
    from gitmem.app.belief import believed_view
    from gitmem.app.workspace import open_workspace

    view = believed_view(open_workspace(env))
    places = (INBOX,) if verb in _OF_INBOX else PLACES.values()
    return [identifier for ref in places for identifier in view.place(ref).memory_ids()]


_GLOBAL: Final = ("--json", "--repo", "--color", "--help")
_OF_INBOX: Final = ("accept", "reject")
_TAKE_ID: Final = frozenset(
    {*_OF_INBOX, "show", "log", "blame", "edit", "supersede", "wrong", "lift", "retract", "archive", "restore",
     "dispute", "promote"}
)  # fmt: skip
_VALUES: Final = {
    **dict.fromkeys(("--kind", "-k"), KINDS),
    **dict.fromkeys(("--status", "-s"), STATUSES),
    "--origin": tuple(ORIGIN_RANK),
    "--audience": AUDIENCES,
    "--color": ("auto", "always", "never"),
}
_WORDS: Final = {
    "completion": tuple(SCRIPTS),
    "schema": tuple(NAMES),
    "hooks": ("install", "uninstall", "status"),
    "policy": ("show", "set", "explain", "signer"),
}
