"""Shell completion: a script that asks `gitmem` itself, and the answer."""

from __future__ import annotations

from typing import Final

from gitmem.errors import UsageError

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


def answers(words: list[str], position: int, identifiers: list[str]) -> list[str]:
    """What the word at `position` (0 is the first after `gitmem`) may become."""
    from gitmem.cli.main import VERBS, application

    typed = words[position] if position < len(words) else ""
    if position == 0:
        known = [name for name, verb in VERBS.items() if not verb.hidden]
    elif typed.startswith("-") and words[0] in VERBS:
        from typer.main import get_command

        command = get_command(application(words[0]))
        known = ["--json", "--repo", "--color", "--help"]
        known += [option for parameter in command.params for option in parameter.opts if option.startswith("--")]
    else:
        known = identifiers
    return sorted(word for word in known if word.startswith(typed))
