"""Generated files are the ones that the code would generate now. `make generate` writes them anew."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitmem.app.gate_codes import gate_codes
from gitmem.cli.main import VERBS
from gitmem.cli.reference import reference
from gitmem.errors import EXIT_CODES
from gitmem.model.schema import NAMES, schema_text

ROOT = Path(__file__).resolve().parent.parent


def generated() -> dict[str, str]:
    """Every generated file by its path, with the text that it must have."""
    schemas = {f"schemas/{name}.schema.json": schema_text(name) for name in NAMES}
    return {**schemas, "docs/cli.md": reference()}


@pytest.mark.parametrize("path", [*(f"schemas/{name}.schema.json" for name in NAMES), "docs/cli.md"])
def test_generated_file_is_fresh(path: str) -> None:
    file = ROOT / path
    assert file.is_file(), f"{path} is missing: make generate"
    assert file.read_text(encoding="utf-8") == generated()[path], f"{path} is stale: make generate"


def test_no_schema_is_left_of_a_noun_that_is_gone() -> None:
    assert {f"schemas/{file.name}" for file in (ROOT / "schemas").iterdir()} == set(generated()) - {"docs/cli.md"}


def test_the_reference_holds_every_verb_exit_code_and_code_of_the_gate() -> None:
    page = reference()
    for name, verb in VERBS.items():
        assert (f"\n### gitmem {name}\n" in page) != verb.hidden, name
    for code, meaning in EXIT_CODES.items():
        assert f"| {code} | {meaning} |" in page
    for item in gate_codes():
        assert f"| `{item.code}` | {item.verdict} |" in page
    # An option with a short name, a choice, a number with its default, a verb of a verb, an example.
    for text in (
        "| `--evidence`, `-e` `TEXT` |",
        "| `--format` `{text,json,markdown}` |",
        "| `--limit`, `-n` `N` | At most so many. Default: 10. |",
        "#### gitmem hooks install",
        "gitmem recall [OPTIONS] [WORDS...]",
        'gitmem recall "redis timeout"',
    ):
        assert text in page, text


def test_the_reference_does_not_depend_on_the_terminal() -> None:
    pages = set()
    for width in ("40", "200"):
        environment = {**os.environ, "COLUMNS": width, "TERMINAL_WIDTH": width, "PYTHONHASHSEED": width}
        done = subprocess.run(
            [sys.executable, "-m", "gitmem.cli.reference"], env=environment, capture_output=True, text=True, check=True
        )
        pages.add(done.stdout)
    assert pages == {reference()}


if __name__ == "__main__":
    for name, text in generated().items():
        (ROOT / name).parent.mkdir(exist_ok=True)
        (ROOT / name).write_text(text, encoding="utf-8")
