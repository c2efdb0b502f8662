"""Which repository is this: found once, with one git process, and described in full."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gitmem.errors import NotARepository, UnsupportedRepository
from gitmem.model.pattern import pattern
from gitmem.model.text import one_line
from gitmem.store import program
from gitmem.store.port import Backend

_SECTION = pattern(r'\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]')
_KEY = pattern(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$")
_CEILING = ("GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM")
_ANSWER = pattern(r"(.+)\n(true|false)\n(true|false)\n(sha1|sha256)\n(.*)", re.DOTALL)  # a path may hold any of it
_TIP = "HEAD^0"  # inside a git dir a mere HEAD that is unborn would be taken for the file of that name
_EXTENSIONS = {"refstorage": "refStorage", "relativeworktrees": "relativeWorktrees"}  # as the manual spells them
_TRUE = ("true", "yes", "on", "1", "")
_SHARED = {"group": 0o660, "true": 0o660, "yes": 0o660, "1": 0o660, "all": 0o664, "world": 0o664, "everybody": 0o664}


@dataclass(frozen=True)
class Location:
    """One repository as seen from one place.

    `git_dir` is the worktree's own, `common_dir` the one that all worktrees share; `work_tree` is None for a bare
    one. `head` is the commit, None when unborn; `head_ref` the branch's full name, None when detached. `partial`:
    a promisor remote holds objects that are not here. `shared_mode`: the permission bits of core.sharedRepository.
    `environ` is the caller's environment, from which every git child's is made.
    """

    git_dir: Path
    common_dir: Path
    work_tree: Path | None
    bare: bool
    object_format: str
    ref_format: str
    shallow: bool
    partial: bool
    head: str | None
    head_ref: str | None
    shared_mode: int = 0
    environ: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @property
    def objects(self) -> Path:
        return self.common_dir / "objects"

    @property
    def private(self) -> Path:
        """Where gitmem keeps what is this clone's own: `<common dir>/gitmem`."""
        return self.common_dir / "gitmem"

    @property
    def quarantined(self) -> bool:
        """Inside a server's pre-receive hook: objects may be read, nothing may be written."""
        return "GIT_QUARANTINE_PATH" in self.environ

    @property
    def title(self) -> str:
        """The folder that a person knows the repository by."""
        return str(self.work_tree or self.git_dir)

    def git(
        self,
        *arguments: str,
        stdin: bytes = b"",
        user_config: bool = False,
        timeout: float | None = None,
        at_top: bool = False,
    ) -> program.Completed:
        """Run git in this repository. Its owner was checked when it was located; git does not ask again.

        `at_top`: from the top of the work tree, where a remote with a relative path is looked for.
        """
        return program.run(
            arguments,
            environ=self.environ,
            git_dir=self.git_dir,
            cwd=self.work_tree if at_top or self.partial else None,
            stdin=stdin,
            user_config=user_config or self.partial,  # a missing blob is fetched with the user's credentials
            timeout=timeout,
        )


def locate(
    start: Path,
    *,
    environ: Mapping[str, str],
    named: bool = False,
    meanwhile: Callable[[], None] | None = None,
) -> Location:
    """The repository that `start` lies in, by git's own rules and with git's own check of who owns it.

    `named`: the user gave the path. Then GIT_DIR and the like in the environment are somebody else's business;
    without a name they are obeyed, which is what a hook of that repository needs, unless `start` lies in another
    repository: a program that a hook started has gone elsewhere. The home folder and `/` are taken as a repository
    only when named themselves. `meanwhile` is done while git looks.

    Raises NotARepository, or UnsupportedRepository with what to do.
    """
    asked = (
        *("rev-parse", "--path-format=absolute", "--absolute-git-dir", "--git-common-dir", "--is-bare-repository"),
        *("--is-shallow-repository", "--show-object-format", "--show-cdup", _TIP, "--symbolic-full-name", "HEAD"),
    )
    if not start.is_dir():
        raise NotARepository(f"{start} is not a folder")
    ceiling = {name: environ[name] for name in _CEILING if name in environ}
    inherited = None if named or "GIT_DIR" not in environ else (start / environ["GIT_DIR"]).resolve()
    if inherited and _in_another(start, inherited, environ, ceiling):
        inherited = None
    if not inherited:
        environ = {name: value for name, value in environ.items() if name not in program.QUARANTINE}
    done = program.run(
        asked, environ=environ, git_dir=inherited, cwd=start, user_config=True, ceiling=ceiling, meanwhile=meanwhile
    )
    said = _ANSWER.fullmatch("\n".join(done.lines))
    folders = _two_folders(said[1]) if said else None
    rest = said[5].split("\n") if said else []
    if said is None or folders is None or (done.status and rest[-1] != _TIP):
        raise _refusal(done, start)
    (git_dir, common_dir), bare = folders, said[2] == "true"
    unborn = bool(done.status)
    cdup = rest.pop(0) if len(rest) > (1 if unborn else 2) else None
    config = _configuration(common_dir / "config")
    _refuse_extensions(config, common_dir)
    if inherited and "GIT_WORK_TREE" in environ:
        work_tree: Path | None = (start / environ["GIT_WORK_TREE"]).resolve()
    else:
        work_tree = _work_tree(start, git_dir, bare, cdup, config, bool(inherited))
    location = Location(
        git_dir=git_dir,
        common_dir=common_dir,
        work_tree=work_tree,
        bare=bare,
        object_format=said[4],
        ref_format=config.get("extensions.refstorage", "files").split(":")[0].lower(),
        shallow=said[3] == "true",
        partial="extensions.partialclone" in config
        or any(k.startswith("remote.") and k.endswith(".promisor") and v.lower() in _TRUE for k, v in config.items()),
        head=None if unborn else rest[0],
        head_ref=_branch(git_dir, None if unborn else rest[1]),
        shared_mode=_shared_mode(config.get("core.sharedrepository", "")),
        environ=environ,
    )
    if not inherited:
        _refuse_home(location, start, named, environ)
    return location


def bare_location(folder: Path, environ: Mapping[str, str]) -> Location:
    """A bare repository that gitmem made itself at `folder`, without asking git. Raises UnsupportedRepository when it
    belongs to somebody else or git keeps it in another way than it was made."""
    if folder.stat().st_uid != os.geteuid():
        raise UnsupportedRepository(f"{folder} belongs to another user", hint="set XDG_DATA_HOME to a folder of yours")
    config = _configuration(folder / "config")
    odd = [name for name in config if name.startswith("extensions.")]
    if odd or not (folder / "objects").is_dir():
        what = f"it uses {odd[0]}" if odd else "it has no objects"
        raise UnsupportedRepository(f"{folder} is no store that gitmem made: {what}", hint="move it away")
    environ = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    return Location(
        git_dir=folder, common_dir=folder, work_tree=None, bare=True, object_format="sha1", ref_format="files",
        shallow=False, partial=False, head=None, head_ref=None, environ=environ,
    )  # fmt: skip


def open_backend(location: Location, *, long_lived: bool, at_once: bool = False) -> Backend:
    """The backend for this repository: the git program for one verb, libgit2 for a process that stays.

    `at_once`: objects will be asked for within milliseconds, so git may start now.
    libgit2 is not used where it cannot read: sha256, reftable, quarantine, an owner or an extension that it refuses.
    """
    from gitmem.store.git_backend import GitBackend

    git = GitBackend(location)
    plain = location.object_format == "sha1" and location.ref_format == "files" and not location.quarantined
    if not (long_lived and plain):
        if at_once:
            git.start()
        return git
    from gitmem.store.libgit2_backend import LibGit2Backend, can_open

    return LibGit2Backend(location, git) if can_open(location) else git


def _two_folders(said: str) -> tuple[Path, Path] | None:
    """The two paths that git printed one below the other; each may hold line feeds itself."""
    lines = said.split("\n")
    for count in range(1, len(lines)):
        first, second = Path("\n".join(lines[:count])), Path("\n".join(lines[count:]))
        if first.is_absolute() and second.is_absolute() and first.is_dir() and second.is_dir():
            return first, second
    return None


def _in_another(start: Path, inherited: Path, environ: Mapping[str, str], ceiling: Mapping[str, str]) -> bool:
    """Is the folder in a repository of its own, which is not the one that GIT_DIR names?"""
    asked = ("rev-parse", "--path-format=absolute", "--git-common-dir")
    done = program.run(asked, environ=environ, cwd=start, user_config=True, ceiling=ceiling)
    if done.status:
        return False
    try:
        link = (inherited / "commondir").read_text("utf-8", "surrogateescape").strip()
    except (FileNotFoundError, NotADirectoryError):
        link = "."
    return Path("\n".join(done.lines)).resolve() != (inherited / link).resolve()


def _refusal(done: program.Completed, start: Path) -> NotARepository | UnsupportedRepository:
    owned = re.search(r"dubious ownership in repository at '(.*)'", done.err)
    if owned:
        return UnsupportedRepository(
            f"the repository at {owned[1]} belongs to another user",
            hint=f"git config --global --add safe.directory {shlex.quote(owned[1])}",
        )
    extension = re.search(r"unknown repository extensions? found:\s*(.*)", done.err, re.DOTALL)
    if extension:
        found = {name.lower() for name in extension[1].split()}
        if "compatobjectformat" in found:
            return _compat_objects(start)
        names = ", ".join(_EXTENSIONS.get(name, name) for name in sorted(found))
        return UnsupportedRepository(
            f"this git cannot read the repository at {start}: it uses the extension {names}",
            hint="install a newer git" + (" (reftable needs 2.45)" if "refstorage" in found else ""),
        )
    said = one_line(done.err, 300)
    if "not a git repository" in said or "invalid gitfile" in said:
        detail = "" if "or any of the parent" in said or "parent up to" in said else f" ({said})"
        return NotARepository(f"{start} is not in a git repository{detail}", hint="git init, or use -C <repository>")
    return UnsupportedRepository(f"git cannot work in {start}: {said}", hint=f"gitmem needs git {program.OLDEST_GIT}")


def _refuse_extensions(config: Mapping[str, str], common_dir: Path) -> None:
    if "extensions.compatobjectformat" in config:
        raise _compat_objects(common_dir)


def _compat_objects(where: Path) -> UnsupportedRepository:
    return UnsupportedRepository(
        f"the repository at {where} uses the extension compatObjectFormat, which gitmem cannot write to",
        hint=f"use another clone, or switch it off: git config --file {shlex.quote(str(where))}/.git/config"
        " --unset extensions.compatObjectFormat",
    )


def _refuse_home(location: Location, start: Path, named: bool, environ: Mapping[str, str]) -> None:
    top = location.work_tree or location.git_dir
    wide = {Path("/"), *([Path(environ["HOME"]).resolve()] if environ.get("HOME") else [])}
    if top.resolve() not in wide or (named and start.resolve() in (top.resolve(), location.git_dir.resolve())):
        return
    raise UnsupportedRepository(
        f"the repository found from {start} is {top}: every folder below it would share one memory",
        hint=f"name it to use it all the same: gitmem -C {shlex.quote(str(top))} ..., or git init in the project",
    )


def _configuration(path: Path) -> dict[str, str]:
    """The last value of each key, as `section.subsection.key`. Like git for the repository format: no includes."""
    try:
        text = path.read_text("utf-8", "surrogateescape")
    except FileNotFoundError:
        return {}
    values: dict[str, str] = {}
    section = ""
    for line in text.splitlines():
        line = line.strip()
        if header := _SECTION.match(line):
            section = header[1].lower() + (f".{header[2]}" if header[2] is not None else "")
            line = line[header.end() :].strip()
        if found := _KEY.match(line):
            value = re.split(r"\s*[#;]", found[2] or "", maxsplit=1)[0] if found[2] is not None else "true"
            values[f"{section}.{found[1].lower()}"] = value.strip().strip('"')
    return values


def _work_tree(
    start: Path, git_dir: Path, bare: bool, cdup: str | None, config: Mapping[str, str], inherited: bool
) -> Path | None:
    if cdup is not None and not inherited:
        return (start / cdup).resolve()
    backlink = git_dir / "gitdir"
    if backlink.is_file():  # inside .git/worktrees/<name>
        return (git_dir / backlink.read_text("utf-8", "surrogateescape").strip()).resolve().parent
    if bare:
        return None
    if "core.worktree" in config:
        return (git_dir / config["core.worktree"]).resolve()
    if git_dir.name == ".git":
        return git_dir.parent
    return start.resolve() if inherited else None


def _branch(git_dir: Path, full_name: str | None) -> str | None:
    if full_name is not None:
        return full_name if full_name.startswith("refs/") else None
    head = (git_dir / "HEAD").read_text("utf-8", "surrogateescape").strip()
    target = head.removeprefix("ref:").strip()
    return target if head.startswith("ref:") and target != "refs/heads/.invalid" else None


def _shared_mode(value: str) -> int:
    if re.fullmatch(r"0[0-7]{3}", value):
        return int(value, 8)
    return _SHARED.get(value.lower(), 0)
