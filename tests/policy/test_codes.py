"""Each code of the gate is reached alone, from a change that would be admitted but for one thing."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitmem.model.judgement import Reason
from gitmem.policy.codes import CODES, reason
from gitmem.policy.gate import decide
from tests.policy.code_cases import FAKE_TOKEN, PAIRS

GOLDEN = Path(__file__).with_name("codes.golden")


@pytest.mark.parametrize("code", CODES)
def test_one_thing_wrong_gives_one_reason(code: str) -> None:
    pair = PAIRS[code]
    good = decide(*pair.good)
    assert (good.verdict, good.reasons) == ("admit", ())
    bad = decide(*pair.bad)
    assert [found.code for found in bad.reasons] == [code]
    assert bad.verdict == CODES[code].verdict


@pytest.mark.parametrize("code", CODES)
def test_a_reason_says_what_and_what_next_and_no_secret(code: str) -> None:
    for found in decide(*PAIRS[code].bad).reasons:
        assert found.message and found.hint
        assert FAKE_TOKEN not in f"{found}"
        assert found.message.isprintable() and found.hint.isprintable()


def test_codes_are_stable() -> None:
    """A code is a promise to scripts. Change the golden file only with a note in the changelog."""
    table = "".join(f"{code}\t{severity.verdict}\t{severity.meaning}\n" for code, severity in CODES.items())
    assert GOLDEN.read_text() == table


def test_only_codes_of_the_table_are_given() -> None:
    assert isinstance(reason("duplicate", "m", "h"), Reason)
    with pytest.raises(LookupError):
        reason("made.up", "m", "h")


def test_all_reasons_are_given_in_the_order_of_the_table() -> None:
    change, facts, config = PAIRS["evidence.missing"].bad
    from dataclasses import replace

    worse = replace(
        change, after=replace(change.after, title="", kind="plan", scope=replace(change.after.scope, project="x"))
    )
    codes = [found.code for found in decide(worse, facts, config).reasons]
    assert codes == ["title.empty", "plan.steps", "scope.project", "evidence.missing"]
    assert codes == [code for code in CODES if code in codes]
