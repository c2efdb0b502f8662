"""The model that comes in a package, with a package of three words: the real one is measured in benchmarks/recall."""

from __future__ import annotations

import json
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy
import pytest

from gitmem.recall.faults import MeaningUnavailable
from gitmem.recall.semantic import Absent, Model, StaticModel, model

WORDS = ("pool", "retry", "rare")
# What the package of tokenizers has to offer, on three words.
TOKENIZERS = """\
class Encoding:
    def __init__(self, ids):
        self.ids = ids

class Tokenizer:
    @staticmethod
    def from_file(path):
        made = Tokenizer()
        with open(path) as file:
            made.words = file.read().split()
        return made
    def no_truncation(self):
        pass
    def no_padding(self):
        pass
    def encode(self, text, add_special_tokens):
        assert add_special_tokens is False
        return Encoding([self.words.index(word) for word in text.split() if word in self.words])
"""


def table() -> numpy.ndarray:
    rows = numpy.zeros((len(WORDS), 256), numpy.float16)
    rows[0, 0], rows[1, 1], rows[2, 2] = 1, 1, 3
    return rows


def safetensors(tensor: str = "embedding.weight", dtype: str = "F16", columns: int = 256) -> bytes:
    data = table()[:, :columns].tobytes()
    about = {tensor: {"dtype": dtype, "shape": [len(WORDS), columns], "data_offsets": [0, len(data)]}}
    head = json.dumps(about).encode()
    return struct.pack("<Q", len(head)) + head + data


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path with the packages of the extra, which `wordllama` does not let itself be imported from."""
    for folder in ("wordllama/weights", "wordllama/tokenizers", "tokenizers"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "wordllama/__init__.py").write_text("raise RuntimeError('the code of the package was run')")
    (tmp_path / "wordllama/weights/l2_supercat_256.safetensors").write_bytes(safetensors())
    (tmp_path / "wordllama/tokenizers/l2_supercat_tokenizer_config.json").write_text(" ".join(WORDS))
    (tmp_path / "tokenizers/__init__.py").write_text(TOKENIZERS)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("tokenizers", "wordllama")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("tokenizers", None)


def installed() -> Model:
    found = model()
    assert isinstance(found, StaticModel)
    return found


def direction(*parts: tuple[str, float]) -> list[int]:
    (made,) = installed().embed([parts])
    assert len(made) == 256
    return [step - 256 if step > 127 else step for step in made[:3]]


def test_it_is_found_by_its_files_and_says_what_it_is(packages: Path) -> None:
    found = installed()
    assert (found.name, found.dimension) == ("wordllama l2_supercat_256", 256)
    assert found.licence.startswith("MIT") and "Llama 2" in found.licence and "phi-3" in found.licence
    assert not {"wordllama", "tokenizers"} & set(sys.modules)


def test_another_table_has_another_stamp(packages: Path) -> None:
    before = installed().stamp
    with (packages / "wordllama/weights/l2_supercat_256.safetensors").open("ab") as file:
        file.write(b"\0")
    assert installed().stamp != before


def test_a_text_is_the_sum_of_its_tokens_each_twice_at_most(packages: Path) -> None:
    assert direction(("pool", 1.0)) == [127, 0, 0]
    assert direction(("pool retry", 1.0)) == [127, 127, 0]
    assert direction(("pool pool rare", 1.0)) == direction(("pool pool pool pool rare", 1.0)) == [85, 0, 127]
    assert direction(("rare pool", 1.0)) == [42, 0, 127]


def test_each_word_of_a_question_weighs_what_it_is_worth(packages: Path) -> None:
    assert direction(("pool", 1.0), ("retry", 0.3)) == [127, 38, 0]
    assert direction(("pool", 3.0), ("rare", 0.0)) == [127, 0, 0]


def test_a_text_of_unknown_words_means_nothing(packages: Path) -> None:
    assert direction(("zzz", 1.0)) == direction() == [0, 0, 0]


def test_it_needs_each_of_its_packages(packages: Path) -> None:
    assert isinstance(model(), StaticModel)
    for name in ("wordllama", "tokenizers"):
        aside = packages / name
        aside.rename(packages / "aside")
        found = model()
        if not isinstance(found, StaticModel):  # where the extra is installed the real one takes its place
            assert found == Absent("the extra is not installed", "pip install 'git-mem[semantic]'")
        (packages / "aside").rename(aside)


def test_a_version_of_the_package_without_the_weights_is_told(packages: Path) -> None:
    for name in ("weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"):
        assert isinstance(model(), StaticModel)
        path = packages / "wordllama" / name
        data = path.read_bytes()
        path.unlink()
        found = model()
        assert isinstance(found, Absent) and "no weights that gitmem knows" in found.reason
        path.write_bytes(data)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff" * 8,
        b"\xff" * 64,
        safetensors()[:-1],
        safetensors(tensor="other"),
        safetensors(dtype="F32"),
        safetensors(columns=128),
    ],
    ids=["empty", "endless", "no header", "cut", "other tensor", "other numbers", "other dimension"],
)
def test_a_broken_table_is_a_typed_error(packages: Path, data: bytes) -> None:
    (packages / "wordllama/weights/l2_supercat_256.safetensors").write_bytes(data)
    with pytest.raises(MeaningUnavailable, match="l2_supercat_256 cannot be loaded"):
        direction(("pool", 1.0))


def test_a_tokenizer_that_cannot_be_read_is_a_typed_error(packages: Path) -> None:
    (packages / "tokenizers/__init__.py").write_text("raise ImportError('built for another Python')")
    with pytest.raises(MeaningUnavailable, match="built for another Python"):
        direction(("pool", 1.0))
