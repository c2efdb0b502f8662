"""The repository of the demonstration: a small shop service with notes, a test report and a short history."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

PERSON = "Demo Person"
EMAIL = "person@example.invalid"

_POOL = """\
class Pool:
    size = 20
    idle_timeout = 300  # seconds; the database closes idle connections after that

    def acquire(self):
        if self.idle_for() > self.idle_timeout:
            self.reconnect()
        return self.connection
"""
_CHECKOUT = """\
def charge(order, gateway):
    return gateway.charge(order.total_cents, order.card)
"""
_CHECKOUT_FIXED = """\
def charge(order, gateway):
    # The gateway answers a repeated key with its first answer, so a retry cannot charge twice.
    return gateway.charge(order.total_cents, order.card, idempotency_key=order.id)
"""
_CLAUDE = """\
# Working on the shop

- Run the tests with `pytest -q` from the repository root before every commit.
- Prices are integer cents everywhere; format them only in `src/shop/views.py`.
"""
_ADR = """\
# 1. Use PostgreSQL for orders

Date: 2026-01-12

## Status

Accepted

## Context

Orders need transactions across stock and payment.

## Decision

We keep orders in PostgreSQL.

## Considered options

- PostgreSQL
- MongoDB: no transactions across our two collections at the version that we host

## Consequences

Stock and payment change in one transaction.
"""
_CHANGELOG = """\
# Changelog

## 1.4.0 - 2026-02-20

### Fixed

- A payment that times out is retried with the same idempotency key and charges once.
"""
_REPORT = """\
<?xml version="1.0" encoding="utf-8"?>
<testsuites>
  <testsuite name="pytest" tests="2" failures="0" errors="0" skipped="0">
    <testcase classname="tests.test_checkout" name="test_timeout_charges_once" time="0.041"/>
    <testcase classname="tests.test_pool" name="test_reconnects_after_idle" time="0.012"/>
  </testsuite>
</testsuites>
"""

# What each commit changes, oldest first.
HISTORY: tuple[tuple[str, str, Mapping[str, str]], ...] = (
    ("2026-01-12T09:00:00Z", "shop: checkout and notes for whoever works here", {
        "src/shop/checkout.py": _CHECKOUT, "CLAUDE.md": _CLAUDE, "docs/adr/0001-use-postgresql-for-orders.md": _ADR,
    }),
    ("2026-02-03T10:30:00Z", "pool: reconnect after 300 s idle", {"src/shop/pool.py": _POOL}),
    ("2026-02-19T16:45:00Z", "checkout: send the order id as idempotency key\n\n"
     "The gateway timed out, we retried, and 14 customers were charged twice.\n",
     {"src/shop/checkout.py": _CHECKOUT_FIXED, "reports/junit.xml": _REPORT}),
    ("2026-02-20T08:00:00Z", "release 1.4.0", {"CHANGELOG.md": _CHANGELOG}),
)  # fmt: skip


def build(where: Path, environ: Mapping[str, str]) -> None:
    """Make the repository in the empty folder `where`."""
    _git(where, environ, "init", "--quiet", "--initial-branch=main")
    for date, message, files in HISTORY:
        commit(where, environ, date, message, files)


def commit(where: Path, environ: Mapping[str, str], date: str, message: str, files: Mapping[str, str]) -> None:
    """One more commit of the person."""
    for name, text in files.items():
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).write_text(text, encoding="utf-8")
    _git(where, environ, "add", "--all")
    dated = {**environ, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    _git(where, dated, "commit", "--quiet", "--message", message)


def _git(where: Path, environ: Mapping[str, str], *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=where, env=dict(environ), check=True, stdin=subprocess.DEVNULL)
