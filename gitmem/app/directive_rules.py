"""The languages in which directives are found: those that ship, and those that the user adds by file."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from gitmem.app.user_settings import user_file
from gitmem.errors import CorruptRecord, UsageError

if TYPE_CHECKING:
    from gitmem.policy.directives import Directive, Language


def languages(environ: Mapping[str, str]) -> tuple[Language, ...]:
    """English, Spanish, then each `*.yaml` of `gitmem/directives` in XDG_CONFIG_HOME, else in ~/.config.

    A file of one's own for a language that ships takes its place. Raises UsageError for a file that is none.
    """
    found = {path.stem: path for path in sorted(_shipped().glob("*.yaml"))}
    own = own_rules(environ)
    if own is not None and own.is_dir():
        found |= {path.stem: path for path in sorted(own.glob("*.yaml"))}
    return tuple(_language(path, path.stat().st_mtime_ns) for path in found.values())


def said_in(environ: Mapping[str, str], text: str) -> tuple[Directive, ...]:
    """The directives in what a person might say. Raises as `languages` does."""
    from gitmem.policy.directives import directives

    return directives(text, languages(environ))


def own_rules(environ: Mapping[str, str]) -> Path | None:
    """The user's folder of rule files; None when nothing says where the user's settings are."""
    return user_file(environ, "directives")


def _shipped() -> Path:
    return Path(__file__).resolve().parent.parent / "policy/directive_rules"


@lru_cache(maxsize=32)
def _language(path: Path, _: int) -> Language:
    from gitmem.model.yaml_codec import parse
    from gitmem.policy.directives import language_of

    try:
        data = parse(path.read_bytes(), name=path.name).data
    except CorruptRecord as error:
        raise UsageError(error.message, hint=f"mend or remove {path}", details=error.details) from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    return language_of(data, path.name)
