"""A review at a terminal: one candidate at a time, one key for what is of low risk, a reason for everything else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from typing import Final

from gitmem.app import verdicts
from gitmem.app.review import Waiting, in_batches, one
from gitmem.app.workspace import Workspace
from gitmem.cli.door import Door, counted
from gitmem.cli.keys import Keys, typed_keys
from gitmem.cli.moves import edit_in_editor
from gitmem.cli.review_page import batch_line, review_page
from gitmem.errors import GitmemError
from gitmem.model.text import one_line

PROMPT: Final = "a accept  r reject  e edit  m merge into  s supersede  k skip  q quit  ? help: "
_HELP: Final = """\
  a  accept: let it in, judged again now. Of low risk: at once. Anything else asks for a reason.
  A  accept this and all others of low risk that this session brought on this day; shows them and asks.
  r  reject: it cannot be learned again. Asks for a reason.
  e  edit in $EDITOR, then look at it again. Asks for a reason when the editor is closed.
  m  merge into another memory: gives it the evidence and tags of this one, and closes this one.
  s  supersede: let it in, in the place of another memory.
  k  skip    q  quit    ?  this help"""


class _Quit(Exception):
    """The person has seen enough."""


class _Back(Exception):
    """Nothing is done about a candidate; it is asked about again."""


class _Sitting:
    def __init__(self, door: Door, workspace: Workspace, keys: Keys) -> None:
        self.door, self.workspace, self.keys = door, workspace, keys
        self.told: Counter[str] = Counter()
        self.done: set[str] = set()
        self.verbs: dict[str, Callable[[Waiting, Sequence[Waiting]], bool]] = {
            "a": self.accept,
            "A": self.accept_all,
            "r": self.reject,
            "e": self.edit,
            "m": self.merge_into,
            "s": self.supersede,
            "k": self.skip,
            "q": self.quit,
        }

    def through(self, items: Sequence[Waiting]) -> None:
        for batch, members in in_batches(items):
            self.door.say(batch_line(self.door, batch, len(members)))
            for number, item in enumerate(members):
                if item.memory.id not in self.done:
                    self.one(item, members[number:])

    def one(self, item: Waiting, rest: Sequence[Waiting]) -> None:
        """Show a candidate until a verdict on it stands."""
        shown: Waiting | None = item
        fresh = True
        while shown is not None:
            if fresh:
                self.door.say()
                for line in review_page(self.door, shown):
                    self.door.say(line)
            self.door.out(PROMPT)
            self.door.flush()
            key = self.keys.key()
            self.door.say(key if key.isprintable() else "")
            verb = self.verbs.get(key or "q")
            fresh = False
            if verb is None:
                self.door.say(_HELP)
                continue
            try:
                if verb(shown, rest):
                    return
                fresh = key == "e"
            except (GitmemError, _Back) as error:
                # What was typed ahead was for what did not come about, and is no list of keys.
                self.keys.discard()
                if isinstance(error, GitmemError):
                    self.door.error(error)
                else:
                    self.door.say(str(error))
            before, shown = shown, one(self.workspace, shown.memory.id)
            fresh = fresh or (shown is not None and shown.memory != before.memory)

    def said(self, item: Waiting, what: str) -> bool:
        self.told[what] += 1
        self.done.add(item.memory.id)
        level = f"review level {item.level.level}, {item.level.label}"
        self.door.say(f"{self.door.style(what, 'green')} {item.memory.id[:8]}: {self.door.style(level)}")
        return True

    def asked(self, prompt: str, what: str) -> str:
        """An answer. An empty line asks again, a second one raises _Back: what comes then is for no key."""
        answer = self.keys.line(prompt)
        if not answer:
            self.door.say(f"this takes {what}; an empty line again goes back")
            answer = self.keys.line(prompt)
        if not answer:
            raise _Back(f"no {what.partition(' ')[2]}, so nothing was done")
        return answer

    def reason(self) -> str:
        return self.asked("because: ", "a reason")

    def accept(self, item: Waiting, _: Sequence[Waiting]) -> bool:
        why = self.reason() if item.alone else ""
        verdicts.accept(self.workspace, [item.memory.id], why, shown=[item.memory])
        return self.said(item, "accepted")

    def accept_all(self, item: Waiting, rest: Sequence[Waiting]) -> bool:
        low = [other for other in rest if not other.alone and other.memory.id not in self.done]
        if item.alone:
            self.door.say("this one is to be decided alone")
            return False
        for other in low:
            self.door.say(f"  {other.memory.id[:8]}  {self.door.style(one_line(other.memory.title, 100))}")
        answer = self.keys.line(f"accept {counted(len(low), 'candidate')} of low risk? y or n: ").lower()
        if answer in ("n", "no"):
            return False
        if answer not in ("y", "yes"):
            raise _Back("neither y nor n, so nothing was done")
        shown = [other.memory for other in low]
        verdicts.accept(self.workspace, [memory.id for memory in shown], "", shown=shown)
        for other in low:
            self.said(other, "accepted")
        return True

    def reject(self, item: Waiting, _: Sequence[Waiting]) -> bool:
        verdicts.reject(self.workspace, [item.memory.id], self.reason(), shown=[item.memory])
        return self.said(item, "rejected")

    def edit(self, item: Waiting, _: Sequence[Waiting]) -> bool:
        edit_in_editor(self.door, self.workspace, item.memory.id, cache(self.reason))
        self.door.say(self.door.style("edited; looked at again:", "green"))
        return False

    def merge_into(self, item: Waiting, _: Sequence[Waiting]) -> bool:
        target = self.asked("into which memory (id): ", "an id")
        into = verdicts.merge_target(self.workspace, item.memory.id, target)
        self.door.say(f"  {into.id[:8]}  {self.door.style(one_line(into.title, 100))}")
        verdicts.merge_into(self.workspace, item.memory.id, into.id, self.reason(), shown=[item.memory])
        return self.said(item, "merged")

    def supersede(self, item: Waiting, _: Sequence[Waiting]) -> bool:
        named = self.asked("in the place of which memory (id): ", "an id")
        old = verdicts.replaced_by(self.workspace, item.memory.id, named)
        self.door.say(f"  {old.id[:8]}  {self.door.style(one_line(old.title, 100))}")
        verdicts.accept(self.workspace, [item.memory.id], self.reason(), superseding=old.id, shown=[item.memory])
        return self.said(item, "accepted")

    def skip(self, item: Waiting, _: Sequence[Waiting]) -> bool:
        self.told["skipped"] += 1
        return True

    def quit(self, item: Waiting, _: Sequence[Waiting]) -> bool:
        raise _Quit


def sit(door: Door, workspace: Workspace, items: Sequence[Waiting]) -> None:
    """Go through `items` with the person at the terminal."""
    with typed_keys(door) as keys:
        sitting = _Sitting(door, workspace, keys)
        with suppress(_Quit):
            sitting.through(items)
        told = ", ".join(f"{count} {what}" for what, count in sitting.told.items()) or "nothing was decided"
        door.say(told)
