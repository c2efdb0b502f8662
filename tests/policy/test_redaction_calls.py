"""The answers of calls that read secrets are stubbed, in the shapes of every host, and no other answer is."""

# ruff: noqa: E501
from __future__ import annotations

import json
from typing import Any

import pytest

from gitmem.policy.redaction import Redactor
from gitmem.policy.secret_sources import is_risky_command, is_risky_path, may_be_risky
from tests.policy.test_secrets import LABELLED

QUIET = "colour of the sky: swordfish"  # no rule knows it
STUB = "[gitmem:removed risky-call]"

Rows = list[dict[str, Any]]


def claude(command: str) -> Rows:
    return [
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "toolu_01Aa", "name": "Bash", "input": {"command": command}}]}},
        {"type": "user", "message": {"content": [{"tool_use_id": "toolu_01Aa", "type": "tool_result", "content": [{"type": "text", "text": QUIET}], "is_error": False}]}, "toolUseResult": {"stdout": QUIET, "stderr": ""}},
    ]  # fmt: skip


def codex(command: str) -> Rows:
    return [
        {"type": "response_item", "payload": {"type": "function_call", "id": "fc_99881", "name": "shell", "arguments": json.dumps({"command": ["bash", "-lc", command]}), "call_id": "call_7Ab"}},
        {"type": "event_msg", "payload": {"type": "exec_command_end", "call_id": "call_7Ab", "command": ["bash", "-lc", command], "stdout": QUIET, "aggregated_output": QUIET, "exit_code": 0}},
        {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "call_7Ab", "output": json.dumps({"output": QUIET, "metadata": {}})}},
    ]  # fmt: skip


def gemini(command: str) -> Rows:
    return [
        {"id": "m1", "type": "gemini", "toolCalls": [{"id": "run_shell_1", "name": "run_shell_command", "args": {"command": command}, "result": [{"functionResponse": {"id": "run_shell_1", "name": "run_shell_command", "response": {"output": QUIET}}}], "resultDisplay": QUIET}]},
        {"id": "m2", "type": "user", "content": [{"functionResponse": {"id": "run_shell_1", "name": "run_shell_command", "response": {"output": QUIET}}}]},
    ]  # fmt: skip


def copilot(command: str) -> Rows:
    return [
        {"type": "tool.execution_start", "data": {"toolCallId": "call_Za4", "toolName": "bash", "arguments": {"command": command}}},
        {"type": "tool.execution_complete", "data": {"toolCallId": "call_Za4", "success": True, "result": {"content": QUIET, "detailedContent": QUIET}}},
    ]  # fmt: skip


def pi(command: str) -> Rows:
    return [
        {"type": "message", "message": {"role": "assistant", "content": [{"type": "toolCall", "id": "toolu_017q", "name": "bash", "arguments": {"command": command}}]}},
        {"type": "message", "message": {"role": "toolResult", "toolCallId": "toolu_017q", "toolName": "bash", "content": [{"type": "text", "text": QUIET}], "details": {}}},
    ]  # fmt: skip


def opencode(command: str) -> Rows:
    return [{"type": "tool", "tool": "bash", "callID": "276838044", "state": {"status": "completed", "input": {"command": command}, "output": QUIET, "metadata": {"output": QUIET}}}]  # fmt: skip


def antigravity(command: str) -> Rows:
    return [
        {"step_index": 3, "source": "MODEL", "type": "PLANNER_RESPONSE", "tool_calls": [{"name": "run_command", "args": {"CommandLine": json.dumps(command)}}]},
        {"step_index": 4, "source": "SYSTEM", "type": "EPHEMERAL_MESSAGE", "content": "a reminder"},
        {"step_index": 5, "source": "MODEL", "type": "RUN_COMMAND", "content": f"Stdout: {QUIET}"},
        {"step_index": 6, "source": "MODEL", "type": "PLANNER_RESPONSE", "content": "that was all"},
    ]  # fmt: skip


def windsurf(command: str) -> Rows:
    return [{"type": "run_command", "run_command": {"command": command, "cwd": "/x", "exit_code": 0, "output": QUIET}}]


def kiro(command: str) -> Rows:
    return [
        {"kind": "AssistantMessage", "data": {"content": [{"kind": "toolUse", "data": {"toolUseId": "tooluse_l1", "name": "shell", "input": {"command": command}}}]}},
        {"kind": "ToolResults", "data": {"content": [{"kind": "toolResult", "data": {"toolUseId": "tooluse_l1", "content": [{"kind": "json", "data": {"stdout": QUIET}}]}}], "results": {"tooluse_l1": {"result": QUIET}}}},
    ]  # fmt: skip


HOSTS = (claude, codex, gemini, copilot, pi, opencode, antigravity, windsurf, kiro)


def redacted(rows: Rows, redactor: Redactor | None = None) -> tuple[Rows, list[tuple[str, ...]]]:
    redactor = redactor or Redactor()
    done = [redactor.line(json.dumps(row).encode()) for row in rows]
    return [json.loads(line) for line, _ in done], [rules for _, rules in done]


@pytest.mark.parametrize("host", HOSTS, ids=lambda host: host.__name__)
def test_the_answer_of_a_risky_call_is_stubbed_and_the_record_keeps_its_shape(host: Any) -> None:
    rows = host("cat .env")
    out, rules = redacted(rows)
    assert "swordfish" not in json.dumps(out) and STUB in json.dumps(out)
    assert set(rules) <= {(), ("risky-call",), ("risky-call",) * 2, ("risky-call",) * 3}
    assert shape(out) == shape(rows)
    assert "cat .env" in json.dumps(out), "what was asked is kept"
    untouched, rules = redacted(host("cat README.md"))
    assert untouched == host("cat README.md") and not any(rules)


def shape(value: Any) -> Any:
    """The value without the text of answers: keys, numbers, and the words that a host reads."""
    if isinstance(value, dict):
        return {
            key: value[key] if key in ("type", "id", "name", "kind", "role") else shape(value[key]) for key in value
        }
    return [shape(item) for item in value] if isinstance(value, list) else type(value)


def test_only_the_answer_without_an_id_is_taken_for_it() -> None:
    out, _ = redacted(antigravity("printenv"))
    assert [row.get("content") for row in out] == [None, "a reminder", STUB, "that was all"]


def test_call_and_answer_may_come_to_two_redactors() -> None:
    call, answer = claude("gpg --export-secret-keys me")
    first = Redactor()
    redacted([call], first)
    assert first.remembered == ("toolu_01Aa",)
    out, _ = redacted([answer], Redactor((), first.remembered))
    assert "swordfish" not in json.dumps(out)
    assert "swordfish" in json.dumps(redacted([answer])[0])


def test_no_more_than_the_last_calls_are_remembered() -> None:
    redactor = Redactor()
    for number in range(1000):
        row = {"type": "tool_use", "id": f"toolu_{number:04}", "input": {"command": "cat .env"}}
        redacted([row], redactor)
    assert len(redactor.remembered) == 256 and redactor.remembered[-1] == "toolu_0999"


def test_what_is_written_to_a_secret_file_is_stubbed_too() -> None:
    row = {"type": "tool_use", "id": "toolu_02", "name": "Write", "input": {"file_path": "/x/.env", "content": QUIET}}
    assert redacted([row])[0][0]["input"] == {"file_path": "/x/.env", "content": STUB}
    row["input"] = {"file_path": "/x/.env.example", "content": QUIET}
    assert redacted([row])[0][0] == row


RISKY = (
    "cat .env", "cat ./config/.env.production | head -3", "head -n 5 ~/.aws/credentials", "grep KEY .env", "less ~/.ssh/id_rsa",
    "sudo cat /etc/shadow", "type C:\\\\Users\\\\me\\\\.env", "printenv", "printenv DATABASE_URL", "env", "env | sort", "cd x && env", "export -p",
    "set | grep AWS", "gpg --export-secret-keys -a me", "gpg -d secrets.gpg", "pass show web/x", "op read op://a/b/c", "bw get password x",
    "security find-generic-password -w -s x", "secret-tool lookup a b", "vault kv get secret/app", "aws secretsmanager get-secret-value --secret-id x",
    "aws sts get-session-token", "gcloud auth print-access-token", "gh auth token", "kubectl get secret db -o yaml", "kubectl config view --raw",
    "heroku config -a x", "doppler secrets", "sops -d secrets.yaml", "ansible-vault view x.yml", "git credential fill", "cat server.pem",
    "python -c 'import os; print(os.environ)'", "node -e 'console.log(process.env)'", "jq . credentials.json", "cat /proc/1/environ",
    "base64 < ~/.kube/config", "cat ~/.npmrc", "source .env", "openssl rsa -in server.key",
)  # fmt: skip
HARMLESS = (
    "cat README.md", "cat .env.example", "cp .env.sample x", "ls -la .env", "echo .env >> .gitignore", "env FOO=1 make", "set -e",
    "git status", "cat src/environment.ts", "grep -rn process.env.PORT src", "cat docs/secrets.md", "npm run env:check", "git add credentials.py",
    "pytest tests/test_tokens.py", "cat id_list.txt", "kubectl get pods -o wide", "vault status", "cat ~/.ssh/id_ed25519.pub", "go env GOPATH",
    "rm -f .env", "test -f .env && echo yes", "sed -n 1,40p gitmem/policy/secrets.py", "printf env", "gpg --verify x.asc", "docker ps",
)  # fmt: skip


@pytest.mark.parametrize("command", RISKY)
def test_a_command_that_prints_secrets_is_risky(command: str) -> None:
    assert is_risky_command(command)
    assert may_be_risky(json.dumps({"input": {"command": command}}).encode())


@pytest.mark.parametrize("command", HARMLESS)
def test_a_command_that_prints_none_is_not(command: str) -> None:
    assert not is_risky_command(command)
    assert is_risky_command(f"{command}; cat .env")


def test_paths_of_secret_files() -> None:
    for path in (
        ".env",
        "/a/.env.local",
        "a/b/server.key",
        "~/.ssh/id_ed25519",
        ".aws/credentials",
        "x/credentials.json",
    ):
        assert is_risky_path(path) and may_be_risky(path.encode()), path
    for path in (
        ".env.example",
        "src/env.py",
        "README.md",
        "docs/keys.md",
        "id_ed25519.pub",
        "environment.key.ts",
        "a.keys",
    ):
        assert not is_risky_path(path), path


def test_a_private_key_over_several_lines_of_text() -> None:
    text, body = LABELLED["private-key"]
    for prefix in ("", "> ", "    ", "+", "12: "):
        lines = [f"{prefix}{line}".encode() for line in text.split("\n")]
        redactor = Redactor()
        out = [redactor.line(line)[0] for line in [b"before", *lines, b"after"]]
        for part in body.split("\n"):
            assert part.encode() not in b"\n".join(out)
        assert (
            out[0] == b"before"
            and out[1] == lines[0]
            and out[-2:] == [lines[-1], b"after"]
            and redactor.remembered == ()
        )
    cut = Redactor()
    cut.line(lines[0])
    assert cut.remembered == ("private-key",)
    assert Redactor((), cut.remembered).line(lines[1])[1] == ("private-key",)


def test_a_sentence_about_a_private_key_takes_nothing_with_it() -> None:
    header = LABELLED["private-key"][0].split("\n")[0].encode()
    redactor = Redactor()
    for line in (
        b"the file begins with " + header,
        b"Then",
        b"restart",
        b"made_of_one_word_that_is_long_enough_to_be_one",
    ):
        assert redactor.line(line) == (line, ())


def test_many_lines_together_give_what_each_gives() -> None:
    text, _ = LABELLED["private-key"]
    rows = [json.dumps(row) for row in (*claude("cat .env"), *codex("ls"))]
    words = [
        "nothing here",
        "pass" + "word: Zq7vT3mK9",
        "a wrapped \\",
        "    line",
        "",
        "é\u200b",
        *text.split("\n"),
        *rows,
    ]
    lines = [word.encode() for word in words * 40]
    one, many = Redactor(("nothing here",)), Redactor(("nothing here",))
    assert many.lines(lines) == [one.line(line) for line in lines]
    quiet = [b"the pool closes idle sockets", b"", b"after 300 s"] * 400
    assert Redactor().lines(quiet) == [(line, ()) for line in quiet]
