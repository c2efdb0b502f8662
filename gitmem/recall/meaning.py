"""Meaning beside one search index: the model, and the vectors that it made of the cards.

It only ever adds. Whatever is missing or broken here leaves a search that goes by words, and a doubt that says why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gitmem.model.tokens import tokens
from gitmem.recall.cards import ends_at
from gitmem.recall.faults import MeaningUnavailable
from gitmem.recall.ranking import Corpus
from gitmem.recall.words import MAX_TERMS, MAX_TEXT, Words

if TYPE_CHECKING:
    from gitmem.recall.semantic import Model
    from gitmem.recall.vectors import Nearness

_AT_ONCE: Final = 2000  # vectors between two that are published: what a process that is killed loses

# What a word weighs that no memory holds: it may be another word for one that they do, or mistyped. githist dev, one
# typo a question, hit@5/MRR: 81.4/72.8 at 1, 81.8/73.1 at 0.5, 82.2/73.5 at 0, where another word is not understood.
_UNKNOWN: Final = 0.5


class Meaning:
    """A model with the vectors in one folder. doubt: why the last search left meaning out; "" when it did not."""

    def __init__(self, model: Model, folder: Path) -> None:
        self._model: Final = model
        self._folder: Final = folder
        self.doubt = ""

    @property
    def weight(self) -> float:
        return self._model.weight

    def covers(self, generation: int, cards: int) -> bool:
        """Whether the first `cards` bytes of cards have all their vectors. Reads the head only."""
        from gitmem.recall.vectors import read_head

        head = read_head(self._folder)
        return head is not None and self._fits(head.stamp, head.generation, generation) and head.covered >= cards

    def covered(self, generation: int) -> int:
        """Cards that begin before this byte have their vectors."""
        from gitmem.recall.vectors import read_head

        head = read_head(self._folder)
        return head.covered if head is not None and self._fits(head.stamp, head.generation, generation) else 0

    def learn(self, generation: int, cards: int, texts: Iterable[tuple[int, str]]) -> None:
        """Make the vectors of the cards at these places, ascending, each with what it says: all that have none yet
        among the first `cards` bytes. Under the index's lock. Raises MeaningUnavailable and OSError."""
        from gitmem.recall.vectors import VectorWriter

        rest = iter(texts)
        with VectorWriter(self._folder, self._model.stamp, self._model.dimension, generation) as writer:
            while batch := list(islice(rest, _AT_ONCE)):
                places = [place for place, _ in batch]
                writer.add(places, self._model.embed([(text, 1.0)] for _, text in batch), ends_at(places[-1]))
            if writer.covered < cards:
                writer.add([], iter(()), cards)

    def near(self, texts: Iterable[str], asked: Words, corpus: Corpus, generation: int) -> Nearness | None:
        """How near every card is to the question; None when nothing can be said of that."""
        from gitmem.recall.vectors import Vectors, discard, read_head

        self.doubt = ""
        head = read_head(self._folder)
        if self._model.whole:
            parts = [(text[:MAX_TEXT], 1.0) for text in texts if text.strip()]
        else:
            parts = list(islice(_weighted(texts, asked, corpus), MAX_TERMS))
        if head is None or not self._fits(head.stamp, head.generation, generation) or not parts:
            return None
        try:
            direction = next(self._model.embed([parts]))
            return Vectors(self._folder, head).near(direction) if any(direction) else None
        except MeaningUnavailable as error:
            self.doubt = error.message
        except (OSError, ValueError) as error:
            discard(self._folder)
            self.doubt = f"the vectors beside the index are made again: {error}"
        return None

    def _fits(self, stamp: str, made: int, generation: int) -> bool:
        return stamp == self._model.stamp and made == generation


def _weighted(texts: Iterable[str], asked: Words, corpus: Corpus) -> Iterator[tuple[str, float]]:
    """The words of a question as they were typed, in parts, each by how rare it is among the memories. What the
    search leaves out (words of questions, the common ones of a long text) is left out here as well.

    By how rare each piece of the model's own is, which would have to be counted, it is no better: githist dev, alone
    MRR 66.2.
    """
    from gitmem.recall.semantic import words_of

    for word in dict.fromkeys(words_of(" ".join(texts)[:MAX_TEXT])):
        known = [term for term in tokens(word) if term in asked.weights]
        if known:
            worth = max(asked.weights[term] * corpus.rarity(corpus.terms[term]) for term in known)
            yield word, worth if any(corpus.terms[term] for term in known) else _UNKNOWN * worth
