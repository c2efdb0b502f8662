"""Where a pull request is opened: the address for each kind of forge, and the programs that open one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import quote, urlencode, urlsplit

from gitmem.model.frozen import dataclass

_SCP: Final = re.compile(r"(?:[^@/\s]+@)?([A-Za-z0-9.-]+):(?!/)(.+)")
_HOSTS: Final[Mapping[str, str]] = {
    "github.com": "github",
    "gitlab.com": "gitlab",
    "bitbucket.org": "bitbucket",
    "codeberg.org": "gitea",
    "gitea.com": "gitea",
}
_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?")


@dataclass(frozen=True)
class Forge:
    """A repository on a forge. `kind`: github, gitlab, bitbucket, gitea, or "" when nothing tells."""

    kind: str
    host: str
    path: str

    @property
    def repository(self) -> str:
        """As `gh --repo` and `glab --repo` take it."""
        return f"{self.host}/{self.path}"


def forge_of(url: str) -> Forge | None:
    """The forge behind the address of a remote; None for a path, or what is no address of a forge.

    What proves who one is, the user's name with it, is left out.
    """
    if "://" in url:
        split = urlsplit(url)
        if split.scheme not in ("http", "https", "ssh", "git"):
            return None
        port = f":{split.port}" if split.port and split.scheme in ("http", "https") else ""
        host, path = f"{split.hostname or ''}{port}", split.path
    else:
        found = _SCP.fullmatch(url)
        if found is None:
            return None
        host, path = found.group(1), found.group(2)
    host = host.lower()
    path = path.strip("/").removesuffix(".git")
    if not _PLAIN.fullmatch(host) or "/" not in path or any(part in ("", ".", "..") for part in path.split("/")):
        return None
    return Forge(_kind(host), host, path)


def _kind(host: str) -> str:
    name = host.partition(":")[0]
    if name in _HOSTS:
        return _HOSTS[name]
    words = name.split(".")
    return next((kind for kind in ("github", "gitlab", "bitbucket", "gitea", "forgejo") if kind in words), "").replace(
        "forgejo", "gitea"
    )


def address(forge: Forge, base: str, head: str) -> str:
    """Where a person opens the pull request from `head` to `base` by hand; branches in full, such as gitmem/main."""
    at = f"https://{forge.host}/{quote(forge.path)}"
    if forge.kind == "gitlab":
        wanted = {"merge_request[source_branch]": head, "merge_request[target_branch]": base}
        return f"{at}/-/merge_requests/new?{urlencode(wanted)}"
    if forge.kind == "bitbucket":
        return f"{at}/pull-requests/new?{urlencode({'source': head, 'dest': base})}"
    between = f"{quote(base)}...{quote(head)}"
    return f"{at}/compare/{between}" + ("?expand=1" if forge.kind == "github" else "")
