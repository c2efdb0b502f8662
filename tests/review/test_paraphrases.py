"""How many restatements of a rejected claim its tombstone stops: the figure that docs/trust.md gives."""

from __future__ import annotations

from pathlib import Path

from tests.app.steps import Run, codes, put

# A claim that is rejected, the same in other order or grammar, and the same in other words.
CLAIMS = (
    ("The pool holds fifty connections at most", "At most fifty connections are held by the pool"),
    ("The pool holds fifty connections at most", "The connection pool is limited to fifty"),
    ("The nightly report is sent by post", "By post is how the nightly report is sent"),
    ("The nightly report is sent by post", "Every night the report goes out by post"),
    ("Retries stop after three failed attempts", "After three failed attempts retries stop"),
    ("Retries stop after three failed attempts", "We give up once an attempt has failed three times"),
    ("Builds of the trunk skip the slow tests", "The slow tests are skipped by builds of the trunk"),
    ("Builds of the trunk skip the slow tests", "Slow tests do not run when the trunk is built"),
    ("The cache is cleared by each release", "Each release clears the cache"),
    ("The cache is cleared by each release", "Releasing empties the cache"),
)
STOPPED = 4  # of ten


def test_the_figure_of_the_paraphrases_is_what_the_page_says(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0
    for claim in dict.fromkeys(claim for claim, _ in CLAIMS):
        assert gitmem(repo, "wrong", put(gitmem, repo, claim), "--because", "nobody measured it").code == 0
    told = {}
    for _, said in CLAIMS:
        done = gitmem(repo, "remember", "-k", "fact", said, "-e", "file:src/pool.py:2", "--json", channel="agent")
        told[said] = codes(done) if done.code else []
    stopped = [said for said, why in told.items() if why]
    assert len(stopped) == STOPPED, told
    page = (Path(__file__).parents[2] / "docs/trust.md").read_text()
    assert f"{STOPPED} of {len(CLAIMS)} restatements" in page
