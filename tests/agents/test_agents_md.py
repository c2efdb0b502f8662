"""The block of `gitmem install --agents-md`, by the installed command."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.app import agents_md
from gitmem.app.agents_md import BEGIN, END
from gitmem.app.host_files import digest
from gitmem.cli.main import VERBS
from gitmem.notes.parse import parse
from tests.conftest import git
from tests.installed import Ran, agent, person

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "packages/agents.md").read_text()
SKILL = (ROOT / "packages/skill.md").read_text()


def install(repo: Path, *more: str) -> Ran:
    return person(repo, "install", "--agents-md", "--yes", *more)


def test_it_is_shown_first_and_written_when_a_person_says_so(repo: Path) -> None:
    file = repo / "AGENTS.md"
    for words in (("--dry-run",), ()):
        shown = person(repo, "install", "--agents-md", *words, typed="n\n")
        assert f"+{BEGIN}" in shown.out and not file.exists()
    agreed = person(repo, "install", "--agents-md", typed="y\n")
    assert agreed.code == 0 and file.read_text() == f"{BEGIN}\n{TEXT}{END}\n"
    assert file.stat().st_mode & 0o777 == 0o644
    assert not list(Path.home().glob(".claude*")) and not (Path.home() / ".local/share/gitmem/doorbell").exists()
    assert install(repo).out.startswith("nothing to change")
    assert person(repo, "uninstall", "--yes").code == 0
    assert not file.exists() and git(repo, "status", "--porcelain") == ""


@pytest.mark.parametrize("before", ["# Ours\n\nUse tabs.\n", "Use tabs.", "\n\n", "a\r\nb\r\n", "\ufeffx\n\n", " "])
def test_everything_around_it_stays_byte_for_byte(repo: Path, before: str) -> None:
    file = repo / "AGENTS.md"
    file.write_bytes(before.encode())
    assert install(repo).code == 0
    after = file.read_bytes()
    assert after.startswith(before.encode()) and BEGIN.encode() in after
    assert person(repo, "uninstall", "--agents-md", "--yes").code == 0
    assert file.read_bytes() == before.encode()


def test_an_older_block_is_brought_up_to_date_in_its_place(repo: Path) -> None:
    file = repo / "AGENTS.md"
    file.write_text(f"# One\n\n{BEGIN}\nold words\n{END}\n\n# Two\n")
    assert install(repo).code == 0
    assert file.read_text() == f"# One\n\n{BEGIN}\n{TEXT}{END}\n\n# Two\n"
    file.write_text(file.read_text() + "# Three\n")  # a person goes on
    assert person(repo, "uninstall", "--yes").code == 0
    assert file.read_text() == "# One\n\n# Two\n# Three\n"


def test_claude_md_takes_it_where_only_that_is_there_and_a_link_is_followed(repo: Path) -> None:
    claude = repo / "CLAUDE.md"
    claude.write_text("Use tabs.\n")
    assert install(repo).code == 0 and BEGIN in claude.read_text() and not (repo / "AGENTS.md").exists()
    assert person(repo, "uninstall", "--yes").code == 0 and claude.read_text() == "Use tabs.\n"
    (repo / "AGENTS.md").write_text("")
    assert "a line @AGENTS.md in CLAUDE.md" in install(repo).err
    assert claude.read_text() == "Use tabs.\n"
    assert person(repo, "uninstall", "--yes").code == 0 and (repo / "AGENTS.md").read_text() == ""
    (repo / "AGENTS.md").unlink()
    (repo / "AGENTS.md").symlink_to("CLAUDE.md")
    done = install(repo)
    assert done.code == 0 and "@AGENTS.md" not in done.err
    assert (repo / "AGENTS.md").is_symlink() and BEGIN in claude.read_text()


def test_what_it_could_not_take_out_again_is_refused(repo: Path, tmp_path: Path) -> None:
    file = repo / "AGENTS.md"
    for text in (f"{BEGIN}\n", f"{END}\n{BEGIN}\n", f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n"):
        file.write_text(text)
        refused = install(repo)
        assert refused.code == 2 and "mend the marks" in refused.err and file.read_text() == text
        assert person(repo, "uninstall", "--yes").code == 0 and file.read_text() == text  # it wrote none of them
    file.write_bytes(b"\xff\n")
    assert install(repo).code == 2
    file.unlink()
    outside = tmp_path / "outside.md"
    outside.write_text("mine\n")
    file.symlink_to(outside)
    assert "leads out of this repository" in install(repo).err and outside.read_text() == "mine\n"
    file.unlink()
    assert install(repo).code == 0
    assert person(tmp_path, "install", "--agents-md", "--yes").code == 6  # no repository


def test_an_import_passes_it_over(repo: Path) -> None:
    file = repo / "AGENTS.md"
    file.write_text("# Rules\n\n- Never sleep in tests\n")
    assert install(repo).code == 0
    notes, skipped = parse("AGENTS.md", file.read_text())
    assert [note.draft.title for note in notes] == ["Never sleep in tests"]
    assert [part.why for part in skipped] == ["gitmem's own block"]
    assert len(parse("AGENTS.md", TEXT)[0]) > 2  # without its marks it would be read


def test_it_is_short_and_names_what_gitmem_takes() -> None:
    assert len(f"{BEGIN}\n{TEXT}{END}\n".encode()) <= 900
    _, front, body = SKILL.split("---\n", 2)
    assert len(body.encode()) <= 1536
    for text in (TEXT, body):
        for verb in re.findall(r"`gitmem ([a-z]+)", text):
            assert verb in VERBS and not VERBS[verb].hidden
        for said in ("recall", "remember", "context", "first 8 characters", "ecrets", "accept"):
            assert said in text
    assert re.fullmatch(r"name: gitmem", front.split("\n")[0])


def test_what_the_skill_shows_is_what_an_agent_can_do(repo: Path) -> None:
    assert person(repo, "init").code == 0
    (repo / "src/pool.py").write_text("".join(f"line = {n}\n" for n in range(60)))
    git(repo, "commit", "-qam", "longer")
    shown = [shlex.split(line) for line in SKILL.splitlines() if line.startswith("    gitmem ")]
    assert len(shown) == 2
    for words in shown:
        done = agent(repo, *words[1:])
        assert done.code == 0 and "(candidate)" in done.out, done
    assert person(repo, "list", "--inbox", "--json").lines[-1]["summary"]["total"] == 2


@settings(deadline=None)
@given(
    before=st.text(alphabet="ab \n\r#<!->\u2028", max_size=30),
    after=st.text(alphabet="ab \n", max_size=10),
    fresh=st.booleans(),
)
def test_in_and_out_again_gives_the_same_text(
    tmp_path_factory: pytest.TempPathFactory, before: str, after: str, fresh: bool
) -> None:
    """`fresh`: nobody changed the file since; else something was added behind the block."""
    path = tmp_path_factory.mktemp("t") / "AGENTS.md"
    path.write_bytes(before.encode())
    change = agents_md._with(path, {})
    assert change is not None and change.after is not None
    receipt = {"after": digest(change.after), "places": change.places, "existed": True}
    path.write_bytes(change.after + (b"" if fresh else after.encode()))
    assert agents_md._with(path, receipt) is None
    out = agents_md._without(path, receipt)
    assert out is not None and out.after is not None
    if fresh or not after:
        assert out.after == before.encode()
    else:
        assert out.after.decode().startswith(before) and out.after.decode().endswith(after)
