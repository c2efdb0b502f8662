"""Three-way merge of the policy, of tombstones and of the few other files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from gitmem.model.frozen import replace
from gitmem.model.nouns import Config, Tombstone, TombstoneEntry
from gitmem.share.lists import by_value, canonical, united

_STRICT_REVIEW: Final = ("local", "forge")
_STRICT_ABSENCE: Final = ("hold", "refuse")


def ruling(base: Config | None, ours: Config, theirs: Config) -> Literal["both", "ours", "theirs", "neither"]:
    """Whose policy stands where keys of people protect it. both: they are merged; neither: only a person can say.

    What a side changed while it named nobody was signed by nobody, so it stands against no policy that names people;
    what it changed while it still named somebody whom the other side put out does not stand either. Symmetric.
    """
    first, mine, yours = _people(base), _people(ours), _people(theirs)
    if ours == theirs or not (first or mine or yours):
        return "both"
    if base is not None and base in (ours, theirs):
        return "theirs" if ours == base else "ours"
    if not first:
        if mine and yours:
            return "neither"
        stands, other = (ours, theirs) if mine else (theirs, ours)
        return "neither" if other.project not in stands.projects else "ours" if mine else "theirs"
    out, gone = first - mine, first - yours
    if out == gone:
        return "both"
    return "ours" if out > gone else "theirs" if gone > out else "neither"


def _people(config: Config | None) -> frozenset[tuple[str, ...]]:
    """The keys of people that a policy names, without the comments behind them."""
    signers = config.signers if config is not None else ()
    return frozenset(tuple(one.key.split()[:2]) for one in signers if one.role == "person")


def merged_config(base: Config | None, ours: Config, theirs: Config, *, ours_begun: str, theirs_begun: str) -> Config:
    """The policy of both; what both changed becomes the stricter of the two.

    `*_begun`: the first event of each side's branch. After two clones each began one, the older project keeps its
    name and the other becomes an alias of it.
    """
    (_, first), (_, second) = sorted(
        ((ours_begun, ours), (theirs_begun, theirs)), key=lambda side: (side[0], canonical(side[1]))
    )
    project = base.project if base and base.project in (ours.project, theirs.project) else first.project
    names = united(base.aliases if base else (), first.aliases, second.aliases, by_value, _one)
    others = [name for name in (ours.project, theirs.project) if name != project and name not in names]
    return replace(
        first,
        project=project,
        aliases=(*(name for name in names if name != project), *sorted(set(others))),
        review=_stricter(_STRICT_REVIEW, base.review if base else None, ours.review, theirs.review),
        unobservable=_stricter(
            _STRICT_ABSENCE, base.unobservable if base else None, ours.unobservable, theirs.unobservable
        ),
        approvals=_more(base.approvals if base else None, ours.approvals, theirs.approvals),
        evidence=_evidence(base.evidence if base else {}, ours.evidence, theirs.evidence),
        languages=united(base.languages if base else (), first.languages, second.languages, by_value, _one),
        signers=united(base.signers if base else (), first.signers, second.signers, by_value, _one),
        extra=_extra(base.extra if base else {}, first.extra, second.extra),
    )


def _one(_: object, item: Any, __: object) -> Any:
    return item  # of one value


def _stricter(order: tuple[str, ...], base: str | None, ours: str, theirs: str) -> Any:
    if ours == theirs or theirs == base:
        return ours
    if ours == base:
        return theirs
    return max(ours, theirs, key=lambda word: (order.index(word) if word in order else len(order), word))


def _more(base: int | None, ours: int | None, theirs: int | None) -> int | None:
    if ours == theirs or theirs == base:
        return ours
    return theirs if ours == base else max(ours or 0, theirs or 0) or None


def _evidence(
    base: Mapping[str, tuple[str, ...]], ours: Mapping[str, tuple[str, ...]], theirs: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """For each kind what one side changed; of two changes what both allow, or the shorter list when that is nothing."""
    out = {}
    for kind in sorted({*base, *ours, *theirs}):
        old, mine, yours = base.get(kind), ours.get(kind), theirs.get(kind)
        if mine == yours or yours == old:
            value = mine
        elif mine == old:
            value = yours
        elif mine is None or yours is None:
            value = yours if mine is None else mine
        else:
            value = tuple(sorted(set(mine) & set(yours))) or min(mine, yours, key=lambda types: (len(types), types))
        if value is not None:
            out[kind] = value
    return out


def _extra(base: Mapping[str, Any], first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    out = {}
    for name in sorted({*base, *first, *second}):
        old, one, other = base.get(name), first.get(name), second.get(name)
        value = other if one == old else one
        if value is not None:
            out[name] = value
    return out


def merged_tombstone(ours: Tombstone, theirs: Tombstone) -> Tombstone:
    """Every rejection and lift of both sides, in the order of their events. Present on either side means present.

    It stands unless the last word is a lift that saw every rejection: a lift that did not know of one is put before
    it. Redacted on one side is redacted.
    """
    common = [entry for entry in ours.history if entry in theirs.history]
    mine = [entry for entry in ours.history if entry not in common]
    yours = [entry for entry in theirs.history if entry not in common]
    added = sorted([*mine, *yours], key=_when)
    if mine and yours:
        # Neither side's lift saw the rejections of the other.
        added = [e for e in added if e.op == "lift"] + [e for e in added if e.op != "lift"]
    redacted = not (ours.title or ours.body) or not (theirs.title or theirs.body)
    kept = min(ours, theirs, key=canonical)
    text = {"title": "", "body": ""} if redacted else {}
    return replace(kept, history=(*common, *added), **text)


def _when(entry: TombstoneEntry) -> tuple[str, str]:
    return entry.event, canonical(entry)
