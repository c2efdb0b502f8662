"""Addresses of pull requests by the address of a remote, without what proves who one is."""

from __future__ import annotations

import pytest

from gitmem.app.propose_forge import address, forge_of

HEAD = "gitmem/propose/2026-03-02-x"


@pytest.mark.parametrize(
    ("url", "opened"),
    [
        ("https://me:secret@github.com/team/shop.git",
         "https://github.com/team/shop/compare/gitmem/main...gitmem/propose/2026-03-02-x?expand=1"),
        ("git@github.com:team/shop.git",
         "https://github.com/team/shop/compare/gitmem/main...gitmem/propose/2026-03-02-x?expand=1"),
        ("ssh://git@gitlab.example.com:2222/a/b/shop.git",
         "https://gitlab.example.com/a/b/shop/-/merge_requests/new?merge_request%5Bsource_branch%5D="
         "gitmem%2Fpropose%2F2026-03-02-x&merge_request%5Btarget_branch%5D=gitmem%2Fmain"),
        ("https://x-token-auth:secret@bitbucket.org/team/shop",
         "https://bitbucket.org/team/shop/pull-requests/new?source=gitmem%2Fpropose%2F2026-03-02-x&dest=gitmem%2Fmain"),
        ("https://codeberg.org/team/shop.git",
         "https://codeberg.org/team/shop/compare/gitmem/main...gitmem/propose/2026-03-02-x"),
        ("https://git.example.com:8443/team/shop.git",
         "https://git.example.com:8443/team/shop/compare/gitmem/main...gitmem/propose/2026-03-02-x"),
    ],
)  # fmt: skip
def test_where_a_pull_request_is_opened(url: str, opened: str) -> None:
    forge = forge_of(url)
    assert forge is not None
    made = address(forge, "gitmem/main", HEAD)
    assert made == opened and "secret" not in made and "@" not in made


@pytest.mark.parametrize(
    "url", ["/srv/git/shop.git", "../shop", "file:///srv/shop.git", "ext::sh -c x", "https://ho st/a/b",
            "https://host/../x", "git@host:shop.git"],
)  # fmt: skip
def test_what_is_no_forge_has_no_address(url: str) -> None:
    assert forge_of(url) is None
