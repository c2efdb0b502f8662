"""What a sentence means, as a direction: the optional extra `gitmem[minilm]`, all-MiniLM-L6-v2 in 8 bits.

A transformer reads the words beside each other, where the table of `StaticModel` adds them up. Its weights are a file
in a package from the package index, run by onnxruntime; nothing of that package's code is run, nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Final

from gitmem.recall.semantic import LONGEST_TEXT, Parts, as_bytes, loading
from gitmem.recall.wordpiece import WordPieces

INSTALL: Final = "pip install 'git-mem[minilm]'"
_METHOD: Final = 1  # of making a direction of a text: another one gives other vectors
# Pieces of a text that are read: the model was trained on so many, and each takes 0.3 ms. 96 % of the memories of
# githist are no longer.
_LONGEST: Final = 128
_ERRORS: Final = 3  # onnxruntime's level of what it prints


class MiniLM:
    """The mean of what the last layer says of each piece of a text. Each text is run on its own and without padding:
    the numbers of 8 bits are scaled by all that is run at once, so that neighbours would change a vector."""

    name: Final = "all-MiniLM-L6-v2 int8"
    dimension: Final = 384
    licence: Final = "Apache-2.0"
    whole: Final = True
    patience: Final = 100  # about a second
    seconds: Final = 0.01
    # githist dev hit@1/hit@5/hit@10/MRR: 68.6/82.2/86.9/74.9 without, 69.5/83.1/87.7/75.7 at 0.3, 69.5/83.1/87.7/75.8
    # at 0.7, 68.6/83.5/87.3/75.3 at 1; with one typo MRR 72.6 without, 73.5 from 0.5 to 1. With the table of words as
    # one more lane it is no better: 75.8 at 0.5 each.
    weight = 0.7

    def __init__(self, weights: Path, runtime: Path) -> None:
        """The file of the model, and the folder of onnxruntime."""
        self._weights: Final = weights
        self._runtime: Final = runtime

    @cached_property
    def stamp(self) -> str:
        """With the version of what runs it: another one may round otherwise."""
        versions = sorted(path.name for path in self._runtime.parent.glob("onnxruntime-*.dist-info"))
        return " ".join([self.name, str(self._weights.stat().st_size), *versions, str(_METHOD)])

    def embed(self, texts: Iterable[Parts]) -> Iterator[bytes]:
        with loading(self.name, INSTALL):
            import numpy

            session, pieces = _session(self._weights), _pieces()
        for parts in texts:
            lines = "\n".join(text for text, _ in parts)[:LONGEST_TEXT].split("\n")
            numbers = pieces.numbers(
                "\n".join(dict.fromkeys(lines)), _LONGEST
            )  # a title that is there twice is read once
            if not numbers:
                yield bytes(self.dimension)
                continue
            asked = numpy.asarray([numbers], numpy.int64)
            given = {"input_ids": asked, "attention_mask": numpy.ones_like(asked)}
            with loading(self.name, INSTALL):
                (layer,) = session.run(["last_hidden_state"], {**given, "token_type_ids": numpy.zeros_like(asked)})
                yield as_bytes(layer[0].mean(axis=0), self.dimension)


@lru_cache(maxsize=1)
def _session(weights: Path) -> Any:
    """The model, loaded once a process: it takes a quarter of a second. One thread, so that no order of adding up
    depends on the machine's load."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(_ERRORS)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS
    return onnxruntime.InferenceSession(str(weights), options, providers=["CPUExecutionProvider"])


@lru_cache(maxsize=1)
def _pieces() -> WordPieces:
    return WordPieces()
