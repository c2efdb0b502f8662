"""Which programs check something, what they check, and which of their words say what is checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal

from gitmem.capture.commands import Part
from gitmem.model.frozen import dataclass
from gitmem.model.pattern import pattern


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


Job = Literal["test", "lint", "types", "format", "build", "command"]

_TEST: Final = _set(
    "pytest py.test tox nox unittest jest vitest mocha ava karma cypress phpunit pest rspec ctest bats ginkgo "
    "behave "
    "nose2 trial gotestsum prove"
)
_LINT: Final = _set(
    "flake8 pylint eslint rubocop shellcheck stylelint golangci-lint lint-imports hadolint yamllint ktlint detekt "
    "swiftlint pre-commit markdownlint oxlint staticcheck bandit"
)
_TYPES: Final = _set("mypy pyright basedpyright tsc tsgo vue-tsc pyre dmypy")
_BUILD: Final = _set("make ninja webpack rollup esbuild gcc g++ clang clang++ cc javac rustc cmake meson")
# program, then the first word that is no flag
_SUB: Final[Mapping[str, Mapping[str, Job]]] = {
    "go": {"test": "test", "vet": "lint", "build": "build", "install": "build"},
    "cargo": {"test": "test", "nextest": "test", "clippy": "lint", "fmt": "format", "build": "build", "check": "build"},
    "dotnet": {"test": "test", "build": "build", "format": "format"},
    "mvn": {"test": "test", "verify": "test", "compile": "build", "package": "build", "install": "build"},
    "gradle": {"test": "test", "check": "test", "build": "build", "assemble": "build"},
    "gradlew": {"test": "test", "check": "test", "build": "build", "assemble": "build"},
    "swift": {"test": "test", "build": "build"},
    "bazel": {"test": "test", "build": "build"},
    "mix": {"test": "test", "compile": "build", "format": "format"},
    "ruff": {"check": "lint", "format": "format"},
    "biome": {"check": "lint", "lint": "lint", "format": "format"},
    "deno": {"test": "test", "lint": "lint", "check": "types", "fmt": "format"},
    "playwright": {"test": "test"},
    "next": {"build": "build", "lint": "lint"},
    "vite": {"build": "build"},
    "zig": {"build": "build", "test": "test"},
    "flutter": {"test": "test", "analyze": "lint", "build": "build"},
    "docker": {"build": "build", "compose": "command"},
    "ty": {"check": "types"},
    "rails": {"test": "test"},
    "sbt": {"test": "test", "compile": "build"},
    "node": {"--test": "test"},
    "terraform": {"validate": "lint", "plan": "command"},
}
# Programs that run what a project named: its job is told by that name.
_SCRIPTS: Final = _set("npm yarn pnpm bun make just mise task rake composer poe invoke tox nox gradlew hatch")
_NAMES: Final[tuple[tuple[re.Pattern[str], Job], ...]] = (
    (pattern(r"(?i)(?:^|[:._-])(?:unit|integration|e2e|smoke)?[_-]?(?:tests?|t|spec|specs)(?:$|[:._-])"), "test"),
    (pattern(r"(?i)(?:^|[:._-])(?:lint|eslint|clippy|vet)(?:$|[:._-])"), "lint"),
    (pattern(r"(?i)(?:^|[:._-])(?:type-?checks?|types|tsc|mypy|check-?types)(?:$|[:._-])"), "types"),
    (pattern(r"(?i)(?:^|[:._-])(?:checks?|verify|validate|ci)(?:$|[:._-])"), "lint"),
    (pattern(r"(?i)(?:^|[:._-])(?:build|compile|bundle|all)(?:$|[:._-])"), "build"),
    (pattern(r"(?i)(?:^|[:._-])(?:fmt|format)(?:$|[:._-])"), "format"),
)
# Programs that look at something: what they end with says whether there was something to see, not that it failed.
LOOKING: Final = _set(
    "ag ack awk basename cat cmp column curl cut date df diff dig dirname du echo env false fd file find gh "
    "git-grep "
    "grep egrep fgrep zgrep head hexdump host hostname id jq kill launchctl less ln locate ls lsof md5sum more "
    "nl nslookup od pgrep "
    "ping pkill printenv printf ps pwd rg realpath readlink sed seq sha256sum sleep sort stat strings tail tee "
    "test "
    "[ chmod cp ln mkdir mv open rm rmdir touch time timeout top tr tree type uname uniq wc wget wait which "
    "who whoami xargs xxd yq gitmem claude codex"
)
_GIT_DOING: Final = _set(
    "add am apply bisect cherry-pick checkout clone commit fetch fsck gc init merge mv pull push read-tree "
    "rebase reset "
    "restore revert rm stash status submodule switch tag worktree"
)
# Commands that change what a check sees, beside edits and commits.
_DOING: Final = _set(
    "apt apt-get brew chmod chown cp direnv dnf docker docker-compose export gem ln mkdir mv patch pip pip3 "
    "pipx rm rsync "
    "systemctl touch tar unzip yum psql alembic prisma createdb redis-cli corepack nvm rustup sdkmanager"
)
_DOING_SUB: Final[Mapping[str, frozenset[str]]] = {
    "npm": frozenset(["install", "i", "ci", "uninstall", "update", "rebuild", "link"]),
    "yarn": frozenset(["install", "add", "remove", "upgrade"]),
    "pnpm": frozenset(["install", "i", "add", "remove", "update"]),
    "bun": frozenset(["install", "add", "remove"]),
    "uv": frozenset(["sync", "add", "remove", "pip", "lock", "venv"]),
    "poetry": frozenset(["install", "add", "remove", "lock", "update"]),
    "cargo": frozenset(["add", "install", "update", "remove", "fmt", "fix"]),
    "go": frozenset(["get", "mod", "generate", "install", "clean", "fmt"]),
    "bundle": frozenset(["install", "update", "add"]),
    "composer": frozenset(["install", "require", "update"]),
    "git": frozenset(_GIT_DOING - {"status", "add", "fetch", "fsck", "push", "clone"}),
    "ruff": frozenset(["format"]),
    "mise": frozenset(["install", "use", "trust"]),
    "gofmt": frozenset(["-w"]),
}
# Flags that say how much is told, not what is checked; with a value of their own, behind `=` or as the next word.
_QUIET: Final = pattern(
    r"-[vqxsl]+|-vv+|-rA|-ra|--(?:verbose|quiet|no-header|no-summary|color|colour|no-color|colors|silent|ci|watch|"
    r"watchAll|bail|exitfirst|failfast|fail-fast|last-failed|lf|ff|stepwise|sw|no-cov|nocapture|forceExit|runInBand|"
    r"passWithNoTests|json|parallel|no-cache|cache-clear|showlocals|full-trace|durations|tb|maxfail|count|timeout|"
    r"reporter|format|output-format|log-level|jobs|workers|maxWorkers|numprocesses|cov|cov-report|skipLibCheck|"
    r"pretty|stacktrace|info|console)(?:=.*)?|-count=\d+|-p|-j\d*|-n\d+|-timeout=\S+|-race"
)
_TAKES_VALUE: Final = frozenset(["--tb", "--maxfail", "--durations", "--reporter", "--color", "--timeout", "-n", "-j"])
_MESSAGE: Final = frozenset(["-m", "--message", "-F", "--file", "-am", "--title", "--body"])
_INLINE: Final = frozenset(["-c", "-e", "--eval", "-lc", "eval"])
_RUN: Final = frozenset(["run", "run-script", "--"])


@dataclass(frozen=True)
class Checked:
    """What one program checks. `name`: the program and what it was told to do, `shown`: the same for a reader. `key`:
    the same for two commands that check the same. `what`: the words that say of what, such as files and filters."""

    job: Job
    name: str
    what: tuple[str, ...]
    shown: str = ""

    @property
    def key(self) -> str:
        return " ".join((self.job, self.name, *sorted(self.what)))


def checked(part: Part) -> Checked | None:
    """None for a program that only looks, or changes, or says nothing by how it ends."""
    program, words = part.program, [word for word in part.words if word not in _RUN]
    if any("\n" in word for word in words) or (words[:1] and words[0] in _INLINE and program not in _SCRIPTS):
        return None  # a program that was made up for this once
    program = program.removesuffix(".exe").removesuffix(".cmd")
    if program in ("make", "just", "task", "rake") and not [w for w in words if not w.startswith("-")]:
        return Checked("build", program, (), program)
    first = next((word for word in words if not word.startswith("-") or word == "--test"), "")
    job = _job(program, first, words)
    if job is None:
        return None
    takes_first = first and (program in _SUB or program in _SCRIPTS or program == "git")
    name = f"{program} {first}" if takes_first else program
    rest = list(words)
    if takes_first:
        rest.remove(first)
    shown = f"{program} run {first}" if takes_first and part.words[:1] == ("run",) else name
    return Checked(job, name, tuple(_telling(rest, job)), shown)


def changing(part: Part) -> bool:
    """Whether a command is there to change what a check will see."""
    first = next((word for word in part.words if not word.startswith("-")), "")
    if part.program == "sed":
        return any(word.startswith("-i") for word in part.words)
    if part.program in ("gofmt", "prettier", "black", "isort", "eslint"):
        return bool({"-w", "--write", "--fix"} & set(part.words)) or part.program in ("black", "isort")
    if part.program == "ruff" and "--fix" in part.words:
        return True
    if part.program in _SCRIPTS and _named(first) == "format":
        return True
    return part.program in _DOING or first in _DOING_SUB.get(part.program, ())


def _job(program: str, first: str, words: list[str]) -> Job | None:
    for job, programs in (("test", _TEST), ("lint", _LINT), ("types", _TYPES)):
        if program in programs:
            return job  # type: ignore[return-value]
    if program in _SUB and first in _SUB[program]:
        return _SUB[program][first]
    if program in _SCRIPTS and first:
        return _named(first) or ("build" if program == "make" else "command")
    if program == "manage.py" or first.endswith("manage.py"):
        return "test" if "test" in words else "command"
    if program in ("prettier", "black", "isort"):
        return "format" if "--check" in words or "--check-only" in words else None
    if program in _BUILD:
        return "build"
    if program == "git":
        return "command" if first in _GIT_DOING else None
    return None if program in LOOKING else "command"


def _named(script: str) -> Job | None:
    return next((job for named, job in _NAMES if named.search(script)), None)


def _telling(words: list[str], job: Job) -> list[str]:
    """The words that say what is checked. Of a command that is no check of code, every one that is no message."""
    kept: list[str] = []
    skip = False
    for word in words:
        if skip:
            skip = False
        elif word in _MESSAGE and job == "command":
            skip = True
        elif job != "command" and _QUIET.fullmatch(word):
            skip = word in _TAKES_VALUE
        else:
            kept.append(word.removeprefix("./"))
    return kept
