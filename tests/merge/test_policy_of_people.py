"""A policy that people's keys protect goes through no merge that they did not sign, whatever events lie beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gitmem.app.merge import Merged
from gitmem.errors import Refused
from gitmem.model.frozen import replace
from gitmem.model.layout import event_path
from gitmem.model.nouns import Config
from gitmem.model.records import config_bytes, config_from_bytes, digest, event_bytes
from tests.app.test_policies import key_pair, sign_with
from tests.conftest import git
from tests.verify.forge import Branch, Shop

WHY = ("--because", "we agreed on it")
ANN, BOB, MALLORY = "ann@example.invalid", "bob@example.invalid", "mallory@example.invalid"


def name(shop: Shop, folder: Path, principal: str) -> Path:
    """Name the key of somebody who signs from now on here, as the first one or with the signature that is set up."""
    key = key_pair(folder, principal.partition("@")[0])
    if not git(shop.repo, "config", "--get", "user.signingkey", check=False):
        sign_with(shop.repo, key)
    shop.ok("policy", "signer", "add", principal, f"{key}.pub", *WHY)
    return key


def policy(shop: Shop) -> Config:
    return config_from_bytes(Branch(shop.repo).read("gitmem.yaml"))


def named(shop: Shop) -> list[str]:
    return [one.principal for one in policy(shop).signers]


def set_to(shop: Shop, setting: str, value: str) -> None:
    shop.ok("policy", "set", setting, value, *WHY)


def test_what_a_side_changed_before_it_knew_of_people_does_not_stand_against_them(
    shop: Shop, other: Shop, merge: Callable[..., Merged], tmp_path: Path
) -> None:
    name(shop, tmp_path, ANN)
    set_to(shop, "review", "forge")
    set_to(other, "evidence.fact", "commit")  # nobody signed it
    other.remember("wares", "The warehouse counts stock at midnight", "-e", "commit:HEAD")
    ours = policy(shop)
    back = merge(back=True, moves=False).commit
    merge()
    assert policy(shop) == ours and shop.codes() == [] and shop.unbelieved() == []
    assert other.ids["wares"] in shop.listed()
    assert git(other.repo, "rev-parse", f"{back}:gitmem.yaml") == git(shop.repo, "rev-parse", "gitmem/main:gitmem.yaml")


def test_people_whom_only_the_other_side_names_let_nothing_in(
    shop: Shop, other: Shop, merge: Callable[..., Merged], tmp_path: Path
) -> None:
    name(shop, tmp_path, ANN)
    name(other, tmp_path, MALLORY)
    tip = Branch(shop.repo).tip()
    with pytest.raises(Refused) as refused:
        merge()
    assert [reason.code for reason in refused.value.reasons] == ["policy.apart"]
    with pytest.raises(Refused):
        merge(back=True)
    # Either policy in a merge by hand is one that somebody's people did not sign.
    branch, theirs = Branch(shop.repo), git(shop.repo, "rev-parse", "theirs").strip()
    events = {path: branch.read(path, theirs) for path in branch.paths("events/", theirs)}
    taken = branch.tree_with({**events, "gitmem.yaml": branch.read("gitmem.yaml", theirs)})
    for parents in ((tip, theirs), (theirs, tip)):
        assert "merge.rollback" in shop.codes("--head", branch.commit_tree(taken, *parents))
    # The other side takes its people back, and is let in without its policy.
    other.ok("policy", "signer", "remove", MALLORY, *WHY)
    git(other.repo, "config", "gitmem.sign", "false")
    set_to(other, "unobservable", "refuse")
    merge()
    assert named(shop) == [ANN] and policy(shop).unobservable == "hold" and shop.codes() == []


def test_copied_events_are_no_signature(shop: Shop, other: Shop, merge: Callable[..., Merged], tmp_path: Path) -> None:
    mine, before = Branch(other.repo), Branch(shop.repo).tip()
    name(shop, tmp_path, ANN)
    tip = Branch(shop.repo).tip()
    git(other.repo, "fetch", "-q", str(shop.repo), "gitmem/main")
    mine.move(git(other.repo, "rev-parse", "FETCH_HEAD").strip())
    # One commit that nobody signed on the policy that named nobody: ann's own event, and one more behind it.
    mine.move(mine.commit_tree(mine.tree_with(_loosened(mine)), before))
    ours = policy(shop)
    merge(moves=False)
    branch = Branch(shop.repo)
    brought = {path: branch.read(path, "theirs") for path in branch.paths("events/", "theirs")}
    for loose, parents in ((True, (tip, "theirs")), (True, ("theirs", tip)), (False, (tip, "theirs"))):
        edits = {**brought, "gitmem.yaml": branch.read("gitmem.yaml", "theirs" if loose else tip)}
        made = branch.commit_tree(branch.tree_with(edits, base=tip), *parents)
        assert ("merge.rollback" in shop.codes("--head", made)) is loose
    merge()
    assert policy(shop) == ours and shop.codes() == [] and shop.unbelieved() == []


def _loosened(branch: Branch) -> dict[str, bytes | None]:
    """The policy without its people and the event that tells of it, by hand."""
    raw = branch.read("gitmem.yaml")
    loose = config_bytes(replace(config_from_bytes(raw), signers=(), unobservable="refuse"))
    some = branch.events()[1][1].memory or ""
    told = branch.event("policy", branch.memory(some), memory=None, status_to=None)
    event = replace(told, before=digest(raw), after=digest(loose))
    return {"gitmem.yaml": loose, event_path(event.id, None): event_bytes(event)}


def test_two_changes_that_people_signed_are_merged_with_every_signer_and_language(
    shop: Shop, other: Shop, merge: Callable[..., Merged], tmp_path: Path
) -> None:
    _known_to_both(shop, other, tmp_path)
    bob = key_pair(tmp_path, "bob-too")
    shop.ok("policy", "signer", "add", BOB, f"{bob}.pub", *WHY)
    set_to(shop, "languages", "german")
    set_to(other, "languages", "french")
    set_to(other, "review", "forge")  # the last: from then on a change of the policy is a proposal
    merge()
    assert named(shop) == [ANN, BOB]
    assert policy(shop).review == "forge" and set(policy(shop).languages) == {"german", "french"}
    assert shop.codes() == [] and shop.unbelieved() == []


def test_whoever_was_put_out_on_one_side_brings_nothing_in_on_the_other(
    shop: Shop, other: Shop, merge: Callable[..., Merged], tmp_path: Path
) -> None:
    bob = _known_to_both(shop, other, tmp_path, BOB)
    sign_with(other.repo, bob)
    mallory = key_pair(tmp_path, "mallory")
    other.ok("policy", "signer", "add", MALLORY, f"{mallory}.pub", *WHY)
    shop.ok("policy", "signer", "remove", BOB, *WHY)
    merge()
    assert named(shop) == [ANN] and shop.codes() == [] and shop.unbelieved() == []


def _known_to_both(shop: Shop, other: Shop, folder: Path, *more: str) -> Path:
    """Name ann, and more people, on a branch that both clones have; give the last key."""
    key = name(shop, folder, ANN)
    ann = key
    for principal in more:
        key = name(shop, folder, principal)
    git(other.repo, "fetch", "-q", str(shop.repo), "gitmem/main")
    Branch(other.repo).move(git(other.repo, "rev-parse", "FETCH_HEAD").strip())
    sign_with(other.repo, ann)
    return key
