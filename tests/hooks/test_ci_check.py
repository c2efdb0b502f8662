"""The script that every CI runs, on real repositories; what a request holds never reaches standard output."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.app.steps import POOL, RETRY, Run, proposed, put
from tests.conftest import git
from tests.installed import PROGRAM

CHECK = Path(__file__).resolve().parents[2] / "hooks/ci/check"
WHY = ("--because", "looked at it")


@pytest.fixture(autouse=True)
def begun(repo: Path, gitmem: Run) -> None:
    assert gitmem(repo, "init").code == 0
    put(gitmem, repo, POOL)


def check(where: Path, *arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(CHECK), *arguments],
        cwd=where,
        env={**os.environ, "GITMEM": str(PROGRAM), **environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def as_a_forge_has_it(repo: Path, tmp_path: Path, head: str) -> Path:
    """A bare repository with the branches of the base and the head of a request, fetched as the action does."""
    where = tmp_path / "memory.git"
    git(tmp_path, "init", "-q", "--bare", str(where))
    git(where, "config", "transfer.fsckObjects", "true")
    git(where, "fetch", "-q", "--no-tags", str(repo), "+refs/heads/*:refs/check/heads/*", f"+{head}:refs/check/head")
    return where


def test_a_good_request_passes_with_a_report(repo: Path, gitmem: Run, tmp_path: Path) -> None:
    proposed(gitmem, repo, RETRY)
    assert gitmem(repo, "propose", "--name", "one").code == 0
    where = as_a_forge_has_it(repo, tmp_path, "refs/heads/gitmem/propose/one")
    before = git(where, "for-each-ref")
    done = check(where, "refs/check/heads/gitmem/main", "refs/check/head", str(tmp_path / "report.md"))
    assert (done.returncode, done.stdout) == (0, "gitmem check: good\n"), done
    report = (tmp_path / "report.md").read_text()
    assert report.startswith("<!-- gitmem-check -->\n✅ **gitmem: verified**") and "Judged as merged" in report
    assert git(where, "for-each-ref") == before


@pytest.mark.parametrize("how", ["merge", "squash", "rebase"])
def test_what_passed_is_clean_after_the_merge(repo: Path, gitmem: Run, tmp_path: Path, how: str) -> None:
    proposed(gitmem, repo, RETRY)
    assert gitmem(repo, "propose", "--name", "one").code == 0
    put(gitmem, repo, "Invoices are numbered by the accounting service")
    where = as_a_forge_has_it(repo, tmp_path, "refs/heads/gitmem/propose/one")
    assert check(where, "refs/check/heads/gitmem/main", "refs/check/head").returncode == 0
    desk = tmp_path / "desk"
    git(tmp_path, "clone", "-q", "-b", "gitmem/main", str(repo), str(desk))
    if how == "rebase":
        git(desk, "switch", "-q", "-c", "their", "origin/gitmem/propose/one")
        git(desk, "rebase", "-q", "gitmem/main")
    elif how == "squash":
        git(desk, "merge", "-q", "--squash", "origin/gitmem/propose/one")
        git(desk, "commit", "-q", "-m", "memories (#1)")
    else:
        git(desk, "merge", "-q", "--no-ff", "-m", "Merge", "origin/gitmem/propose/one")
    assert gitmem(desk, "verify", "--base", "origin/gitmem/main", "--head", "HEAD").code == 0


def test_a_hostile_request_is_refused_and_says_nothing_on_standard_output(
    repo: Path, gitmem: Run, tmp_path: Path
) -> None:
    base = git(repo, "rev-parse", "gitmem/main").strip()
    files = {
        "memories/0/1/0123456789ab.yaml": "::error::owned\n##[set-output name=x]y\n<img src=x>|`@team`\n",
        "events/2026-03/0/1/::set-output name=a::b.json": "{}\n",
        ".github/workflows/own.yml": "on: push\n",
        "memories/0/1/0123456789ac.yaml": "x" * 3_000_000,
    }
    index = {**os.environ, "GIT_INDEX_FILE": str(tmp_path / "index")}
    git(repo, "read-tree", base, env=index)
    for path, text in files.items():
        (tmp_path / "blob").write_text(text)
        oid = git(repo, "hash-object", "-w", str(tmp_path / "blob")).strip()
        git(repo, "update-index", "--add", "--cacheinfo", f"100644,{oid},{path}", env=index)
    tree = git(repo, "write-tree", env=index).strip()
    message = "::add-mask::x\n::stop-commands::y\n<script>alert(1)</script>\n"
    head = git(repo, "commit-tree", tree, "-p", base, "-m", message).strip()
    git(repo, "update-ref", "refs/heads/hostile", head)
    where = as_a_forge_has_it(repo, tmp_path, "refs/heads/hostile")
    done = check(where, "refs/check/heads/gitmem/main", "refs/check/head", str(tmp_path / "report.md"))
    assert done.returncode == 1 and done.stderr == ""
    assert done.stdout.startswith("gitmem check: refused, ") and done.stdout.count("\n") == 1
    assert "::" not in done.stdout and "##[" not in done.stdout
    report = (tmp_path / "report.md").read_text()
    assert len(report.encode()) < 65_536 and "❌" in report
    for bad in ("<img", "<script", "\n::", "##[", "@team`"):
        assert bad not in report, bad
    rows = [line for line in report.split("\n") if line.startswith("| `")]
    assert rows and all(len(line) < 1000 for line in rows)


def test_a_request_that_changes_the_policy_for_itself_is_refused(repo: Path, gitmem: Run, tmp_path: Path) -> None:
    git(repo, "branch", "-q", "kept", "gitmem/main")
    assert gitmem(repo, "policy", "set", "review", "forge", *WHY).code == 0
    proposed(gitmem, repo, RETRY)
    assert gitmem(repo, "propose", "--name", "sly", channel="agent").code == 0
    where = as_a_forge_has_it(repo, tmp_path, "refs/heads/gitmem/propose/sly")
    done = check(where, "refs/check/heads/kept", "refs/check/head", str(tmp_path / "report.md"))
    assert done.returncode == 1 and "channel.authority" in (tmp_path / "report.md").read_text()
    assert check(where, "refs/check/heads/gitmem/main", "refs/check/head").returncode == 0


def test_the_approvals_that_the_action_fetches_are_what_is_checked(repo: Path, gitmem: Run, tmp_path: Path) -> None:
    from ruamel.yaml import YAML

    jq = shutil.which("jq")
    if jq is None:
        pytest.skip("jq is not here: what the action makes of a forge's answer is not tested")
    assert gitmem(repo, "policy", "set", "approvals", "1", *WHY).code == 0
    proposed(gitmem, repo, RETRY)
    assert gitmem(repo, "propose", "--name", "one").code == 0
    where = as_a_forge_has_it(repo, tmp_path, "refs/heads/gitmem/propose/one")
    head = git(where, "rev-parse", "refs/check/head").strip()
    steps = YAML(typ="safe").load((CHECK.parent / "action.yml").read_text())["runs"]["steps"]
    (script,) = (step["run"] for step in steps if step["name"] == "Ask who approved it")
    (tmp_path / "bin").mkdir()
    stub = tmp_path / "bin/gh"  # two pages of an answer, each of which gh runs through the expression by itself
    pages = '"$PAGES"/reviews-1.json "$PAGES"/reviews-2.json'
    stub.write_text(
        "#!/bin/sh\nfor last; do :; done\n"
        f'case "$*" in */reviews*) set -- {pages};; *) set -- "$PAGES"/pull.json;; esac\n'
        f'for page; do "{jq}" -r "$last" "$page" || exit 1; done\n'
    )
    stub.chmod(0o755)

    def review(login: str | None, state: str, part: str = "MEMBER", commit: str | None = head) -> dict[str, object]:
        user = None if login is None else {"login": login}
        return {"user": user, "state": state, "author_association": part, "commit_id": commit, "body": "$(id)`id`\n'"}

    def verdict(*pages: list[dict[str, object]], author: str | None = "carl") -> tuple[int, str]:
        (tmp_path / "pull.json").write_text(
            json.dumps({"head": {"sha": head}, "user": None if author is None else {"login": author}})
        )
        for number in (1, 2):
            said = pages[number - 1] if number <= len(pages) else []
            (tmp_path / f"reviews-{number}.json").write_text(json.dumps(said))
        environ = {**os.environ, "PATH": f"{stub.parent}:{os.environ['PATH']}", "PAGES": str(tmp_path)}
        names = {"RUNNER_TEMP": str(tmp_path), "REPOSITORY": "o/r", "NUMBER": "1", "GH_TOKEN": "x"}
        made = subprocess.run(["bash", "-e", "-c", script], env={**environ, **names}, check=False, timeout=60)
        assert made.returncode == 0
        words = ("refs/check/heads/gitmem/main", "refs/check/head", str(tmp_path / "report.md"))
        done = check(where, *words, str(tmp_path / "approvals.json"))
        return done.returncode, (tmp_path / "report.md").read_text()

    assert check(where, "refs/check/heads/gitmem/main", "refs/check/head").returncode == 1  # without the forge's word
    code, report = verdict()
    assert code == 1 and "approvals.missing" in report and "Approved by nobody: 0 of 1" in report
    ann = review("ann", "APPROVED")
    code, report = verdict([review(None, "APPROVED"), review("bob", "COMMENTED", commit=None)], [ann], author=None)
    assert code == 0 and "Approved by `ann`: 1 of 1" in report
    for others in ([review("eve", "APPROVED", "NONE")], [review("ann", "PENDING")], [review("carl", "APPROVED")]):
        assert verdict(others)[0] == 1, others
    assert verdict([ann], [review("ann", "CHANGES_REQUESTED")])[0] == 1  # the second page is the later one
    assert verdict([review("x y$(touch PWNED)", "APPROVED")])[0] == 2


def test_what_cannot_be_checked_is_no_pass(repo: Path, tmp_path: Path) -> None:
    for arguments in ([], ["gitmem/main"], ["--all", "x"], ["gitmem/main", "a b"], ["gitmem/main", "$(touch PWNED)"]):
        done = check(repo, *arguments)
        assert done.returncode == (0 if not arguments else 2), arguments
    assert check(repo, "gitmem/main", "gitmem/main", GITMEM="/nowhere/gitmem").returncode == 2
    missing = check(repo, "gitmem/main", "no-such", str(tmp_path / "report.md"))
    assert missing.returncode == 2 and "not checked" in missing.stdout
    assert "nothing could be checked" in (tmp_path / "report.md").read_text()
    broken = tmp_path / "gitmem"
    broken.write_text("#!/bin/sh\nprintf '`::error::x`\\n' >&2\nexit 70\n")
    broken.chmod(0o755)
    done = check(repo, "gitmem/main", "gitmem/main", str(tmp_path / "report.md"), GITMEM=str(broken))
    assert done.returncode == 2 and "::" not in done.stdout
    assert "\n    ::error::x" in (tmp_path / "report.md").read_text()  # in a block of code, without a fence to end it


def test_as_a_hook_of_the_pre_commit_framework(repo: Path, gitmem: Run) -> None:
    proposed(gitmem, repo, RETRY)
    assert gitmem(repo, "propose", "--name", "one").code == 0
    head = git(repo, "rev-parse", "gitmem/propose/one").strip()
    pushed = {"PRE_COMMIT_TO_REF": head, "PRE_COMMIT_REMOTE_NAME": "origin"}
    good = check(repo, PRE_COMMIT_REMOTE_BRANCH="refs/heads/gitmem/propose/one", **pushed)
    assert (good.returncode, good.stdout) == (0, "gitmem check: good\n")
    code = git(repo, "rev-parse", "main").strip()
    assert check(repo, PRE_COMMIT_REMOTE_BRANCH="refs/heads/main", **pushed).stdout == ""
    bad = check(repo, PRE_COMMIT_REMOTE_BRANCH="refs/heads/gitmem/main", **{**pushed, "PRE_COMMIT_TO_REF": code})
    assert bad.returncode == 1


def test_the_files_for_each_ci_name_the_script_and_no_branch_of_the_request() -> None:
    from ruamel.yaml import YAML

    root = CHECK.parents[2]
    yaml = YAML(typ="safe")
    workflow = yaml.load((CHECK.parent / "workflow.yml").read_text())
    assert workflow["permissions"] == {"contents": "read", "pull-requests": "write"}
    assert list(workflow["on"]) == ["pull_request_target"]
    action = yaml.load((CHECK.parent / "action.yml").read_text())
    for step in action["runs"]["steps"]:
        assert "${{" not in step["run"], step["name"]  # what an event says reaches a script as a variable only
        assert "checkout" not in step.get("uses", "")
    assert yaml.load((CHECK.parent / "gitlab.yml").read_text())["gitmem"]["variables"]["GIT_STRATEGY"] == "none"
    (hook,) = yaml.load((root / ".pre-commit-hooks.yaml").read_text())
    assert (root / hook["entry"]).is_file() and os.access(CHECK, os.X_OK)
