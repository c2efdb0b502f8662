"""`gitmem reindex` and `gitmem policy`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from gitmem.app import belief
from gitmem.app.catch_up import catch_up
from gitmem.app.moves import require_reason
from gitmem.app.workspace import Workspace
from gitmem.app.writing import write_config
from gitmem.errors import Refused, UsageError
from gitmem.model.judgement import Reason
from gitmem.model.nouns import Config
from gitmem.model.text import is_clean, one_line
from gitmem.model.vocabulary import EVIDENCE_TYPES, KINDS, LANGUAGES
from gitmem.policy.secrets import find_secrets

SETTINGS: Final = {
    "review": "local or forge",
    "unobservable": "hold or refuse",
    "evidence.KIND": "types with commas, such as test,file, or any",
    "languages": "names with commas, such as german,french, or none",
}


def reindex(workspace: Workspace, *, forget: bool = False) -> tuple[int, tuple[str, ...]]:
    """Build the search index anew; the number of records in it, and what of the branch is not believed.

    `forget` drops the pin of what was believed, verifies the whole branch and believes what passes.
    """
    if forget:
        belief.require_branch(workspace)
        belief.forget(workspace)
    view = belief.inert_view(workspace)
    view.require_config()
    index = catch_up(view, rebuild=True)
    return index.count(), belief.believe(workspace).rejected


def settings(config: Config) -> Mapping[str, Any]:
    """The policy as it stands."""
    return {
        "project": config.project,
        "review": config.review,
        "unobservable": config.unobservable,
        "languages": ",".join(config.languages) or "none",
        **{f"evidence.{kind}": ",".join(types) for kind, types in config.evidence.items()},
    }


def show_policy(workspace: Workspace) -> Config:
    return belief.inert_view(workspace).require_config()


def set_policy(workspace: Workspace, name: str, value: str, reason: str) -> Config:
    """Change one setting. A person at a terminal only; judged by the policy that stands."""
    require_reason(reason, f"gitmem policy {name} {value}")
    if workspace.env.channel != "terminal":
        raise Refused(
            "the policy is for a person at a terminal to change; nothing was written",
            reasons=[
                Reason(
                    "channel.authority",
                    f"the channel {workspace.env.channel} may propose, and withdraw its own proposals",
                    f'a person runs: gitmem policy {name} {value} --because "…"',
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
    return write_config(workspace, lambda config: _changed(config, name, value), reason)


def _changed(config: Config, name: str, value: str) -> Config:
    if name == "review" and value in ("local", "forge"):
        return replace(config, review=value)  # type: ignore[arg-type]
    if name == "unobservable" and value in ("hold", "refuse"):
        return replace(config, unobservable=value)  # type: ignore[arg-type]
    if name == "languages":
        named = tuple(dict.fromkeys(part.strip() for part in value.split(",") if part.strip() not in ("", "none")))
        unknown = [part for part in named if part not in LANGUAGES]
        if unknown:
            hint = f"English and Spanish always; also {', '.join(LANGUAGES)}"
            raise UsageError(f"there are no stems for {one_line(unknown[0], 40)!r}", hint=hint)
        return replace(config, languages=named)
    kind = name.removeprefix("evidence.")
    if name.startswith("evidence.") and kind in KINDS:
        types = tuple(part.strip() for part in value.split(",") if part.strip())
        unknown = [part for part in types if part not in EVIDENCE_TYPES and part != "any"]
        if unknown:
            raise UsageError(f"there is no evidence of type {unknown[0]!r}", hint=f"one of {', '.join(EVIDENCE_TYPES)}")
        kept = {known: asked for known, asked in config.evidence.items() if known != kind}
        return replace(config, evidence=kept if "any" in types else {**kept, kind: types})
    if name == "evidence" or (name.startswith("evidence.") and kind not in KINDS):
        raise UsageError(f"there is no setting {name!r}", hint=f"evidence.KIND, with one of {', '.join(KINDS)}")
    if name not in SETTINGS:
        raise UsageError(f"there is no setting {name!r}", hint=f"one of {', '.join(SETTINGS)}")
    raise UsageError(f"{name} cannot be {value!r}", hint=f"it is {SETTINGS[name]}")
