"""The model that comes in a package, with a package of three words: the real one is measured in benchmarks/recall."""

from __future__ import annotations

import importlib
import json
import struct
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

from gitmem.recall.faults import MeaningUnavailable
from gitmem.recall.semantic import Absent, Model, StaticModel, model, words_of

WORDS = ("pool", "retry", "rare")
# Three words and what they are put together from, the letters last, as in the real vocabulary; then all bytes.
PIECES = ("▁pool", "▁retry", "▁rare", "▁po", "ol", "▁re", "try", "tr", "▁r", "are", "ar", "▁p", *"▁polretya")
VOCABULARY = {piece: n for n, piece in enumerate([*PIECES, *(f"<0x{byte:02X}>" for byte in range(256))])}


def table() -> Any:
    rows = numpy.zeros((len(VOCABULARY), 256), numpy.float16)
    rows[0, 0], rows[1, 1], rows[2, 2] = 1, 1, 3
    rows[VOCABULARY["▁po"], 3] = rows[VOCABULARY["<0xC3>"], 4] = rows[VOCABULARY["<0xA9>"], 4] = 1
    return rows


def safetensors(tensor: str = "embedding.weight", dtype: str = "F16", columns: int = 256) -> bytes:
    data = table()[:, :columns].tobytes()
    about = {tensor: {"dtype": dtype, "shape": [len(VOCABULARY), columns], "data_offsets": [0, len(data)]}}
    head = json.dumps(about).encode()
    return struct.pack("<Q", len(head)) + head + data


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path with the packages of the extra, which `wordllama` does not let itself be imported from."""
    for folder in ("wordllama/weights", "wordllama/tokenizers"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "wordllama/__init__.py").write_text("raise RuntimeError('the code of the package was run')")
    (tmp_path / "wordllama/weights/l2_supercat_256.safetensors").write_bytes(safetensors())
    (tmp_path / "wordllama/tokenizers/l2_supercat_tokenizer_config.json").write_text(
        json.dumps({"version": "1.0", "model": {"type": "BPE", "vocab": VOCABULARY, "merges": ["p o"]}}), "utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def installed() -> Model:
    found = model()
    assert isinstance(found, StaticModel)
    return found


def direction(*parts: tuple[str, float]) -> list[int]:
    (made,) = installed().embed([parts])
    assert len(made) == 256
    return [step - 256 if step > 127 else step for step in made[:5]]


def test_it_is_found_by_its_files_and_says_what_it_is(packages: Path) -> None:
    found = installed()
    assert (found.name, found.dimension) == ("wordllama l2_supercat_256", 256)
    assert found.licence.startswith("MIT") and "Llama 2" in found.licence and "phi-3" in found.licence
    assert not {"wordllama", "tokenizers"} & set(sys.modules)
    next(found.embed([[("pool", 1.0)]]))
    assert not {"wordllama", "tokenizers", "huggingface_hub"} & set(sys.modules)


def test_another_table_has_another_stamp(packages: Path) -> None:
    before = installed().stamp
    with (packages / "wordllama/weights/l2_supercat_256.safetensors").open("ab") as file:
        file.write(b"\0")
    assert installed().stamp != before


def test_a_text_is_the_sum_of_its_words_each_four_times_at_most(packages: Path) -> None:
    assert direction(("pool", 1.0)) == [127, 0, 0, 0, 0]
    assert direction(("pool retry", 1.0)) == [127, 127, 0, 0, 0]
    assert direction(("rare pool", 1.0)) == [42, 0, 127, 0, 0]
    assert direction(("rare" + 4 * " pool", 1.0)) == direction(("rare" + 9 * " pool", 1.0)) == [127, 0, 95, 0, 0]


@pytest.mark.parametrize(
    "text", ["Pool, retry!", "poolRetry", "pool_retry", "POOL-RETRY", "a.pool(retry)", "— pool retry…"]
)
def test_case_and_punctuation_make_no_difference(packages: Path, text: str) -> None:
    assert direction((text, 1.0))[:2] == [127, 127]


def test_a_word_is_put_together_from_its_pieces(packages: Path) -> None:
    # "pot" is ▁po and t, and of these only ▁po has a vector; "poly" is ▁p, ol and y, since ol comes before ▁p; "é" is
    # two bytes.
    assert direction(("pot", 1.0)) == [0, 0, 0, 127, 0]
    assert direction(("pool pot", 1.0)) == [127, 0, 0, 90, 0]  # 2 ** -0.5
    assert direction(("poly", 1.0)) == [0, 0, 0, 0, 0]
    assert direction(("é", 1.0)) == [0, 0, 0, 0, 127]


def test_each_word_of_a_question_weighs_what_it_is_worth(packages: Path) -> None:
    assert direction(("pool", 1.0), ("retry", 0.3)) == [127, 38, 0, 0, 0]
    assert direction(("pool", 3.0), ("rare", 0.0)) == [127, 0, 0, 0, 0]


@pytest.mark.parametrize("text", ["", " -- ", "zzz", "\ud800", "東京", "x" * 100_000])
def test_a_text_of_unknown_words_means_nothing(packages: Path, text: str) -> None:
    assert direction((text, 1.0)) == direction() == [0, 0, 0, 0, 0]


def test_the_words_of_a_text() -> None:
    assert words_of("parseHTTPResponse2 of café_bar, E0308") == [
        "parse", "http", "response", "2", "of", "café", "bar", "e", "0308",
    ]  # fmt: skip


def test_it_needs_each_of_its_packages(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(model(), StaticModel)
    monkeypatch.setattr(sys, "path", [str(packages)])
    missing = Absent("the extra is not installed", "pip install 'git-mem[semantic]'")
    assert model() == missing  # no numpy
    (packages / "numpy").mkdir()
    (packages / "numpy/__init__.py").touch()
    importlib.invalidate_caches()
    assert isinstance(model(), StaticModel)
    (packages / "wordllama").rename(packages / "aside")
    importlib.invalidate_caches()
    assert model() == missing


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


@pytest.mark.parametrize(
    "text",
    ["", "{}", '{"vocab": 3}', '{"vocab": {"a": 0', '{"vocab": {"a": 0}}'],
)
def test_a_broken_vocabulary_is_a_typed_error(packages: Path, text: str) -> None:
    (packages / "wordllama/tokenizers/l2_supercat_tokenizer_config.json").write_text(text)
    with pytest.raises(MeaningUnavailable, match="l2_supercat_256 cannot be loaded"):
        direction(("pool", 1.0))
