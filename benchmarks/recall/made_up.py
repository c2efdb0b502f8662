"""Memories that nobody wrote: as many as wanted, always the same, with the mix of words that a project has.

Half of the words are everyday ones by Zipf's law, the rest made-up stems of a project's own vocabulary (by Zipf as
well, so most are rare), identifiers in snake and camel case, paths, versions and flags.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate

EVERYDAY = """
    the to a in of and for is on with when not it be from as by that if are this or at an only after before so no use
    must fix add support remove update test error file default value set make call return name path line change type
    check run build read write option config function class method module import version release branch request response
    server client cache queue retry timeout connection database table column index query row key token user session page
    list string number empty missing wrong slow fast large small old new first last same other each every both without
    because since while until instead never always already still again now then also more less than between under over
    start stop open close load save parse format print log warn raise catch ignore skip allow deny keep drop move copy
    thread process lock memory disk network socket header body field argument parameter result output input event hook
    plugin script command package dependency compiler linter pipeline deploy container image volume secret password hash
    decision convention problem solution reason cause effect workaround limit threshold budget rate batch chunk stream
""".split()  # noqa: SIM905
CONSONANTS, VOWELS = "bcdfghjklmnprstvwz", "aeiou"
STEMS = 30_000
SHAPES = ("word", "snake", "camel", "path", "version", "flag")
SHAPE_WEIGHTS = (80, 7, 5, 4, 2, 2)


def memories(count: int, seed: int = 1) -> Iterator[tuple[str, str]]:
    """`count` pairs of title (5 to 12 words) and body (0 to 60 words), the same for the same arguments."""
    chance = random.Random(seed)
    stems = _stems(random.Random(0))
    everyday = list(accumulate(1 / (rank + 2) for rank in range(len(EVERYDAY))))
    own = list(accumulate(1 / (rank + 20) ** 0.9 for rank in range(STEMS)))

    def word() -> str:
        if chance.random() < 0.5:
            return chance.choices(EVERYDAY, cum_weights=everyday)[0]
        one, two = chance.choices(stems, cum_weights=own, k=2)
        shape = chance.choices(SHAPES, SHAPE_WEIGHTS)[0]
        return {
            "word": one,
            "snake": f"{one}_{two}",
            "camel": one.capitalize() + two.capitalize(),
            "path": f"src/{one}/{two}.py",
            "version": f"{chance.randrange(9)}.{chance.randrange(30)}.{chance.randrange(9)}",
            "flag": f"--{one}-{two}",
        }[shape]

    for number in range(count):
        title = [word() for _ in range(chance.randint(5, 12))]
        body = [word() for _ in range(chance.choice((0, 0, 10, 20, 30, 60)))]
        # No two alike, or the import would take one for the other.
        yield f"{' '.join(title)[:120]} n{number}"[:140], " ".join(body)


def questions(texts: list[tuple[str, str]], count: int, seed: int = 2) -> list[str]:
    """Three to six words of one memory each, in no order."""
    chance = random.Random(seed)
    asked = []
    for title, body in chance.choices(texts, k=count):
        known = sorted(set(f"{title} {body}".split()))
        asked.append(" ".join(chance.sample(known, min(len(known), chance.randint(3, 6)))))
    return asked


def _stems(chance: random.Random) -> list[str]:
    """Different made-up words of two to four syllables; the order is that of their frequency."""
    found: dict[str, None] = {}
    while len(found) < STEMS:
        syllables = chance.choices((2, 3, 4), (5, 4, 1))[0]
        found["".join(chance.choice(CONSONANTS) + chance.choice(VOWELS) for _ in range(syllables))] = None
    return list(found)
