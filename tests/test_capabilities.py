"""docs/capabilities.md names code and tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
NAMED = re.compile(r"`((?:gitmem|tests)/[\w/]+\.py)`(?: `(\w+)`)?")


def test_everything_that_the_page_names_is_there() -> None:
    named = NAMED.findall((ROOT / "docs/capabilities.md").read_text())
    assert len(named) > 40
    for file, name in named:
        text = (ROOT / file).read_text()
        assert not name or re.search(rf"^(?:def |class |)\s*{name}\b", text, re.MULTILINE), f"{file} has no {name}"


def test_an_empty_row_is_empty_in_every_column() -> None:
    rows = [
        line.strip("|").split("|")
        for line in (ROOT / "docs/capabilities.md").read_text().split("\n")
        if line[:1] == "|"
    ]
    filled = [tuple(bool(cell.strip()) for cell in row) for row in rows]
    assert set(filled) == {(True, True, True, True), (True, False, False, False)}
