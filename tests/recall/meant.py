"""A model of a few words, for tests of what is done with any model. It needs nothing that is installed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from gitmem.recall.faults import MeaningUnavailable
from gitmem.recall.ranking import MEANING_WEIGHT

CONCEPTS = (
    {"car", "automobile", "vehicle"},
    {"fast", "quick", "speedy"},
    {"money", "payment", "invoice"},
    {"sea", "ocean", "water"},
    {"doctor", "physician"},
)


class Concepts:
    """One axis for each group of words that mean the same; all other words mean nothing."""

    name = "concepts"
    licence = "none needed"
    weight = MEANING_WEIGHT
    seconds = 0.01

    def __init__(self, dimension: int = 5, *, stamp: str = "concepts 1", broken: bool = False) -> None:
        self.dimension = dimension
        self.stamp = stamp
        self.broken = broken
        self.embedded = 0  # texts so far
        self.whole = False
        self.patience = 1000
        self.read: list[str] = []  # what was given as one part

    def embed(self, texts: Iterable[Sequence[tuple[str, float]]]) -> Iterator[bytes]:
        for parts in texts:
            if self.broken:
                raise MeaningUnavailable("the model is broken", hint="mend it")
            self.embedded += 1
            self.read += [text for text, _ in parts] if len(parts) == 1 else []
            axes = [0.0] * self.dimension
            for text, weight in parts:
                for word in re.findall(r"\w+", text.lower()):
                    for axis, words in enumerate(CONCEPTS[: self.dimension]):
                        axes[axis] += weight * (word in words)
            largest = max(axes) or 1.0
            yield bytes(round(127 * value / largest) for value in axes)
