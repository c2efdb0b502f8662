"""Packages of the installed command, held against what each host documents of the layout that it reads."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tree_sitter
import tree_sitter_javascript
import tree_sitter_typescript

from gitmem.app.host_hooks import commands
from gitmem.app.host_settings import HOSTS
from gitmem.app.injection_hosts import EVENTS
from gitmem.app.packages import package
from tests.agents.test_agents_md import SKILL, TEXT
from tests.agents.test_injection import ASKS, FACT, remember
from tests.conftest import git
from tests.installed import PROGRAM, Ran, agent, person

NODE = shutil.which("node")
SERVERS = {"mcpServers": {"gitmem": {"command": "gitmem", "args": ["mcp"]}}}
# host -> (manifest, the keys that it has to have, all that its schema knows; None where unknown ones are ignored)
MANIFESTS: dict[str, tuple[str, set[str], set[str] | None]] = {
    "claude-code": (".claude-plugin/plugin.json", {"name"}, None),
    "codex": ("plugins/gitmem/.codex-plugin/plugin.json", {"name", "version", "description"}, None),
    "cursor": (
        ".cursor-plugin/plugin.json", {"name"},
        {"name", "version", "description", "author", "license", "keywords", "logo", "commands", "agents", "skills",
         "rules", "hooks", "mcpServers", "variables", "minClientVersions", "homepage", "repository"},
    ),
    "gemini-cli": ("gemini-extension.json", {"name", "version"}, None),
    "copilot-cli": ("plugin.json", {"name", "description", "version"}, None),
    "pi": ("package.json", {"name", "keywords", "pi"}, None),
}  # fmt: skip
# host -> the file of its hooks, and how its doorbell is named there
HOOKS = {
    "claude-code": ("hooks/hooks.json", '"${CLAUDE_PLUGIN_ROOT}/doorbell"'),
    "codex": ("plugins/gitmem/hooks/hooks.json", '"${PLUGIN_ROOT}/doorbell"'),
    "cursor": ("hooks/hooks.json", '"${CURSOR_PLUGIN_ROOT}/doorbell"'),
    "gemini-cli": ("hooks/hooks.json", '"${extensionPath}/doorbell"'),
    "copilot-cli": ("hooks.json", '"${PLUGIN_ROOT}/doorbell"'),
    "antigravity": ("hooks.json", "./gitmem/doorbell"),
}
# All events that a host documents, of which ours are some.
DOCUMENTED = {
    "claude-code": {"SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "SessionEnd"},
    "codex": {"SessionStart", "UserPromptSubmit", "PreToolUse", "Stop", "SessionEnd"},
    "cursor": {"sessionStart", "sessionEnd", "preToolUse", "beforeSubmitPrompt", "preCompact", "stop"},
    "gemini-cli": {"SessionStart", "SessionEnd", "BeforeAgent", "AfterAgent", "PreCompress"},
    "copilot-cli": {"sessionStart", "sessionEnd", "userPromptSubmitted", "agentStop", "preCompact"},
    "antigravity": {"PreInvocation", "Stop"},
}


def made(host: str, where: Path) -> Path:
    done = agent(where.parent, "package", host, "--to", where.name)
    assert done.code == 0, done
    return where


def data(path: Path) -> Any:
    return json.loads(path.read_bytes())


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_is_written_once_and_what_to_do_with_it_and_what_it_lacks_is_said(tmp_path: Path) -> None:
    done = agent(tmp_path, "package", "codex", "--to", "it's new")
    assert done.code == 0 and "written: it's new/.agents/plugins/marketplace.json" in done.out
    assert "codex plugin marketplace add '" in done.out and "commands: codex documents none" in done.err
    before = files(tmp_path)
    again = agent(tmp_path, "package", "codex", "--to", "it's new")
    assert again.code == 2 and "not empty" in again.err and files(tmp_path) == before
    assert agent(tmp_path, "package", "vim", "--to", "vim").code == 2 and not (tmp_path / "vim").exists()
    (tmp_path / "empty").mkdir()
    (row,) = agent(tmp_path, "package", "cursor", "--to", "empty", "--json").lines
    assert row["host"] == "cursor" and set(row["files"]) == set(files(tmp_path / "empty")) and row["lacks"]


@pytest.mark.parametrize("host", HOSTS)
def test_all_come_from_one_source_and_name_no_path_of_this_machine(host: str, tmp_path: Path) -> None:
    found = files(made(host, tmp_path / host))
    assert found == package(host).files
    (skill,) = [content for name, content in found.items() if name.endswith("skills/gitmem/SKILL.md")]
    assert skill.decode() == SKILL
    (bell,) = [tmp_path / host / name for name in found if Path(name).name == "doorbell"]
    assert bell.stat().st_mode & 0o111 == 0o111
    shipped = (Path(__file__).parents[2] / "hooks/agent/doorbell").read_text()
    assert bell.read_text() == shipped.replace("@PROGRAM@", "''")
    for name, content in found.items():
        assert str(Path.home()).encode() not in content and str(PROGRAM.parent).encode() not in content, name
        assert b"@" not in re.sub(rb"@AGENTS|\$@|\"\$@\"", b"", content), f"{name}: a mark was not filled in"


@pytest.mark.parametrize("host", MANIFESTS)
def test_the_manifest_has_what_the_host_asks_for_and_names_what_is_there(host: str, tmp_path: Path) -> None:
    name, needed, known = MANIFESTS[host]
    folder = made(host, tmp_path / host)
    manifest = data(folder / name)
    assert needed <= manifest.keys() and (known is None or manifest.keys() <= known)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", manifest["name"])
    assert manifest.get("version") is None or re.fullmatch(r"\d+\.\d+\.\d+\S*", manifest["version"])
    for key in ("skills", "hooks", "contextFileName"):
        assert key not in manifest or (folder / manifest[key]).exists()
    if host == "pi":
        assert "pi-package" in manifest["keywords"]
        for paths in manifest["pi"].values():
            assert all(path.startswith("./") and (folder / path).is_dir() for path in paths)
        return
    root = folder / "plugins/gitmem" if host == "codex" else folder
    server = manifest if host == "gemini-cli" else data(root / ("mcp.json" if host == "cursor" else ".mcp.json"))
    assert server["mcpServers"] == SERVERS["mcpServers"]
    if host == "codex":
        (entry,) = data(folder / ".agents/plugins/marketplace.json")["plugins"]
        assert (folder / entry["source"]["path"]) == root and entry["source"]["source"] == "local"
    if host == "gemini-cli":
        assert (folder / manifest["contextFileName"]).read_text() == TEXT


@pytest.mark.parametrize("host", HOOKS)
def test_the_hooks_are_those_of_install_at_documented_events_and_they_run(
    host: str, tmp_path: Path, repo: Path
) -> None:
    name, bell = HOOKS[host]
    folder = made(host, tmp_path / "it's a package")
    raw = data(folder / name)
    shape = HOSTS[host].shape
    assert set(raw) == ({"version"} if shape.version else set()) | {shape.section}  # codex rejects any other root key
    found = commands((folder / name).read_text(), shape)
    wanted = {(event, f"{bell} {host}") for event in HOSTS[host].rings}
    assert set(found) == wanted | {(event, f"{bell} {host} {event}") for event in EVENTS[host]}
    assert {event for event, _ in found} <= DOCUMENTED[host]
    entries = [entry for event, listed in raw[shape.section].items() if event != "enabled" for entry in listed]
    for entry in entries:
        assert ("hooks" in entry) == shape.grouped
        handler = entry["hooks"][0] if shape.grouped else entry
        allowed = {shape.command, shape.timeout, "matcher", *(["type"] if shape.typed else [])}
        assert handler.keys() <= allowed and handler.get("type", "command") == "command"
        assert handler[shape.timeout] in (5 * shape.second, 15 * shape.second)
    # A shell runs it as the host does: with its variable set, and gitmem on PATH only.
    (repo / ".git/gitmem/spool").mkdir(parents=True)
    (repo / ".git/gitmem/spool/waiting").write_text(f"{os.getpid()}\n")
    root = (folder / name).parent if host in ("copilot-cli", "antigravity") else (folder / name).parent.parent
    variables = {"CLAUDE_PLUGIN_ROOT", "PLUGIN_ROOT", "CURSOR_PLUGIN_ROOT", "extensionPath"}
    where = repo
    if host == "antigravity":  # it runs hooks where hooks.json lies, which is in the repository
        where = root = Path(shutil.copytree(folder, repo / ".agents"))
    ring = next(command for event, command in found if event == HOSTS[host].anchor)
    ran = subprocess.run(
        ["sh", "-c", ring], cwd=where, env={**os.environ, **dict.fromkeys(variables, str(root))}, input="{}",
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
    assert (repo / f".git/gitmem/spool/{host}.rung").exists()


def test_commands_say_the_same_and_take_what_was_typed_as_the_host_hands_it_on(tmp_path: Path) -> None:
    marks = {"claude-code": "$ARGUMENTS", "opencode": "$ARGUMENTS", "pi": "$@", "cursor": "the words after the command"}
    texts = set()
    for host, mark in marks.items():
        found = {
            name: content.decode()
            for name, content in files(made(host, tmp_path / host)).items()
            if name.startswith(("commands/", "prompts/"))
        }
        assert {Path(name).stem.removeprefix("gitmem-") for name in found} == {"brief", "propose", "recall"}
        for text in found.values():
            front, _, body = text.removeprefix("---\n").partition("---\n")
            assert re.fullmatch(r"description: [^\n:#]+\n", front) and mark in body
            texts.add(body.replace(mark, "@"))
    gemini = made("gemini-cli", tmp_path / "gemini-cli")
    for path in (gemini / "commands/gitmem").iterdir():
        command = tomllib.loads(path.read_text())
        assert set(command) == {"description", "prompt"} and "{{args}}" in command["prompt"]
        texts.add(command["prompt"].replace("{{args}}", "@"))
    assert len(texts) == 3
    for host in ("codex", "copilot-cli", "antigravity"):  # what they do not take is said, and not there
        assert any(what.startswith("commands") for what in package(host).lacks)
        assert not any("commands/" in name for name in package(host).files)


def test_the_skill_keeps_to_the_six_keys_that_strict_validators_take() -> None:
    _, front, _ = SKILL.split("---\n", 2)
    keys = [line.partition(":")[0] for line in front.splitlines()]
    assert set(keys) <= {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
    values = {key: line.partition(": ")[2] for key, line in zip(keys, front.splitlines(), strict=True)}
    assert values["name"] == "gitmem" and 1 <= len(json.loads(values["description"])) <= 1024
    assert len(values["compatibility"]) <= 500


@pytest.mark.parametrize(
    ("host", "name", "language"),
    [
        ("opencode", "plugins/gitmem.js", tree_sitter_javascript.language()),
        ("pi", "extensions/gitmem.ts", tree_sitter_typescript.language_typescript()),
    ],
)
def test_a_plugin_is_valid_code_and_imports_nothing_but_node(host: str, name: str, language: Any) -> None:
    source = package(host).files[name]
    tree = tree_sitter.Parser(tree_sitter.Language(language)).parse(source)
    assert not tree.root_node.has_error
    assert re.findall(rb'^import .* from "([^"]+)"', source, re.MULTILINE) == [b"node:child_process"]
    assert b"require(" not in source and b"fetch(" not in source
    broken = tree_sitter.Parser(tree_sitter.Language(language)).parse(source.replace(b"async", b"asy nc (", 1))
    assert broken.root_node.has_error


DRIVE = """
const { default: plugin } = await import(process.argv[2])
const folder = process.argv[3]
const said = (text) => ({ message: {}, parts: [{ type: "text", text }] })
const hooks = await plugin.server({ directory: folder, worktree: folder })
const system = async (sessionID) => {
  const output = { system: ["theirs"] }
  await hooks["experimental.chat.system.transform"]({ sessionID }, output)
  return output.system.slice(1)
}
const out = []
for (const text of [process.argv[4], process.argv[4], "write a poem"]) {
  await hooks["chat.message"]({ sessionID: "s1" }, said(text))
  out.push(await system("s1"))
}
await hooks.event({ event: { type: "session.compacted", properties: { sessionID: "s1" } } })
out.push(await system("s1"))
await hooks["chat.message"]({ sessionID: "s1" }, said(process.argv[4]))
out.push(await system("s1"), await system("s2"))
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s1" } } })

const at = {}
await plugin.setup({ location: { directory: folder }, session: { hook: (name, handler) => { at[name] = handler } } })
await at.prompt({ sessionID: "s3", prompt: { text: process.argv[4] } })
const context = { sessionID: "s3", system: [] }
at.context(context)
await plugin.setup({})
out.push(context.system.map((part) => part.text))
console.log(JSON.stringify(out))
"""


@pytest.fixture
def known(repo: Path) -> Path:
    assert person(repo, "init").code == 0
    remember(repo, "fact", FACT)
    (repo / ".git/gitmem/spool").mkdir(exist_ok=True)
    (repo / ".git/gitmem/spool/waiting").write_text(f"{os.getpid()}\n")  # so a ring starts no capture
    return repo


def node(script: Path, *arguments: str) -> Any:
    path = os.pathsep.join([str(PROGRAM.parent), os.environ["PATH"]])
    done = subprocess.run(
        [str(NODE), "--no-warnings", str(script), *arguments],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(NODE is None, reason="there is no node")
def test_the_plugin_of_opencode_tells_once_keeps_it_steady_and_tells_anew_after_compaction(
    tmp_path: Path, known: Path
) -> None:
    folder = made("opencode", tmp_path / "a package")
    (folder / "plugins/package.json").write_text('{"type": "module"}')
    script = tmp_path / "drive.mjs"
    script.write_text(DRIVE)
    first, again, poem, compacted, anew, other, second = node(
        script, str(folder / "plugins/gitmem.js"), str(known), ASKS
    )
    assert FACT in "".join(first) and "<gitmem-memory" in first[0]
    assert again == first == poem  # the same at each call, and nothing twice
    assert compacted == [] and FACT in "".join(anew) and other == []
    assert FACT in "".join(second)  # OpenCode 2
    assert (known / ".git/gitmem/spool/opencode.rung").exists()


PI = """
const { default: extension } = await import(process.argv[2])
const at = {}
extension({ on: (name, handler) => { at[name] = handler } })
const ctx = { cwd: process.argv[3],
  sessionManager: { getSessionId: () => "s1", getSessionFile: () => "/t/s1.jsonl" } }
const out = []
for (const prompt of [process.argv[4], process.argv[4]]) out.push(await at.before_agent_start({ prompt }, ctx) ?? null)
await at.session_compact({}, ctx)
out.push(await at.before_agent_start({ prompt: process.argv[4] }, ctx) ?? null)
await at.agent_settled({}, ctx)
out.push(await at.before_agent_start({}, {}) ?? null)
console.log(JSON.stringify(out))
"""


@pytest.mark.skipif(NODE is None, reason="there is no node")
def test_the_extension_of_pi_tells_once_and_rings_when_the_agent_settled(tmp_path: Path, known: Path) -> None:
    folder = made("pi", tmp_path / "a package")
    source = (folder / "extensions/gitmem.ts").read_text()
    # Node before 22.6 reads no types; jiti, by which pi loads extensions, strips them as here.
    plain = re.sub(r": (any|string|boolean|Promise<string>|Record<string, string>)(?=[,) ={])", "", source)
    plain = plain.replace("event?", "event", 1)
    (folder / "extensions/gitmem.mjs").write_text(plain)
    script = tmp_path / "drive.mjs"
    script.write_text(PI)
    first, again, anew, nothing = node(script, str(folder / "extensions/gitmem.mjs"), str(known), ASKS)
    assert first["message"]["customType"] == "gitmem" and FACT in first["message"]["content"]
    assert again is None and FACT in anew["message"]["content"] and nothing is None
    (pointer,) = (known / ".git/gitmem/spool/pi").read_text().splitlines()
    assert json.loads(pointer) == {"host": "pi", "session": "s1", "path": "/t/s1.jsonl"}


def test_a_package_beside_an_installation_tells_nothing_twice(known: Path, tmp_path: Path) -> None:
    """Whoever has both is asked twice at each event, and the second time there is nothing to tell."""
    bell = made("claude-code", tmp_path / "package") / "doorbell"
    path = os.pathsep.join([str(PROGRAM.parent), os.environ["PATH"]])
    told = [
        subprocess.run(
            [str(bell), "claude-code", "UserPromptSubmit"], cwd=known, env={**os.environ, "PATH": path}, text=True,
            input=json.dumps({"session_id": "s", "cwd": str(known), "prompt": ASKS}), capture_output=True, check=True,
        ).stdout
        for _ in range(2)
    ]  # fmt: skip
    assert FACT in told[0] and told[1] == ""


def test_it_works_outside_of_a_repository_and_touches_none(repo: Path, tmp_path: Path) -> None:
    where = tmp_path / "plain"
    where.mkdir()
    done: Ran = agent(where, "package", "pi", "--to", "out")
    assert done.code == 0 and (where / "out/package.json").is_file()
    assert agent(repo, "package", "pi", "--to", str(tmp_path / "elsewhere")).code == 0
    assert git(repo, "status", "--porcelain") == ""
