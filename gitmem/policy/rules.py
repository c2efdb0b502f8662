"""All rules of the gate, in one tuple."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from gitmem.model.judgement import Change, Facts, Reason
from gitmem.model.nouns import Config
from gitmem.policy import evidence_rules, relation_rules, shape_rules, standing_rules, text_rules
from gitmem.policy.codes import reason

Rule = Callable[[Change, Facts, Config | None], Iterable[Reason]]


def has_config(change: Change, facts: Facts, config: Config | None) -> Iterable[Reason]:
    if config is None:
        hint = "gitmem init sets up the memory of this repository"
        yield reason("config.missing", "there is no gitmem.yaml that says what is allowed here", hint)


RULES: Final[tuple[Rule, ...]] = (
    has_config,
    *shape_rules.RULES,
    *text_rules.RULES,
    *standing_rules.RULES,
    *evidence_rules.RULES,
    *relation_rules.RULES,
)
