"""A command line read without Typer, for the verb that has to be quick. On any doubt Typer reads it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gitmem.model.frozen import dataclass


@dataclass(frozen=True)
class Flags:
    """What a verb takes: the name of its positional word, or of several, and flags with the parameter that each sets.

    positional: "" for none. one: the last value counts. many: all values count. yes: no value.
    """

    positional: str
    one: Mapping[str, str]
    many: Mapping[str, str]
    yes: Mapping[str, str]
    several: bool = False

    def read(self, words: list[str]) -> dict[str, Any] | None:
        """The parameters that are given, or None for anything but known flags and values that are surely values."""
        given: dict[str, Any] = {}
        rest = iter(words)
        for word in rest:
            if not word.startswith("-"):
                if not self.positional:
                    return None
                if self.several:
                    given.setdefault(self.positional, []).append(word)
                elif self.positional in given:
                    return None
                else:
                    given[self.positional] = word
            elif word in self.yes:
                given[self.yes[word]] = True
            else:
                name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
                if not equals:
                    value = next(rest, "-")
                if not value or value.startswith("-") or not (name in self.one or name in self.many):
                    return None
                if name in self.one:
                    given[self.one[name]] = value
                else:
                    given.setdefault(self.many[name], []).append(value)
        return given
