"""`gitmem policy`: what it says, how a person changes it, and why something may not be done here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from gitmem.app import belief
from gitmem.app.moves import TARGETS, require_reason
from gitmem.app.propose_policy import PolicyAsked, propose_policy
from gitmem.app.signing import people_of, principal_here
from gitmem.app.workspace import Found, View, Workspace
from gitmem.app.writing import write_config
from gitmem.errors import Refused, UsageError
from gitmem.model.frozen import dataclass, replace
from gitmem.model.judgement import Reason
from gitmem.model.layout import INBOX
from gitmem.model.nouns import Config, Signer
from gitmem.model.text import is_clean, one_line
from gitmem.model.vocabulary import EVIDENCE_TYPES, KINDS, LANGUAGES, WAITING
from gitmem.policy.landing import decides, lands
from gitmem.policy.review import UNPROVEN
from gitmem.policy.secrets import find_secrets
from gitmem.policy.ssh_signature import evaluated, key_bytes
from gitmem.policy.transitions import legal_moves

MOST_APPROVALS: Final = 20
SETTINGS: Final = {
    "review": "local or forge",
    "approvals": f"a number of people from 0 to {MOST_APPROVALS}",
    "unobservable": "hold or refuse",
    "evidence.KIND": "types with commas, such as test,file, or any",
    "languages": "names with commas, such as german,french, or none",
}
ROLES: Final = ("person", "agent")
_OPS: Final[Mapping[str, str]] = {"wrong": "reject"}
_LONGEST_NAME: Final = 100
_PROPOSING: Final = ("remember", "import", "supersede")  # what anybody may do: from a program it waits for a person
_DECIDED: Final = (*sorted(TARGETS), "edit", "accept", "reject")
_ON_THE_FORGE: Final = "gitmem propose --push, and merge it on the forge"
_ALONE: Final = ("policy", "trust", "install", "uninstall")  # for a person whatever the policy says
_ON_THIS_MACHINE: Final = ("install", "uninstall")


def settings(config: Config) -> Mapping[str, Any]:
    """The policy as it stands."""
    return {
        "project": config.project,
        "review": config.review,
        "approvals": config.approvals or 0,
        "unobservable": config.unobservable,
        "languages": ",".join(config.languages) or "none",
        **{f"evidence.{kind}": ",".join(types) for kind, types in config.evidence.items()},
        **{f"signer {one.principal}": f"{one.role}, {' '.join(one.key.split()[:2])}" for one in config.signers},
    }


def show_policy(workspace: Workspace) -> Config:
    return belief.inert_view(workspace).require_config()


def set_policy(workspace: Workspace, name: str, value: str, reason: str) -> Config | PolicyAsked:
    """Change one setting. A person at a terminal only; judged by the policy that stands.

    Where that leaves review to the forge, this and every other change is a proposal.
    """
    return _written(workspace, lambda config: _changed(config, name, value), reason, f"set {name} {value}")


def add_signer(workspace: Workspace, signer: Signer, reason: str) -> Config | PolicyAsked:
    """Name whose key it is. A key belongs to one principal; the same again changes nothing."""
    if not _is_name(signer.principal):
        raise UsageError(
            f"{one_line(signer.principal, 80)!r} names nobody",
            hint=f"one line of at most {_LONGEST_NAME} printable characters, such as ann@example.org",
        )
    if key_bytes(signer.key) is None:
        raise UsageError(
            "that is no public key of OpenSSH", hint="give the file, such as ~/.ssh/id_ed25519.pub, or its text"
        )
    if not evaluated(signer.key):  # nobody could ever change the policy again
        raise UsageError(
            f"signatures of a key of the kind {one_line(signer.key.split()[0], 60)} are not evaluated, so it can sign"
            " nothing here",
            hint="a key of ed25519, RSA or ECDSA that is in no hardware token",
        )

    def change(config: Config) -> Config:
        raw = key_bytes(signer.key)
        owner = next((one for one in config.signers if key_bytes(one.key) == raw), None)
        if owner is not None and (owner.principal, owner.role) != (signer.principal, signer.role):
            raise UsageError(
                f"that key is {one_line(owner.principal, 80)}'s, as {owner.role}",
                hint=f"gitmem policy signer remove {owner.principal} first",
            )
        return config if owner is not None else replace(config, signers=(*config.signers, signer))

    return _written(workspace, change, reason, f"signer add {signer.principal} KEY")


def _is_name(text: str) -> bool:
    return 0 < len(text) <= _LONGEST_NAME and text == text.strip() and text.isprintable() and is_clean(text)


def remove_signer(workspace: Workspace, principal: str, reason: str) -> Config | PolicyAsked:
    """Forget every key of one principal."""

    def change(config: Config) -> Config:
        left = tuple(one for one in config.signers if one.principal != principal)
        if left == config.signers:
            known = ", ".join(sorted({one.principal for one in config.signers})) or "nobody"
            raise UsageError(f"{one_line(principal, 80)!r} signs nothing here", hint=f"known: {known}")
        return replace(config, signers=left)

    return _written(workspace, change, reason, f"signer remove {principal}")


def _written(
    workspace: Workspace, change: Callable[[Config], Config], reason: str, command: str
) -> Config | PolicyAsked:
    require_reason(reason, f"gitmem policy {command}")
    if workspace.env.channel != "terminal":
        raise Refused(
            "the policy is for a person at a terminal to change; nothing was written",
            reasons=[
                Reason(
                    "channel.authority",
                    f"the channel {workspace.env.channel} may propose, and withdraw its own proposals",
                    f'a person runs: gitmem policy {command} --because "…"',
                )
            ],
        )
    if find_secrets(reason) or not is_clean(reason):
        raise Refused(
            "the policy was not changed",
            reasons=[
                Reason("secret", "the reason holds what looks like a secret or an invisible character",
                       "say it without", "reason")
            ],
        )  # fmt: skip
    config = belief.believed_view(workspace).config
    _require_signer(workspace, config)
    if config is not None and config.review == "forge":
        words = command.split()
        setting = words[0] if words[0] == "signer" else words[1]
        return propose_policy(workspace, change, reason, setting=setting, shown=settings)
    return write_config(workspace, change, reason)


def _require_signer(workspace: Workspace, config: Config | None) -> None:
    """Raise Refused when the policy names people and none of their keys signs here: no reader would believe it."""
    people = sorted({one.principal for one in people_of(config)})
    if people and principal_here(workspace, config) == UNPROVEN:
        raise Refused(
            "the policy was not changed",
            reasons=[
                Reason(
                    "policy.unsigned",
                    f"this policy is changed by those whom it names ({', '.join(people)}), with their signature",
                    "git config gpg.format ssh; git config user.signingkey FILE; git config commit.gpgsign true",
                )
            ],
        )


def _changed(config: Config, name: str, value: str) -> Config:
    if name == "review" and value in ("local", "forge"):
        return replace(config, review=value)
    if name == "unobservable" and value in ("hold", "refuse"):
        return replace(config, unobservable=value)
    if name == "approvals" and value.isascii() and value.isdigit() and len(value) < 3 and int(value) <= MOST_APPROVALS:
        return replace(config, approvals=int(value) or None)
    if name == "languages":
        return replace(config, languages=_languages(value))
    kind = name.removeprefix("evidence.")
    if name.startswith("evidence.") and kind in KINDS:
        types = tuple(part.strip() for part in value.split(",") if part.strip())
        unknown = [part for part in types if part not in EVIDENCE_TYPES and part != "any"]
        if unknown:
            raise UsageError(f"there is no evidence of type {unknown[0]!r}", hint=f"one of {', '.join(EVIDENCE_TYPES)}")
        if not types:
            hint = f"one or more of {', '.join(EVIDENCE_TYPES)} with commas; any takes the rule off"
            raise UsageError(f"{name} needs a type of evidence", hint=hint)
        kept = {known: asked for known, asked in config.evidence.items() if known != kind}
        return replace(config, evidence=kept if "any" in types else {**kept, kind: types})
    if name == "evidence" or (name.startswith("evidence.") and kind not in KINDS):
        raise UsageError(f"there is no setting {name!r}", hint=f"evidence.KIND, with one of {', '.join(KINDS)}")
    if name not in SETTINGS:
        raise UsageError(f"there is no setting {name!r}", hint=f"one of {', '.join(SETTINGS)}")
    raise UsageError(f"{name} cannot be {value!r}", hint=f"it is {SETTINGS[name]}")


def _languages(value: str) -> tuple[str, ...]:
    named = tuple(dict.fromkeys(part.strip() for part in value.split(",") if part.strip() not in ("", "none")))
    unknown = [part for part in named if part not in LANGUAGES]
    if unknown:
        hint = f"English and Spanish always; also {', '.join(LANGUAGES)}"
        raise UsageError(f"there are no stems for {one_line(unknown[0], 40)!r}", hint=hint)
    return named


@dataclass(frozen=True)
class Explained:
    """One thing that may be wanted here. verdict: `yes`, `proposal` (it waits for a person) or `no`."""

    what: str
    verdict: str
    why: str
    instead: str = ""


def explain(workspace: Workspace, verb: str | None, prefix: str | None) -> list[Explained]:
    """What this channel may do here and why not: of one verb, or of all; for one memory, when it is named."""
    view = belief.believed_view(workspace)
    config = view.require_config()
    known = (*_PROPOSING, *_DECIDED, *_ALONE, "sync")
    if verb is not None and verb not in known:
        raise UsageError(f"{one_line(verb, 40)!r} is nothing that a policy decides", hint=f"one of {', '.join(known)}")
    found = None if prefix is None else view.find(prefix)
    told = [_of_verb(view, config, one, found) for one in ((verb,) if verb else known)]
    return [*told, *(() if verb else _of_evidence(config))]


def _of_verb(view: View, config: Config, verb: str, found: Found | None) -> Explained:
    env = view.workspace.env
    audience = found.memory.scope.audience if found else "team"
    person = f"this is {'an' if env.channel == 'agent' else 'a'} {env.channel}" + (f" ({env.host})" if env.host else "")
    if verb == "sync":
        return Explained(verb, "yes", f"{person}, and it pushes what was let in and lets nothing in")
    if verb in _ALONE:
        people = sorted({one.principal for one in people_of(config)})
        if verb == "policy" and people and principal_here(view.workspace, config) == UNPROVEN:
            why = f"it is changed by the signature of {' or '.join(people)}, and none of theirs signs here"
            return Explained(verb, "no", why, "git config user.signingkey FILE, gpg.format ssh, commit.gpgsign true")
        if verb == "policy" and env.channel == "terminal" and config.review == "forge":
            why = f"review is {config.review}: whoever merges decides"
            return Explained(verb, "proposal", why, "gitmem policy set SETTING VALUE, then gitmem propose --push")
        if env.channel == "terminal" or (env.channel == "ci" and verb in _ON_THIS_MACHINE):
            return Explained(verb, "yes", f"{person}, and it is for a person at a terminal")
        return Explained(verb, "no", f"{person}, and it is for a person at a terminal", f"a person runs: gitmem {verb}")
    if found is not None and verb in _DECIDED and (against := _against(verb, found)):
        return Explained(verb, "no", *against)
    if verb in _PROPOSING:
        if lands(env.channel, config, audience) != INBOX and verb != "import":
            return Explained(verb, "yes", f"{person}, and review is {config.review}: it is active at once")
        why = f"{person}, and review is {config.review}"
        forge = config.review == "forge" and audience == "team"
        return Explained(verb, "proposal", why, _ON_THE_FORGE if forge else "a person runs: gitmem review")
    if decides(env.channel, config, audience):
        return Explained(verb, "yes", f"{person}, and review is {config.review}")
    if env.channel == "terminal":
        why = f"review is {config.review}: what the team reads is decided there"
        return _left_to_the_forge(verb, why, found)
    why = f"{person}: it may propose, and withdraw what it proposed itself"
    if verb == "accept" and config.review == "forge" and audience == "team":
        return Explained(verb, "no", why, _ON_THE_FORGE)
    return Explained(verb, "no", why, f"a person runs: gitmem {verb} ID")


def _left_to_the_forge(verb: str, why: str, found: Found | None) -> Explained:
    """What a person does where whoever merges decides: a memory of the branch is moved by a proposal; a candidate is
    offered as it is, or taken back."""
    waits = found is not None and found.ref == INBOX
    if verb == "retract" and waits:
        return Explained(verb, "yes", "whoever proposes may take it back")
    if verb == "accept":
        return Explained(verb, "no", why, _ON_THE_FORGE)
    if verb == "edit" and waits:
        return Explained(verb, "yes", "what waits in the inbox of this clone is edited here")
    if waits and verb not in ("reject", "lift"):
        return Explained(verb, "no", why, 'gitmem retract ID --because "…" takes a candidate back')
    name = f"{verb}-{found.memory.id}" if found is not None else f"{verb}-ID"
    return Explained(verb, "proposal", why, f"gitmem {verb} ID, then gitmem propose --push --name {name}")


def _against(verb: str, found: Found) -> tuple[str, str] | None:
    """What the state of a memory has against a verb, and what is open instead."""
    memory = found.memory
    waits = memory.status in WAITING
    if waits != (verb in ("accept", "reject")) and not (waits and verb in ("edit", "retract")):
        state = "waits in the inbox" if waits else f"is {memory.status}, and no candidate"
        return f"{memory.id[:8]} {state}", f"gitmem log {memory.id[:8]}"
    if _OPS.get(verb, verb) not in legal_moves(memory.status):
        return f"{memory.id[:8]} is {memory.status}, from where {verb} does not lead on", f"gitmem log {memory.id[:8]}"
    return None


def _of_evidence(config: Config) -> Iterator[Explained]:
    for kind, types in sorted(config.evidence.items()):
        yield Explained(f"a {kind}", "yes", f"needs evidence of one of these types: {', '.join(types)}")
    yield Explained("any other kind", "yes", "needs evidence; a url alone is none")
    if config.approvals:
        people = "one person" if config.approvals == 1 else f"{config.approvals} people"
        yield Explained("a merge", "proposal", f"the check of a pull request asks for the approval of {people}")
    held = "waits in the inbox" if config.unobservable == "hold" else "is refused"
    yield Explained("unreached", "yes", f"evidence that cannot be reached from here {held}")
