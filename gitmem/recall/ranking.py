"""How the lists of candidates become one order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gitmem.model.vocabulary import VISIBLE

# Candidates of each list. 50 lose nothing against all (githist dev, docs/retrieval).
CANDIDATES: Final = 100
# githist dev hit@5/MRR: 78.2/68.0 without, 77.6 to 78.6/67.8 to 68.4 from 0.15 to 0.5: flat. With one typo a
# query 0.3 is worth 2 points of MRR, CoSQA hit@5 +3.2.
GRAM_WEIGHT: Final = 0.3
# A memory without any word of the query counts only when it shares this part of the query's 4-grams; less than
# that is chance, and an answer by chance hides that nothing is known.
GRAM_FLOOR: Final = 0.6
# An exact path, tag, key, id or flag, as a part of the top score (LoCoMo speaker match: MRR +4.7 at 0.35; 0.2 to
# 0.35 are alike).
ENTITY_WEIGHT: Final = 0.25
_WITHHELD_WEIGHT: Final = min(VISIBLE.values())


def combine(
    text: Mapping[str, float],
    grams: Mapping[str, float],
    entities: Mapping[str, float],
    status: Mapping[str, str],
    recorded: Mapping[str, int],
) -> list[tuple[str, float]]:
    """(uid, score), best first: (text/max + 0.3 grams/max + 0.25 for an exact entity) x the weight of the state.

    The maps go by uid. Equal scores: the newer first, then by uid.
    """
    top_text = max(text.values(), default=0.0) or 1.0
    top_grams = max(grams.values(), default=0.0) or 1.0
    scored = []
    for uid in {*text, *grams, *entities}:
        score = text.get(uid, 0.0) / top_text + GRAM_WEIGHT * grams.get(uid, 0.0) / top_grams
        score += ENTITY_WEIGHT if uid in entities else 0.0
        scored.append((uid, round(score * VISIBLE.get(status[uid], _WITHHELD_WEIGHT), 6)))
    return sorted(scored, key=lambda pair: (-pair[1], -recorded[pair[0]], pair[0]))
