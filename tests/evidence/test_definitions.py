"""What files of each language define, and what counts as the same."""

from __future__ import annotations

import pytest

from gitmem.evidence.comparison import Compared, File, compare, difference
from gitmem.evidence.definitions import parsed
from gitmem.evidence.languages import LANGUAGES

SOURCES = {
    "a.py": (
        b"@dec\nclass Pool:\n    size: int = 20\n    def acquire(self):\n        x = 1\n"
        b"        return x\nTIMEOUT = 300\n",
        [("Pool", 1, 6), ("Pool.size", 3, 3), ("Pool.acquire", 4, 6), ("TIMEOUT", 7, 7)],
    ),
    "a.ts": (
        b"export const LIMIT = 5, B = 3;\nexport class Pool<T> extends X {\n"
        b"  size = 3;\n  acquire(a: T): void { const q = 1; }\n}\n"
        b"interface I { a: string }\nexport const f = async (x) => { return x };\nenum E { A }\ntype T = string;\n",
        [("LIMIT", 1, 1), ("B", 1, 1), ("Pool", 2, 5), ("Pool.size", 3, 3), ("Pool.acquire", 4, 4), ("I", 6, 6),
         ("f", 7, 7), ("E", 8, 8), ("T", 9, 9)],
    ),
    "a.tsx": (b"function App() { return <b>hi</b> }\n", [("App", 1, 1)]),
    "a.js": (
        b"class A { b = 3; static c() {} }\nconst f = function() {}\nvar x;\n",
        [("A", 1, 1), ("A.b", 1, 1), ("A.c", 1, 1), ("f", 2, 2), ("x", 3, 3)],
    ),
    "a.go": (
        b"package a\n\nconst (\n\tA = 1\n\tB = 2\n)\ntype Pool struct { size int }\nfunc (p *Pool[T]) Acquire() "
        b"error {\n\ty := 1\n\treturn nil\n}\n",
        [("A", 4, 4), ("B", 5, 5), ("Pool", 7, 7), ("Pool.Acquire", 8, 11)],
    ),
    "a.rs": (
        b"pub const MAX: u32 = 5;\nstruct P<T> { a: T }\nimpl<T> P<T> {\n"
        b"    pub fn get(&self) -> u32 { let x = 1; x }\n}\n",
        [("MAX", 1, 1), ("P", 2, 2), ("P.get", 4, 4)],
    ),
    "a.java": (
        b"public class Pool {\n  static final int SIZE = 20;\n  @Override\n  public void acquire() { int y = 2; }\n}\n",
        [("Pool", 1, 5), ("Pool.SIZE", 2, 2), ("Pool.acquire", 3, 4)],
    ),
    "a.c": (
        b"#define MAX 20\nstatic int limit = 3;\nstruct pool { int a; };\nint *acquire(struct pool *p) {\n"
        b"  return 0;\n}\n",
        [("MAX", 1, 1), ("limit", 2, 2), ("pool", 3, 3), ("acquire", 4, 6)],
    ),
}  # fmt: skip


@pytest.mark.parametrize("path", SOURCES)
def test_definitions_are_found_in_each_language(path: str) -> None:
    source, expected = SOURCES[path]
    code = parsed(path, source)
    assert code is not None
    assert [(one.name, one.first, one.last) for one in code.definitions] == expected


def test_every_language_is_loaded_and_what_is_none_goes_by_lines() -> None:
    assert all(parsed(f"x.{end}", b"") is not None for end in LANGUAGES)
    for path, data in (
        ("Makefile", b"a:\n"),
        ("a.yaml", b"a: 1\n"),
        ("a.py", b"\xff = 1\n"),
        ("a.py", b"x" * (1 << 21)),
    ):
        assert parsed(path, data) is None, path


POOL = """\
import os

TIMEOUT = 300


class Pool:
    size = 20

    def acquire(self, tries=3):
        # the server drops the fourth
        if self.closed:
            raise Closed("no")
        return retry(self.connect, tries=tries)

    def release(self):
        self.free += 1
        return None
"""


def became(new: str, lines: tuple[int, int] | None, symbol: str | None = None, path: str = "pool.py") -> Compared:
    return compare(File(path, POOL.encode()), File(path, new.encode()), lines, symbol)


ACQUIRE = ((9, 13), "Pool.acquire")
SAME = {
    "above": POOL.replace("import os\n", "import os\nimport re\n"),
    "below": POOL + "\n\ndef more():\n    return 1\n",
    "elsewhere": POOL.replace("+= 1", "+= 2"),
    "comment inside": POOL.replace("the server drops the fourth", "nobody knows why"),
    "layout": POOL.replace("(self.connect, tries=tries)", "(\n            self.connect,\n            tries=tries,\n)"),
    "pieces": POOL.replace('"no"', '"n" "o"'),
    "quotes": POOL.replace('"no"', "'no'"),
    "parentheses": POOL.replace("if self.closed:", "if (self.closed):"),
    "line ends": POOL.replace("\n", "\r\n"),
    "white space": POOL.replace("tries=3):", "tries = 3) :  "),
}  # fmt: skip


@pytest.mark.parametrize("how", SAME)
def test_a_definition_stands_whatever_changes_around_it_and_in_its_layout(how: str) -> None:
    assert became(SAME[how], *ACQUIRE).state == "same"


OTHER = {
    "a value": POOL.replace("tries=3", "tries=4"),
    "a string": POOL.replace('"no"', '"yes"'),
    "a prefix": POOL.replace('"no"', 'b"no"'),
    "a value in a string": POOL.replace('"no"', 'f"no{self}"'),
    "an operator": POOL.replace("if self.closed", "if not self.closed"),
    "nesting": POOL.replace("        return retry", "            return retry"),
    "a statement more": POOL.replace("        return retry", "        log()\n        return retry"),
    "async": POOL.replace("def acquire", "async def acquire"),
    "a decorator": POOL.replace("    def acquire", "    @once\n    def acquire"),
}


@pytest.mark.parametrize("how", OTHER)
def test_a_definition_that_says_something_else_changed(how: str) -> None:
    found = became(OTHER[how], *ACQUIRE)
    assert found.state == "changed" and found.now is not None
    old, new = File("pool.py", POOL.encode()), File("pool.py", OTHER[how].encode())
    diff = difference(old, new, ACQUIRE[0], found)
    assert any(line.startswith("+") for line in diff) and diff[0].startswith("@@")


def test_a_definition_that_is_not_there_is_gone_also_when_another_class_has_its_name() -> None:
    assert became(POOL.replace("def acquire", "def take"), *ACQUIRE) == Compared("gone", (9, 13))
    assert became(POOL.replace("class Pool", "class Pond"), *ACQUIRE).state == "gone"


def test_a_value_is_compared_and_not_the_line() -> None:
    cited = ((3, 3), "TIMEOUT=300")
    assert became(POOL.replace("TIMEOUT = 300", "TIMEOUT: int = 300  # seconds"), *cited).state == "same"
    assert became(POOL.replace("TIMEOUT = 300", "TIMEOUT = 301"), *cited).state == "changed"
    assert became(POOL.replace("TIMEOUT = 300", ""), *cited).state == "gone"
    # By name alone the annotation counts: it is another definition.
    assert became(POOL.replace("TIMEOUT = 300", "TIMEOUT: int = 300"), (3, 3), "TIMEOUT").state == "changed"


def test_lines_inside_a_definition_are_looked_for_there_first() -> None:
    line = (17, 17)  # `return None`, which stands in any function
    more = POOL.replace("import os\n", "import os\nimport re\n")
    assert became(more, line) == Compared("same", line, (18, 18))
    other = POOL.replace("        return None\n", "        return self\n") + "\n\ndef f():\n    return None\n"
    assert became(other, line).state == "changed"
    # What stood once and tells enough is followed to another function, and is gone with the only one that held it.
    raising = (11, 13)
    moved = POOL.replace("def acquire", "def take") + "\n    def acquire(self):\n        return self.take()\n"
    assert became(moved, raising) == Compared("same", raising, (11, 13))
    assert became(moved, (12, 12)).state == "changed"  # three words are found in many places
    assert became(moved.replace("self.closed", "self.shut"), raising).state == "changed"
    assert became("import os\n", raising).state == "gone"


def test_a_comment_counts_where_its_line_is_cited() -> None:
    assert became(SAME["comment inside"], (10, 10)).state == "changed"
    assert became(SAME["comment inside"], (11, 12)).state == "same"
    assert became(SAME["layout"], (13, 13)).state == "same"
    assert became(OTHER["nesting"], (11, 13)).state == "changed"  # the same words, but not the same blocks


def test_lines_of_no_definition() -> None:
    assert became(POOL.replace("import os\n", "import re\nimport os\n"), (1, 1)) == Compared("same", (1, 1), (2, 2))
    assert became(POOL.replace("import os", "import re"), (1, 1)).state == "changed"


def test_a_whole_file_is_its_code() -> None:
    assert became(SAME["comment inside"], None).state == "same"
    assert became(SAME["layout"], None).state == "same"
    assert became(SAME["elsewhere"], None).state == "changed"


def test_files_without_a_parser_go_by_lines() -> None:
    def yaml(new: str, lines: tuple[int, int] | None) -> Compared:
        return compare(File("c.yaml", b"a: 1\nb:\n  - x\nc:\n  - x\n"), File("c.yaml", new.encode()), lines, None)

    assert yaml("# new\na: 1  \nb:\n  - x\nc:\n  - x\n", (1, 1)) == Compared("same", (1, 1), (2, 2))
    assert yaml("a: 1\nb:\n    - x\nc:\n    - x\n", (3, 3)).state == "changed"  # indentation speaks
    # Of two like lines one went: which one it was is told by what is around them.
    assert yaml("a: 2\nb:\n  - x\nc:\n  - y\n", (3, 3)).state == "same"
    assert yaml("a: 2\nb:\n  - x\nc:\n  - y\n", (5, 5)).state == "changed"
    assert yaml("a: 1 \nb:\n  - x\nc:\n  - x\n", None).state == "same"
    assert yaml("a: 2\nb:\n  - x\nc:\n  - x\n", None).state == "changed"


def test_a_symbol_that_the_lines_do_not_define_is_left_aside() -> None:
    changed = POOL.replace("+= 1", "+= 2")
    assert became(changed, (9, 13), "Pool.release").state == "same"  # by its lines
    assert became(changed, (15, 17), "Pool.release").state == "changed"
