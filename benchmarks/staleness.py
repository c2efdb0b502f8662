"""How well stale code is told from code that was only moved or laid out anew, on real histories of Python code.

    python benchmarks/staleness.py [--bases N] [--claims N] REPOSITORY...

At N commits of each history, evenly spaced, claims of three forms are made: `path`, `path::symbol` and
`path::NAME=literal`, and beside them `path:LINES` of one to three statements in a function; N of each form, drawn at
random from a fixed seed. At later commits each is judged by
`gitmem.evidence.drift` and by an oracle that shares nothing with it: Python's own `ast`. By the oracle a claim
changed when no definition of that name with the same syntax tree stands in its file, or, when the file is gone, in a
file that came since; the value of a NAME is compared by `ast.literal_eval`. Lines changed when their
statements no longer follow each other in a function of that name, nor, if they stood once, anywhere in the file.

The baselines: the blob of the whole file; and the cited bytes, looked for anywhere in the file of that name.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from gitmem.errors import GitmemError
from gitmem.evidence.drift import drifts
from gitmem.evidence.resolvers import expand
from gitmem.evidence.short import line_range
from gitmem.evidence.sources import Sources
from gitmem.model.nouns import FileRef
from gitmem.store.port import Backend
from gitmem.store.repository import locate, open_backend
from gitmem.store.snapshot import snapshot

FORMS = ("path", "path::symbol", "path::NAME=literal")
LINES = "path:LINES"  # counted beside those three
LATER = 12  # later commits of each base at which its claims are judged
SEED = 20261130


@dataclass(frozen=True)
class Claim:
    form: str
    path: str
    name: str
    ref: FileRef
    base: str


class Tally:
    """By judge and form: hits, false alerts, misses and right silences of each (claim, later commit)."""

    def __init__(self) -> None:
        self.pairs: Counter[tuple[str, str, str]] = Counter()
        self.marks: Counter[tuple[str, str]] = Counter()
        self.changes: Counter[str] = Counter()

    def add(self, judge: str, form: str, alert: bool, true: bool) -> None:
        kind = ("hit" if true else "false") if alert else ("miss" if true else "quiet")
        self.pairs[judge, form, kind] += 1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("repositories", nargs="+", type=Path)
    parser.add_argument("--bases", type=int, default=5)
    parser.add_argument("--claims", type=int, default=60)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    tally = Tally()
    for repository in given.repositories:
        location = locate(repository, environ=os.environ)
        backend = open_backend(location, long_lived=True)
        commits = backend.log(location.head or "", first_parent=True)[::-1]
        made = judged = 0
        for base in _spaced(commits[:-1], given.bases):
            claims = _claims(backend, base, given.claims)
            made += len(claims)
            judged += _judge(backend, claims, _spaced(commits[commits.index(base) + 1 :], LATER), tally)
        print(f"{repository.name}: {len(commits)} commits, {made} claims, {judged} judgements", flush=True)
        backend.close()
    _print(tally)


def _spaced(commits: list[str], count: int) -> list[str]:
    if len(commits) <= count:
        return commits
    return [commits[(at * (len(commits) - 1)) // (count - 1)] for at in range(count)]


def _sources(backend: Backend, head: str) -> Sources:
    return Sources(backend, head, None, lambda _: None, "terminal")


def _claims(backend: Backend, base: str, count: int) -> list[Claim]:
    where = _sources(backend, base)
    found: dict[str, list[tuple[str, str, str]]] = {form: [] for form in (*FORMS, LINES)}
    for path, blob in _files(backend, base).items():
        tree = _tree(backend, blob)
        if tree is None:
            continue
        found["path"].append((path, "", ""))
        source = backend.read(blob)[1].decode("utf-8", "replace")
        names = Counter(name for name, _ in _definitions(tree))
        for name, node in _definitions(tree):
            if names[name] > 1:
                continue
            if not isinstance(node, ast.Assign | ast.AnnAssign):
                found["path::symbol"].append((path, name, f"::{name}"))
                for body in _bodies(node):
                    for at in range(len(body)):
                        until = min(len(body) - 1, at + (body[at].lineno % 3))
                        rows = f"{body[at].lineno}-{body[until].end_lineno}"
                        found[LINES].append((path, f"{name} {at} {until}", f":{rows}"))
            elif node.value is not None and _literal(node) is not None:
                spelled = ast.get_source_segment(source, node.value) or ""
                if 0 < len(spelled) <= 80 and "\n" not in spelled:
                    found["path::NAME=literal"].append((path, name, f"::{name}={spelled}"))
    drawn = random.Random(f"{SEED} {base}")
    claims = []
    for form, rows in found.items():
        for path, name, rest in drawn.sample(rows, min(count, len(rows))):
            try:
                ref = expand(f"file:{path}{rest}", where)
            except GitmemError as error:
                print(f"  not cited: {path}{rest}: {error.message.splitlines()[0]}")
                continue
            assert isinstance(ref, FileRef)
            claims.append(Claim(form, path, name, ref, base))
    return claims


def _judge(backend: Backend, claims: list[Claim], later: list[str], tally: Tally) -> int:
    stood = dict.fromkeys(range(len(claims)), "active")
    held = dict.fromkeys(range(len(claims)), "holds")
    for commit in later:
        found = drifts([claim.ref for claim in claims], _sources(backend, commit))
        files = _files(backend, commit)
        for number, (claim, drift) in enumerate(zip(claims, found, strict=True)):
            truth = _truth(backend, claim, files)
            alert = drift.verdict in ("changed", "gone")
            if drift.verdict == "unobservable":
                tally.pairs["gitmem", claim.form, "unobservable"] += 1
            else:
                tally.add("gitmem", claim.form, alert, truth != "holds")
            if os.environ.get("WRONG") and alert != (truth != "holds"):
                print(claim.form, claim.path, claim.name, claim.base[:8], commit[:8], drift.verdict, truth)
            tally.add("blob", claim.form, files.get(claim.path) != claim.ref.blob, truth != "holds")
            tally.add("bytes", claim.form, not _has_bytes(backend, claim, files), truth != "holds")
            mark = {"changed": "maybe_stale", "gone": "stale"}.get(drift.verdict, "")
            if mark and stood[number] != "stale" and mark != stood[number]:
                stood[number] = mark
                tally.marks["gitmem", claim.form] += 1
            if truth != "holds" and held[number] != "gone" and truth != held[number]:
                held[number] = truth
                tally.changes[claim.form] += 1
    return len(claims) * len(later)


def _truth(backend: Backend, claim: Claim, files: dict[str, str]) -> str:
    """holds, changed or gone, by Python's own parser alone."""
    if claim.form == LINES:
        if claim.path in files:
            return "holds" if _lines_stand(backend, files[claim.path], claim) else "changed"
        before = _files(backend, claim.base)
        came = [blob for path, blob in files.items() if path not in before]
        return "holds" if any(_lines_stand(backend, blob, claim) for blob in came) else "gone"
    was = _said(backend, claim.ref.blob, claim)
    before = _files(backend, claim.base)
    if claim.path in files:
        now = _said(backend, files[claim.path], claim)
        return "holds" if now == was else "gone" if now is None else "changed"
    came = [blob for path, blob in files.items() if path not in before]
    return "holds" if any(_said(backend, blob, claim) == was for blob in came) else "gone"


def _bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The blocks of a function, its own first; none of a class."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        for inner in ast.walk(node):
            for field in ("body", "orelse", "finalbody"):
                block = getattr(inner, field, None)
                if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                    yield block


def _lines_stand(backend: Backend, blob: str, claim: Claim) -> bool:
    name = claim.name.split(" ")[0]
    was, now = _tree(backend, claim.ref.blob), _tree(backend, blob)
    rows = line_range(claim.ref.lines or "")
    if was is None or now is None or rows is None:
        return False
    wanted = next(
        [ast.dump(one) for one in body if rows[0] <= one.lineno and (one.end_lineno or 0) <= rows[1]]
        for found, node in _definitions(was)
        if found == name
        for body in _bodies(node)
        if any(one.lineno == rows[0] for one in body)
    )
    within = [node for found, node in _definitions(now) if found == name]
    if any(_times(node, wanted) for node in within):
        return True
    everywhere = [node for _, node in _definitions(now) if not isinstance(node, ast.ClassDef)]
    return sum(_times(node, wanted) for _, node in _definitions(was)) == 1 and any(
        _times(node, wanted) for node in everywhere
    )


def _times(node: ast.AST, wanted: list[str]) -> int:
    dumps = [[ast.dump(one) for one in body] for body in _bodies(node)]
    size = len(wanted)
    return sum(body[at : at + size] == wanted for body in dumps for at in range(len(body) - size + 1))


def _said(backend: Backend, blob: str, claim: Claim) -> str | None:
    tree = _tree(backend, blob)
    if tree is None:
        return None
    if claim.form == "path":
        return _dump(backend, blob)
    found = [node for name, node in _definitions(tree) if name == claim.name]
    if not found:
        return None
    if claim.form == "path::symbol":
        return ast.dump(found[-1])
    value = _literal(found[-1])
    return repr(value) if value is not None else "no literal"


def _has_bytes(backend: Backend, claim: Claim, files: dict[str, str]) -> bool:
    if claim.path not in files:
        return False
    data = backend.read(claim.ref.blob)[1]
    rows = line_range(claim.ref.lines) if claim.ref.lines else None
    cited = b"\n".join(data.split(b"\n")[rows[0] - 1 : rows[1]]) if rows else data
    return cited in backend.read(files[claim.path])[1]


def _definitions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Functions, classes and the variables of modules and classes, by their dotted names."""
    for node in _statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield f"{prefix}{node.name}", node
            if isinstance(node, ast.ClassDef):
                yield from _definitions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield f"{prefix}{node.targets[0].id}", node
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield f"{prefix}{node.target.id}", node


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            yield from _statements(node)


def _literal(node: ast.AST) -> object:
    try:
        return None if getattr(node, "value", None) is None else ast.literal_eval(node.value)  # type: ignore[attr-defined]
    except (ValueError, TypeError, SyntaxError):
        return None


@cache
def _files(backend: Backend, commit: str) -> dict[str, str]:
    return {path: entry.oid for path, entry in snapshot(backend, commit).walk() if path.endswith(".py")}


@cache
def _tree(backend: Backend, blob: str) -> ast.AST | None:
    try:
        return ast.parse(backend.read(blob)[1])
    except (SyntaxError, ValueError):
        return None


@cache
def _dump(backend: Backend, blob: str) -> str:
    tree = _tree(backend, blob)
    return "" if tree is None else ast.dump(tree)


def _print(tally: Tally) -> None:
    print("\njudge   form                 judged  true changes  precision  recall  false alerts  misses")
    for judge in ("gitmem", "bytes", "blob"):
        for form in (*FORMS, "all three", LINES):
            row = {
                kind: sum(n for (j, f, k), n in tally.pairs.items() if (j, k) == (judge, kind) and f in _forms(form))
                for kind in ("hit", "false", "miss", "quiet", "unobservable")
            }
            alerts, true = row["hit"] + row["false"], row["hit"] + row["miss"]
            print(
                f"{judge:7} {form:20} {sum(row.values()):6}  {true:12}  {row['hit'] / max(alerts, 1):9.3f}"
                f"  {row['hit'] / max(true, 1):6.3f}  {row['false']:12}  {row['miss']:6}"
                + (f"  ({row['unobservable']} unobservable)" if row["unobservable"] else "")
            )
    print("\nform                 marks  true changes  marks per true change")
    for form in (*FORMS, "all three", LINES):
        marks = sum(n for (_, f), n in tally.marks.items() if f in _forms(form))
        changes = sum(n for f, n in tally.changes.items() if f in _forms(form))
        print(f"{form:20} {marks:5}  {changes:12}  {marks / max(changes, 1):.3f}")


def _forms(named: str) -> tuple[str, ...]:
    return FORMS if named == "all three" else (named,)


if __name__ == "__main__":
    main()
