"""Lines, lists, tombstones, the policy and the events of a merge."""

from __future__ import annotations

import subprocess
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.model.frozen import replace
from gitmem.model.ids import event_id
from gitmem.model.nouns import Config, Tombstone, TombstoneEntry
from gitmem.model.records import event_bytes, event_from_bytes
from gitmem.share.events import merge_event
from gitmem.share.lines import merged_text
from gitmem.share.lists import by_value, united
from gitmem.share.settings import merged_config, merged_tombstone

_texts = st.lists(st.sampled_from("abcd"), max_size=8).map("\n".join)


@settings(deadline=None)
@given(_texts, _texts, _texts)
def test_lines_are_merged_alike_from_both_sides(base: str, ours: str, theirs: str) -> None:
    found = merged_text(base, ours, theirs)
    assert found == merged_text(base, theirs, ours)
    assert merged_text(base, ours, base) == ours
    assert merged_text(base, ours, ours) == ours
    if found is not None:
        assert set(found) <= set(ours) | set(theirs) | set(base)


def test_lines_are_merged_as_git_merges_them(tmp_path: Path) -> None:
    base = "\n".join(f"line {n}" for n in range(12))
    edits = {
        "apart": (base.replace("line 2", "two"), base.replace("line 9", "nine")),
        "the same": (base.replace("line 2", "two"), base.replace("line 2", "two")),
        "added": (f"zero\n{base}", f"{base}\nend"),
        "taken away": (base.replace("line 2\n", ""), base.replace("line 8\n", "eight\nand more\n")),
        "one line": (base.replace("line 5", "five"), base.replace("line 5", "cinq")),
        "side by side": (base.replace("line 5", "five"), base.replace("line 6", "six")),
    }
    for name, sides in edits.items():
        for file, text in zip(("base", "ours", "theirs"), (base, *sides), strict=True):
            (tmp_path / file).write_text(f"{text}\n")
        done = subprocess.run(
            ["git", "merge-file", "-p", "ours", "base", "theirs"], cwd=tmp_path, capture_output=True, text=True
        )
        assert merged_text(base, *sides) == (None if done.returncode else done.stdout.removesuffix("\n")), name


def test_a_text_of_too_many_lines_is_not_compared() -> None:
    long = "\n" * 2000
    assert merged_text("a", long, f"{long}b") is None
    assert merged_text("a", "a\nb", "a\nb") == "a\nb"


def test_what_one_side_took_away_is_gone_and_what_one_added_is_there() -> None:
    def settle(_: str | None, one: str, other: str) -> str:
        raise AssertionError((one, other))

    assert united("abc", "acx", "abcd", by_value, settle) == ("a", "c", "d", "x")
    assert united("ab", "ba", "ab", by_value, settle) == ("b", "a")


def _tomb(*history: tuple[str, str], title: str = "It is so") -> Tombstone:
    entries = tuple(TombstoneEntry(op, "2026-03-02", at, "7k3q9dxwm2ab", "said") for op, at in history)  # type: ignore[arg-type]
    return Tombstone("0" * 64, "shop-k3x9qd", "claim", entries, title=title)


def test_a_lift_ends_the_rejections_that_it_saw_and_no_other() -> None:
    rejected, lifted = _tomb(("reject", "01")), _tomb(("reject", "01"), ("lift", "03"))
    again = _tomb(("reject", "01"), ("lift", "02"), ("reject", "02a"))
    assert not merged_tombstone(rejected, lifted).standing
    assert merged_tombstone(again, lifted).standing
    assert merged_tombstone(again, lifted) == merged_tombstone(lifted, again)
    assert len(merged_tombstone(again, lifted).history) == 4
    assert merged_tombstone(rejected, _tomb(("reject", "02"))).standing


def test_redacted_on_one_side_is_redacted() -> None:
    assert merged_tombstone(_tomb(("reject", "01")), _tomb(("reject", "01"), title="")).title == ""
    assert merged_tombstone(_tomb(("reject", "01")), _tomb(("reject", "01"))).title == "It is so"


def test_the_stricter_policy_holds_and_the_older_project_keeps_its_name() -> None:
    base = Config("shop-k3x9qd")
    ours = Config("shop-k3x9qd", review="forge", approvals=1, evidence={"fact": ("file", "commit")})
    theirs = Config("shop-k3x9qd", unobservable="refuse", approvals=2, evidence={"fact": ("commit", "test")})
    both = merged_config(base, ours, theirs, ours_begun="1", theirs_begun="1")
    assert (both.review, both.unobservable, both.evidence) == ("forge", "refuse", {"fact": ("commit",)})
    assert both.approvals == 2
    lowered = merged_config(ours, replace(ours, approvals=None), ours, ours_begun="1", theirs_begun="1")
    assert lowered.approvals is None
    assert both == merged_config(base, theirs, ours, ours_begun="1", theirs_begun="1")
    older, newer = Config("one"), Config("two", aliases=("three",))
    joined = merged_config(None, newer, older, ours_begun="2", theirs_begun="1")
    assert (joined.project, joined.aliases) == ("one", ("three", "two"))
    assert joined == merged_config(None, older, newer, ours_begun="1", theirs_begun="2")


def test_everybody_writes_the_same_event() -> None:
    known = [event_id(1_770_000_000_000, bytes(range(10))), event_id(1_770_000_000_007, bytes(range(10)))]
    said = {"status_from": "active", "status_to": "active", "before": "a" * 64, "merged": "b" * 64, "after": "c" * 64}
    one = merge_event("7k3q9dxwm2ab", known, **said, reason="both")
    assert one == merge_event("7k3q9dxwm2ab", known[::-1], **said, reason="both")
    assert one.id > max(known)
    assert event_from_bytes(event_bytes(one)) == one
    assert merge_event("7k3q9dxwm2ab", known, **{**said, "after": "d" * 64}, reason="both").id != one.id
