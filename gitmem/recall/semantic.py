"""What a text means, as a direction: the optional extra `gitmem[semantic]`.

The weights come inside a package from the package index; nothing is ever downloaded here, and the package's own code
is not run: it would load pydantic, requests and the client of a hub. Without the extra nothing is imported.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, Final, Protocol

from gitmem.model.frozen import dataclass
from gitmem.recall.faults import MeaningUnavailable

# A text in parts, each with its weight: a whole memory is one part, a question is its words.
Parts = Sequence[tuple[str, float]]

LONGEST_TEXT: Final = 20_000  # characters of a part that are looked at
_PACKAGE: Final = "wordllama"
_WEIGHTS: Final = "weights/l2_supercat_256.safetensors"
_TOKENIZER: Final = "tokenizers/l2_supercat_tokenizer_config.json"
_TENSOR: Final = "embedding.weight"
_METHOD: Final = 1  # of making a direction of a text: another one gives other vectors
# A token that is repeated counts twice at most (docs/retrieval.md, Meaning).
_OFTEN: Final = 2
_HEADER_BYTES: Final = 8  # of a safetensors file: the length of its JSON header
_STEPS: Final = 127  # a coordinate is kept as one of -127 to 127
_INSTALL: Final = "pip install 'git-mem[semantic]'"


@dataclass(frozen=True)
class Absent:
    """Why there is no model, and what to do about it."""

    reason: str
    hint: str = ""


class Model(Protocol):
    """Makes directions of texts. stamp: vectors under another one cannot be compared."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def licence(self) -> str: ...

    @property
    def stamp(self) -> str: ...

    def embed(self, texts: Iterable[Parts]) -> Iterator[bytes]:
        """The direction of each text as `dimension` signed bytes, all zero when nothing is known of it. Only the
        angle between two of them says something. Raises MeaningUnavailable when the model cannot be loaded."""
        ...


def model() -> Model | Absent:
    """The model that is installed. Looks at file names only; the weights are read when they are first needed."""
    for name in ("numpy", "tokenizers"):
        if PathFinder.find_spec(name) is None:
            return Absent("the extra is not installed", _INSTALL)
    spec = PathFinder.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return Absent("the extra is not installed", _INSTALL)
    folder = Path(next(iter(spec.submodule_search_locations)))
    try:
        size = (folder / _WEIGHTS).stat().st_size
        (folder / _TOKENIZER).stat()
    except OSError:
        return Absent(f"this version of {_PACKAGE} holds no weights that gitmem knows", _INSTALL)
    return StaticModel(folder, size)


class StaticModel:
    """One vector a token, whatever stands beside it: the sum of them is the direction of a text.

    A question weighs each word by how rare it is. A memory does not, so that its vector never depends on the
    others: rare tokens have long vectors in this table anyhow.
    """

    name: Final = "wordllama l2_supercat_256"
    dimension: Final = 256
    licence: Final = "MIT; distilled from the token tables of Llama 2 70B and phi-3 medium"

    def __init__(self, folder: Path, size: int) -> None:
        self.stamp: Final = f"{self.name} {size} {_METHOD}"
        self._folder: Final = folder

    def embed(self, texts: Iterable[Parts]) -> Iterator[bytes]:
        with _loading(self.name):
            import numpy

            table, tokenizer = self._table, self._tokenizer
        for parts in texts:
            total = numpy.zeros(self.dimension, numpy.float32)
            for text, weight in parts:
                # One at a time: in batches the tokenizer starts threads, and warns at the next fork.
                numbers = tokenizer.encode(text[:LONGEST_TEXT], add_special_tokens=False).ids
                if numbers:
                    known, counts = numpy.unique(numbers, return_counts=True)
                    share = numpy.minimum(counts, _OFTEN).astype(numpy.float32) * (weight * len(numbers) ** -0.5)
                    total += share @ table[known].astype(numpy.float32)
            largest = float(numpy.abs(total).max())
            steps = numpy.rint(total * (_STEPS / largest)) if largest else total
            yield steps.astype(numpy.int8).tobytes()

    @cached_property
    def _table(self) -> Any:
        import numpy

        path = self._folder / _WEIGHTS
        with path.open("rb") as file:
            length = struct.unpack("<Q", file.read(_HEADER_BYTES))[0]
            about = json.loads(file.read(min(length, os.fstat(file.fileno()).st_size)))[_TENSOR]
        rows, columns = about["shape"]
        if about["dtype"] != "F16" or columns != self.dimension:
            raise ValueError(f"{path.name} is not the table that gitmem knows")
        start = _HEADER_BYTES + length + about["data_offsets"][0]
        return numpy.memmap(path, "<f2", "r", start, (rows, columns))

    @cached_property
    def _tokenizer(self) -> Any:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._folder / _TOKENIZER))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return tokenizer


@contextmanager
def _loading(name: str) -> Iterator[None]:
    try:
        yield
    except Exception as error:  # tokenizers raises plain ones
        raise MeaningUnavailable(f"{name} cannot be loaded: {error}", hint=f"{_INSTALL} --force-reinstall") from error
