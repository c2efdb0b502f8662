"""Labelled pairs of claims: what a person would call a restatement, and what only looks like one.

NEAR lies between the two groups. Add a pair when a real one was judged wrongly.
"""

from __future__ import annotations

SAME: list[tuple[str, str]] = [
    ("Pool size is 20", "The pool size is 20."),
    ("Pool size is 20", "pool-size is 20"),
    ("The connection pool size is 50", "connection pool size should be fifty"),
    ("Never retry payment requests", "Do not retry payment requests"),
    ("Run make lint before every commit", "Before every commit, run make lint"),
    ("Use uv instead of pip for installs", "Installs use uv instead of pip"),
    ("Use tabs, not spaces", "Tabs, not spaces, are used"),
    ("Retry the redis connect with backoff", "The redis connect is retried with backoff"),
    ("Retry the redis connect with backoff", "Retry the redis connect with a backoff and jitter"),
    ("The API returns 404 for deleted users", "For deleted users the API returns a 404"),
    ("Integration tests need a running postgres", "A running postgres is needed for integration tests"),
    ("Python 3.12 is required", "requires Python 3.12"),
    ("Migrations live in db/migrations", "Migrations are in db/migrations"),
    ("src/pool.py closes idle sockets after 300 s", "Idle sockets are closed after 300 s by src/pool.py"),
    ("Feature flags are read from LaunchDarkly at start-up", "At start-up feature flags are read from LaunchDarkly"),
    ("Los tests de integración necesitan postgres", "Para los tests de integración se necesita postgres"),
    ("Nunca hacer push directo a main", "No hacer push directo a main"),
    ("Usar pnpm en vez de npm", "Se usa pnpm en vez de npm"),
    ("The release branch is cut on Tuesdays", "On Tuesdays the release branch is cut"),
    ("Deploys to production need two approvals", "Production deploys need 2 approvals"),
    ("Timestamps are stored as UTC", "All timestamps are stored in UTC"),
    ("The cache key must include the tenant id", "Include the tenant id in the cache key"),
    ("Flaky test test_checkout fails on time zones", "test_checkout is flaky: it fails on time zones"),
]

DIFFERENT: list[tuple[str, str]] = [
    ("Pool size is 20", "Pool size is 50"),
    ("Never retry payment requests", "Retry payment requests"),
    ("Run lint before the tests", "Run lint after the tests"),
    ("Use tabs, not spaces", "Use spaces, not tabs"),
    ("Use uv instead of pip for installs", "Use pip instead of uv for installs"),
    ("Python 3.12 is required", "Python 3.11 is required"),
    ("The timeout is 30 s", "The timeout is 300 s"),
    ("The API returns 404 for deleted users", "The API returns 410 for deleted users"),
    ("Feature flags are enabled in staging", "Feature flags are disabled in staging"),
    ("Deploys to production need two approvals", "Deploys to production need three approvals"),
    ("Integration tests need a running postgres", "Integration tests need a running redis"),
    ("Retry the redis connect with backoff", "Retry the postgres query with backoff"),
    ("Migrations live in db/migrations", "Fixtures live in tests/fixtures"),
    ("The build works with node 20", "The build works without node 20"),
    ("Los tests de integración necesitan postgres", "Los tests unitarios no necesitan postgres"),
    ("Nunca hacer push directo a main", "Hacer push directo a main"),
    ("The release branch is cut on Tuesdays", "The release notes are written on Fridays"),
    ("Timestamps are stored as UTC", "Prices are stored as integers"),
    ("The cache key must include the tenant id", "The session cookie must include the tenant"),
    ("Flaky test test_checkout fails on time zones", "Flaky test test_login fails on the captcha"),
    ("max_connections is 100", "min_connections is 100"),
    ("Set retries to -1 for endless retries", "Set retries to 1 for endless retries"),
    ("Reads go to the replica", "Writes go to the replica"),
    ("utf8 is the database encoding", "utf16 is the database encoding"),
    ("The staging host is eu-1", "The staging host is eu-2"),
]
