"""What agents would have been told in real captured sessions, and how much of it was to the point.

    python benchmarks/replay.py TRANSCRIPTS HISTORIES [--each] [--judge FILE] [--no-planted] [--json]

TRANSCRIPTS holds a folder for each host with its transcripts, HISTORIES <project>.memories.jsonl of other projects.
They are captured into a repository that is thrown away, whose memory is benchmarks/replay/notes.jsonl, what the
sessions teach, and three of those histories, which are to the point of nothing. Then each start of a session, each
prompt and each edit goes through the hook that `gitmem install` wrote, as the host's own payload, with the transcript
as it was until then.

What was told is judged by benchmarks/replay/labels.tsv: session, record (of an edit the file), prompt or edit, memory,
yes or no, why. It holds no text of a session. A told pair that nobody judged is a fault. --judge FILE writes what there
is to judge, told or not, with its confidence and how many words it holds. After that the same sessions are replayed
with look-alikes of each prompt and file in the memory that are superseded, rejected, disputed, archived, of another
project or audience, in quarantine, expired or only candidates: any of them in a block is a fault, and so is a control
that is not told.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Any

from replay_sessions import Moment, Sample, payload, samples
from replay_store import HIDDEN, SHOWN, captured, checkout, listed, plant, remembered
from throwaway import GITMEM, report, sealed

LABELS = Path(__file__).with_name("replay") / "labels.tsv"
HISTORIES = (
    "pre-commit__pre-commit",
    "koordinates__kart",
    "encode__httpx",
)  # tools of git and of the net, as the notes
CONSIDERED = 12  # of each prompt, for the curve
Pair = tuple[str, str, str, str]  # session, record of the prompt or path of the edit, prompt or edit, memory


@dataclass(frozen=True)
class Told:
    """One block of what a hook answered. names: the memories in it, by the name that the labels have for them, but for
    those that this very session taught: they could not have been there."""

    moment: Moment
    text: str
    tokens: int
    names: tuple[str, ...]

    @property
    def pairs(self) -> list[Pair]:
        moment = self.moment
        return [(moment.session, moment.path or moment.record, moment.what, name) for name in self.names]


def labels() -> dict[Pair, bool]:
    rows = [line.split("\t") for line in LABELS.read_text(encoding="utf-8").splitlines()[1:]]
    return {(row[0], row[1], row[2], row[3]): row[4] == "yes" for row in rows}


def commands(home: Path, where: Path) -> dict[tuple[str, str], str]:
    """(host, event) to the command line that the host runs, as `gitmem install` wrote it."""
    for folder in (".claude", ".codex", ".cursor", ".gemini/tmp", ".gemini/antigravity-cli", ".copilot"):
        (home / folder).mkdir(parents=True, exist_ok=True)
    for words in ((), ("antigravity", "--project")):
        subprocess.run([str(GITMEM), "install", *words, "--yes"], cwd=where, check=True, capture_output=True)
    found: dict[tuple[str, str], str] = {}

    def walk(value: Any) -> None:
        for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            if isinstance(inner, str):
                words = inner.split()
                if len(words) > 2 and "doorbell" in inner:
                    found[words[-2], words[-1]] = inner
            walk(inner)

    for folder in (home, where):
        for path in folder.rglob("*.json"):
            if path.stat().st_size < 100_000 and "doorbell" in path.read_text(errors="replace"):
                walk(json.loads(path.read_text()))
    bell = home / ".local/share/gitmem/doorbell"
    for host in ("opencode", "pi"):  # a program of the host's own calls the doorbell
        found[host, "prompt"] = f"{bell} {host} prompt"
    return found


def blocks(out: str) -> list[tuple[str, str]]:
    """(what it is about, text) of each block that the host puts before its agent."""
    if not out.strip() or out.strip() == "{}":
        return []
    data = json.loads(out)
    inner = data.get("hookSpecificOutput", data)
    text = inner.get("additionalContext") or inner.get("additional_context")
    text = text or data["injectSteps"][0]["ephemeralMessage"]
    parts = [f"<gitmem-memory {part}" for part in text.split("<gitmem-memory ")[1:]]
    return [(part.partition('about="')[2].partition('"')[0], part) for part in parts]


def replayed(
    all_of: Sequence[Sample], ways: dict[tuple[str, str], str], where: Path, names: dict[str, str], run: str
) -> tuple[list[Told], list[str]]:
    """Each moment through its hook, in order; what was told, and hooks that are not there."""
    from gitmem.recall.budget import estimate

    told, faults = [], []
    transcript = where.parent / "transcript.jsonl"
    short = {identifier[:8]: name for identifier, name in names.items()}
    for sample in all_of:
        for moment in sample.moments:
            given = payload(moment, f"{sample.path.stem}-{run}", where, transcript)
            if given is None:
                continue
            event, said = given
            command = ways.get((moment.host, event))
            if command is None:
                faults.append(f"{moment.host} has no hook at {event}")
                continue
            transcript.write_bytes(moment.before)
            done = subprocess.run(
                ["sh", "-c", command], cwd=where, input=json.dumps(said), capture_output=True, text=True, check=False
            )
            if done.returncode or done.stderr:
                faults.append(f"{moment.host} {event}: exit {done.returncode} {done.stderr[:200]}")
            for about, text in blocks(done.stdout) or [("", "")]:
                rows = [json.loads(line) for line in text.splitlines() if line.startswith("{")]
                ids = [row["id"] for row in rows if "id" in row and "title" in row]
                # Where no start of a session is told of, its first prompt brings the brief, which answers no prompt.
                part = replace(moment, what="start") if about == "this repository" else moment
                names_of = tuple(name for one in ids if not sample.taught(name := short.get(one, one)))
                told.append(Told(part, text, estimate(text), names_of))
    return told, list(dict.fromkeys(faults))


def considered(where: Path, moment: Moment, names: dict[str, str]) -> list[tuple[float, int, str]]:
    """(confidence, words of the question that it holds, name) of the best for a prompt, told or not."""
    from datetime import datetime, timezone
    from io import StringIO

    from gitmem.app.env import Env
    from gitmem.app.ground import ground
    from gitmem.app.injection import SHORT, asked
    from gitmem.app.moments import moment as then_of
    from gitmem.app.read_filters import Filters
    from gitmem.app.recalling import Asked, search
    from gitmem.policy.visibility import visible

    env = Env(cwd=where, environ=dict(os.environ), stdin=StringIO(), stdout=StringIO(), stderr=StringIO(),
              now=lambda: datetime.now(timezone.utc), random=os.urandom, channel="tool")  # fmt: skip
    here = ground(env)
    then = then_of(here, None)
    question = asked(moment.prompt)
    before = asked(moment.earlier) if len(question.split()) <= SHORT else ""
    wanted = Asked((question,), Filters(limit=CONSIDERED), previous=before or None)
    found = search(here, wanted, question, then, visible(here.viewer, at=then.at)) if question else None
    return [(hit.confidence, len(hit.matched), names.get(hit.id, hit.id)) for hit in found.hits] if found else []


def judged(told: Sequence[Told], known: dict[Pair, bool], figures: dict[str, Any]) -> list[str]:
    """Precision by moment, and how much of what is to the point the session held by then; pairs that nobody judged."""
    unjudged = []
    held: dict[str, set[str]] = defaultdict(set)
    reached = {pair: False for pair, is_good in known.items() if is_good}
    for one in told:
        moment = one.moment
        held[moment.session].update(one.names)
        for pair in reached:
            if pair[:3] == (moment.session, moment.path or moment.record, moment.what):
                reached[pair] = pair[3] in held[moment.session]
    for what in ("prompt", "edit"):
        rows = [one for one in told if one.moment.what == what]
        pairs = [pair for one in rows for pair in one.pairs]
        unjudged += [f"not judged: {' '.join(pair)}" for pair in pairs if pair not in known]
        good = sum(known.get(pair, False) for pair in pairs)
        figures[f"{what}s"] = f"{len(rows)}, of which {sum(not one.text for one in rows)} were told nothing"
        figures[f"{what}s: judged pairs"] = sum(pair[2] == what for pair in known)
        if pairs:
            figures[f"{what}s: told, and to the point"] = f"{good} of {len(pairs)}, {100 * good / len(pairs):.0f} %"
        wanted = [is_held for pair, is_held in reached.items() if pair[2] == what]
        figures[f"{what}s: to the point, and told by then"] = f"{sum(wanted)} of {len(wanted)}"
    return unjudged


def curve(found: dict[Moment, list[tuple[float, int, str]]], known: dict[Pair, bool], figures: dict[str, Any]) -> None:
    """Precision of the judged candidates if the confidence alone decided."""
    rows = [
        (confidence, known[pair])
        for moment, best in found.items()
        for confidence, _, name in best
        if (pair := (moment.session, moment.record, "prompt", name)) in known
    ]
    for percent in (35, 40, 45, 50, 55, 60, 65, 70):
        kept = [good for confidence, good in rows if confidence * 100 >= percent]
        if kept:
            figures[f"prompts, by confidence alone, {percent} %"] = f"{sum(kept)} of {len(kept)} to the point"


def costs(told: Sequence[Told], figures: dict[str, Any]) -> list[str]:
    """Tokens of each block against its budget."""
    faults = []
    for what, most in (("start", 1200), ("prompt", 800), ("edit", 400)):
        sizes = [one.tokens for one in told if one.moment.what == what and one.text]
        if sizes:
            figures[f"tokens, {what}"] = f"median {median(sizes):.0f}, most {max(sizes)}, of {most}"
            if max(sizes) > most:
                faults.append(f"{what}: {max(sizes)} tokens are more than {most}")
    return faults


def show(told: Sequence[Told], known: dict[Pair, bool]) -> None:
    for one in told:
        moment = one.moment
        print(f"{moment.host} {moment.session} {moment.record[:13]} {moment.what} {moment.path} {one.tokens} tokens")
        if moment.what != "start":
            for pair in one.pairs:
                said = {True: "yes", False: "no", None: "not judged"}[known.get(pair)]
                print(f"    {said:10} {pair[3]}")


def withheld(
    all_of: Sequence[Sample], ways: dict[tuple[str, str], str], where: Path, figures: dict[str, Any]
) -> list[str]:
    """The same sessions with look-alikes in the memory: what was told that may not be."""
    moments = [
        moment for sample in all_of for moment in sample.moments if moment.path or len(moment.prompt.split()) > 3
    ]
    plant(where, moments)
    told, faults = replayed(all_of, ways, where, {}, "planted")
    for one in told:
        faults += [f"{one.moment.session} {one.moment.record}: {word} was told" for word in HIDDEN if word in one.text]
    with_control = Counter(one.moment.what for one in told if SHOWN in one.text)
    figures["blocks with a look-alike that may be told"] = dict(with_control)
    figures["blocks with one that may not"] = sum(any(word in one.text for word in HIDDEN) for one in told)
    missing = {"start", "prompt", "edit"} - set(with_control)
    return faults + [f"no control was told at {what}" for what in sorted(missing)]


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("transcripts", type=Path)
    options.add_argument("histories", type=Path)
    options.add_argument("--each", action="store_true", help="each turn, with what it was told")
    options.add_argument("--judge", type=Path, help="a file for what there is to judge, with words of the sessions")
    options.add_argument("--no-planted", action="store_true", help="without the second replay")
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    transcripts, histories = chosen.transcripts.resolve(), chosen.histories.resolve()
    figures: dict[str, Any] = {}
    with sealed("replay") as folder:
        where, home = folder / "shop", folder / "home"
        all_of = list(samples(transcripts, where))
        checkout(where, all_of)
        names = remembered(where, [histories / f"{name}.memories.jsonl" for name in HISTORIES])
        ways = commands(home, where)
        learned = captured(where, home, all_of)
        names |= learned
        figures["sessions"] = len(all_of)
        figures["memories"] = f"{len(names):,}, of which {len(learned)} were learned from the sessions"
        known = labels() if LABELS.exists() else {}
        told, faults = replayed(all_of, ways, where, names, "as-it-was")
        prompts = [one.moment for one in told if one.moment.what == "prompt"]
        found = {moment: considered(where, moment, names) for moment in dict.fromkeys(prompts)}
        if chosen.judge:
            judge(chosen.judge, told, found, known, where, names)
        faults += judged(told, known, figures)
        faults += costs(told, figures)
        curve(found, known, figures)
        if chosen.each:
            show(told, known)
        if not chosen.no_planted:
            faults += withheld(all_of, ways, where, figures)
    return report(figures, faults, chosen.json)


def judge(
    file: Path, told: Sequence[Told], found: dict[Moment, list[tuple[float, int, str]]], known: dict[Pair, bool],
    where: Path, names: dict[str, str],
) -> None:  # fmt: skip
    """What a person has to look at, with the words: for reading, never to be kept in the project."""
    titles = {names.get(row["id"]): row["title"] for row in listed(where)}
    by: dict[Moment, dict[str, str]] = defaultdict(dict)
    for one in told:
        if one.moment.what != "start":
            by[one.moment].update(dict.fromkeys(one.names, "told"))
    for moment, best in found.items():
        for confidence, words, name in best:
            by[moment][name] = f"{by[moment].get(name, '')} {confidence:.2f} {words}".strip()
    with file.open("w", encoding="utf-8") as out:
        for moment, rows in by.items():
            out.write(f"\n{moment.session}\t{moment.record}\t{moment.what}\t{moment.path}\n{moment.prompt[:700]!r}\n")
            for name, how in rows.items():
                pair = (moment.session, moment.path or moment.record, moment.what, name)
                out.write(f"   {known.get(pair)!s:6}{how:14}{name}\t{titles.get(name)}\n")


if __name__ == "__main__":
    sys.exit(main())
