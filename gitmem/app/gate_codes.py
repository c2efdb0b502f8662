"""The table of the gate's codes, for the doors that print it."""

from __future__ import annotations

from typing import NamedTuple

from gitmem.policy.codes import CODES


class GateCode(NamedTuple):
    """A code, what a change becomes because of it alone ("hold" or "refuse"), and what it means."""

    code: str
    verdict: str
    meaning: str


def gate_codes() -> list[GateCode]:
    """Every code of the gate, in the order in which reasons are shown."""
    return [GateCode(code, severity.verdict, severity.meaning) for code, severity in CODES.items()]
