"""`file:PATH[@REV][:LINES]`, `file:PATH[@REV]::SYMBOL`: bytes of a committed file."""

from __future__ import annotations

from typing import Final, NamedTuple

from gitmem.errors import NotFound, UsageError
from gitmem.evidence.committed import file_at, must_be_plain, nearest, standing
from gitmem.evidence.quote import occurs, shown, telling_line
from gitmem.evidence.short import Place, is_revision, line_range, looks_like_lines, places
from gitmem.evidence.sources import Sources, is_plain_path
from gitmem.model.judgement import Resolution
from gitmem.model.nouns import FileRef
from gitmem.model.records import digest
from gitmem.model.text import one_line
from gitmem.model.vocabulary import Role

EXAMPLE: Final = "file:src/pool.py:40-58"
_TOLD: Final = 60  # characters of a line in a refusal
_BINARY_SIGN: Final = 8000  # git takes a file for binary when a NUL stands in so many first bytes


class _Found(NamedTuple):
    place: Place
    commit: str
    blob: str


def expand(rest: str, role: Role, sources: Sources) -> FileRef:
    """Cites the bytes that are committed, at HEAD or the revision given.

    Raises UsageError for lines without a revision that read otherwise in the work tree: an editor counts those.
    """
    place, commit, blob = _find(rest.removeprefix("./"), sources)
    _, data = sources.read(blob)
    cited, lines, symbol = data, None, None
    binary = b"\0" in data[:_BINARY_SIGN]
    if place.lines is not None:
        if binary:
            raise UsageError(f"{place.path} is binary: it has no lines", hint=f"cite it whole: file:{place.path}")
        if place.revision is None:
            _must_be_as_committed(place.path, place.lines, data, sources)
        cited, lines = _chosen(place.path, place.lines, data)
    elif place.symbol is not None:
        from gitmem.evidence.symbol import definition_lines

        symbol, lines = definition_lines(place.path, data, place.symbol)
        cited, lines = _chosen(place.path, lines, data)
    quote = None if binary else telling_line(cited)
    return FileRef(place.path, blob, commit, digest(cited), lines, quote, role, symbol)


def resolve(ref: FileRef, sources: Sources) -> Resolution:
    chosen = line_range(ref.lines) if ref.lines is not None else None
    if ref.lines is not None and chosen is None:
        return Resolution(ref, "missing", "the lines are no range such as 12 or 40-58")
    state, detail, data = standing(ref.path, ref.commit, ref.blob, sources)
    if state != "verified":
        return Resolution(ref, state, detail)
    cited = _lines(data, *chosen) if chosen else data
    if cited is None:
        return Resolution(ref, "missing", f"{ref.path} has {_count(data)} lines, not {ref.lines}")
    quoted = occurs(ref.quote, cited)
    if digest(cited) != ref.sha256:
        return Resolution(ref, "changed", "the cited bytes do not hash to the record", shown(cited), quoted)
    if not detail and _differs_in_work_tree(ref, chosen, cited, sources):
        detail = "the work tree now differs from the committed bytes"
    return Resolution(ref, "verified", detail, shown(cited), quoted)


def cited_bytes(ref: FileRef, sources: Sources) -> bytes | None:
    """The bytes of the blob that `ref` cites; None when it has no such lines. Raises what reading raises."""
    chosen = line_range(ref.lines) if ref.lines is not None else None
    data = sources.read(ref.blob)[1]
    return _lines(data, *chosen) if chosen else data


def _lines(data: bytes, first: int, last: int) -> bytes | None:
    """Lines `first` to `last` with their ends as they are; None when there are not so many. Only LF ends a line."""
    lines = data.split(b"\n")
    if last > _count(data):
        return None
    end = b"\n" if last < len(lines) else b""
    return b"\n".join(lines[first - 1 : last]) + end


def _count(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def _chosen(path: str, lines: str, data: bytes) -> tuple[bytes, str]:
    chosen = line_range(lines)
    if chosen is None:
        raise UsageError(f"{lines!r} is no range of lines counted from 1", hint=f"for example {EXAMPLE}")
    cited = _lines(data, *chosen)
    if cited is None:
        count = _count(data)
        raise NotFound(
            f"{path} has {count} line{'s' * (count != 1)}; {lines} is past the end",
            hint=f"cite lines up to {count}: file:{path}:{count}" if count else "the file is empty",
        )
    first, last = chosen
    return cited, str(first) if first == last else f"{first}-{last}"


def _must_be_as_committed(path: str, lines: str, data: bytes, sources: Sources) -> None:
    chosen, there = line_range(lines), sources.read_work_tree(path)
    if chosen is None or there is None:
        return
    there, data = there.replace(b"\r\n", b"\n"), data.replace(b"\r\n", b"\n")  # a checkout may turn line ends
    if there == data:
        return
    now, before = _lines(there, *chosen), _lines(data, *chosen)
    if now == before or (now is None and before is None):
        return
    raise UsageError(
        f"{path} has changes that are not committed, and {lines} is not the same in both: "
        f"the work tree has {_told(now)}, HEAD has {_told(before)}",
        hint=f"commit {path} first; or cite what HEAD has, with the line numbers of that: file:{path}@HEAD:{lines}"
        f"  (git show {_word(f'HEAD:./{path}')} | cat -n)",
    )


def _told(cited: bytes | None) -> str:
    if cited is None:
        return "no such lines"
    first, _, more = cited.partition(b"\n")
    return f'"{one_line(shown(first).strip(), _TOLD)}"' + (" and more" if more else "")


def _differs_in_work_tree(ref: FileRef, chosen: tuple[int, int] | None, cited: bytes, sources: Sources) -> bool:
    """Whether the same lines read otherwise in the work tree.

    Line ends do not count: a checkout may turn them. An absent file says nothing: the checkout may be sparse.
    """
    if ref.commit != sources.head or sources.work_tree is None:
        return False
    there = sources.read_work_tree(ref.path)
    if there is None:
        return False
    now = _lines(there, *chosen) if chosen else there
    return now is None or now.replace(b"\r\n", b"\n") != cited.replace(b"\r\n", b"\n")


def _find(rest: str, sources: Sources) -> _Found:
    for place in places(rest):
        commit = _commit_of(place, sources) if is_plain_path(place.path) else None
        entry = file_at(commit, place.path, sources) if commit else None
        if commit and entry:
            return _Found(place, commit, entry.oid)
    raise _not_found(rest, sources)


def _commit_of(place: Place, sources: Sources) -> str | None:
    if place.revision is None:
        return sources.head
    return sources.backend.resolve(place.revision) if is_revision(place.revision) else None


def _not_found(rest: str, sources: Sources) -> NotFound | UsageError:
    """Why no reading of `rest` names a committed file, as near to what was meant as can be told."""
    bare = places(rest)[-1] if "@" not in rest else places(rest)[0]
    for place in places(rest):
        if place.revision is None or not is_plain_path(place.path):
            continue
        commit = _commit_of(place, sources)
        if commit:
            return NotFound(
                f"{place.path} is not in {place.revision} ({commit[:12]})",
                hint=f"git log --oneline --all -- {_word(place.path)} lists the commits that have it",
            )
        if sources.head and file_at(sources.head, place.path, sources):
            return NotFound(
                f"there is no revision {place.revision!r} here",
                hint=f"git log --oneline -- {_word(place.path)} lists the commits that changed the file",
            )
    meant = looks_like_lines(rest)
    if meant and is_plain_path(meant) and sources.head and file_at(sources.head, meant, sources):
        return UsageError(f"{rest[len(meant) + 1 :]!r} is no range of lines", hint=f"for example file:{meant}:12-15")
    must_be_plain(bare.path, EXAMPLE)
    if sources.read_work_tree(bare.path) is not None:
        return NotFound(
            f"{bare.path} is in the work tree but not committed",
            hint=f"git add -- {_word(bare.path)} && git commit, then cite it again",
        )
    if sources.head is None:
        return NotFound("nothing is committed here yet, so there is nothing to cite", hint="git add . && git commit")
    like = nearest(sources.head, bare.path, sources)
    return NotFound(
        f"there is no file {bare.path} in HEAD ({sources.head[:12]})",
        hint=f"did you mean file:{like}?" if like else "git ls-files lists the files",
    )


def _word(path: str) -> str:
    from shlex import quote

    return quote(path)
