"""Two clones that are changed apart, at random, and merged in every direction: they end alike and verified."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from gitmem.app.merge import Merged
from tests.conftest import git
from tests.verify.forge import Branch, Shop

_THINGS = ("invoices", "deploys", "backups", "sockets", "receipts", "the warehouse", "the cache", "the queue")


def _step(clone: Shop, chance: random.Random, number: int) -> None:
    """One thing that a person does; refusals are part of it."""
    memories = sorted(Branch(clone.repo).paths("memories/"))
    identifier = chance.choice(memories)[-17:-5]
    thing = chance.choice(_THINGS)
    said = f"{thing} {chance.choice(('grow', 'shrink', 'stay'))} at {chance.choice('abcdefgh')} {number % 7}"
    because = ("--because", f"reason {number}")
    match chance.randrange(11):
        case 0 | 1:
            arguments = ["remember", "--kind", "fact", said, "-e", "commit:HEAD"]
            arguments += ["--key", chance.choice(("k.one", "k.two", "k.three"))] if chance.random() < 0.4 else []
        case 2:
            arguments = ["edit", identifier, "--title", said, *because]
        case 3:
            arguments = ["edit", identifier, "--tag", chance.choice("uvwxyz"), *because]
        case 4:
            arguments = ["edit", identifier, "--body", f"one\n{said}\nthree", *because]
        case 5:
            arguments = ["supersede", identifier, said, "-e", "commit:HEAD", *because]
        case 6:
            arguments = ["wrong", identifier, *because]
        case 7:
            arguments = ["lift", identifier, *because]
        case 8:
            arguments = ["archive", identifier, *because]
        case 9:
            arguments = ["restore", identifier, *because]
        case _:
            arguments = ["policy", "set", "unobservable", chance.choice(("hold", "refuse")), *because]
    done = clone.run(clone.repo, *arguments)
    assert done.code in (0, 2, 3, 4), (arguments, done)


@pytest.mark.parametrize("seed", range(4))
def test_two_clones_end_alike(seed: int, shop: Shop, other: Shop, branch: Branch, merge: Callable[..., Merged]) -> None:
    chance = random.Random(seed)
    number = 0
    for _ in range(3):
        for clone in (shop, other):
            for _ in range(chance.randrange(2, 6)):
                number += 1
                _step(clone, chance, number)
        kind = chance.randrange(3)
        if kind == 0:  # one after the other
            merge()
            merge(back=True)
        elif kind == 1:  # both at once: the next merge has two bases
            here, there = merge(moves=False), merge(back=True, moves=False)
            assert _tree(shop, here.commit) == _tree(other, there.commit)
            Branch(shop.repo).move(here.commit)
            Branch(other.repo).move(there.commit)
        else:
            merge(back=bool(chance.randrange(2)))
    told = {path for clone in (shop, other) for path in Branch(clone.repo).paths("events/")}
    merge()
    merge(back=True)
    assert _tree(shop, branch.tip()) == _tree(other, Branch(other.repo).tip())
    assert told <= set(branch.paths("events/"))
    assert shop.codes() == [] and shop.unbelieved() == []
    assert shop.listed() == other.listed()


def _tree(clone: Shop, revision: str) -> str:
    return git(clone.repo, "rev-parse", f"{revision}^{{tree}}").strip()
