"""The gate: what becomes of one change. Pure: no file, network, clock or environment.

Every door calls `decide` with facts that were gathered before. All rules run; all reasons are given, in
the order of the table of codes and, within a code, in the order of the record.
"""

from __future__ import annotations

from typing import Final

from gitmem.model.judgement import Change, Decision, Facts
from gitmem.model.nouns import Config
from gitmem.policy.codes import CODES
from gitmem.policy.origin import origin_of
from gitmem.policy.rules import RULES

RULES_VERSION: Final = 1
_ORDER: Final = {code: number for number, code in enumerate(CODES)}


def decide(change: Change, facts: Facts, config: Config | None) -> Decision:
    """refuse when any reason refuses, else hold when any holds, else admit; never raises for well-typed input.

    It fails closed: without a config, with an unknown word or with evidence that was not looked at, it refuses.
    The origin in the decision is the one to store; the one in `change.after` is not believed.
    """
    found = [reason for rule in RULES for reason in rule(change, facts, config)]
    reasons = tuple(sorted(found, key=lambda reason: _ORDER[reason.code]))
    verdicts = {CODES[reason.code].verdict for reason in reasons}
    return Decision(
        verdict="refuse" if "refuse" in verdicts else "hold" if "hold" in verdicts else "admit",
        reasons=reasons,
        origin=origin_of(change, facts),
    )
