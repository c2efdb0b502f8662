"""What was read in the shared samples by hand: how many calls failed, and the person's own words in order.

Long texts stand as begin, length and digest (`samples.pin`).
"""

from __future__ import annotations

SHARED_SAMPLES: dict[str, tuple[int, tuple[str, ...]]] = {
    "aider/multi-step.md": (0, ("can aider work in an agentic loop?",)),
    "amp/thread-a.json": (0, ()),
    "antigravity-cli/subagent.jsonl": (
        0,
        ("Use a subagent to read the file ./note.txt and report its first line b… 143 b9388770",),
    ),
    "antigravity-cli/tool-error.jsonl": (
        1,
        ("Run the shell command `false` (it will fail). Inspect the failure, the… 202 ac87aaea",),
    ),
    "claude-code/background-subagent-2.1.156.jsonl": (
        0,
        ("Launch THREE background subagents in a SINGLE message using the Agent … 1035 ec20c907",),
    ),
    "claude-code/compact-summary-2.0.76.jsonl": (
        0,
        (
            "/exit",
            "for the change in cmd/entire/cli/hooks_claudecode_handlers.go I think … 160 7d54ba80",
            "the issue is still that this would not surface to the user, could we d… 130 61a49c9a",
        ),
    ),
    "claude-code/compaction-2.1.143.jsonl": (
        0,
        ("Reply with exactly the word: ok", "/compact", "Reply with exactly the word: still-here"),
    ),
    "claude-code/corrupt-line-2.1.7.jsonl": (
        1,
        (
            "can we add a simple tests assuming we have tests for logging?",
            "I can't see any usage in our code of logging.WithAgent so, means that … 170 47d06064",
            "Implement 1,2 and 3.",
            "how can we know which agent is active ?",
        ),
    ),
    "claude-code/image-base64-2.1.29.jsonl": (
        0,
        (
            "claude stop is not correct, that is at the end of the assistant's turn.",
            "gemini is `SessionEnd` as well, I just checked the docs.\n\nA) it's when… 188 e37fc234",
            "does gemini have a hooks setup?",
            "ok cool let's go - write the design",
            "yes continue",
            "yes continue",
            "yes",
            "oh, the gemini implementation is streaming? what happens in commitWithMetadataGemini?",
        ),
    ),
    "claude-code/resume-2.1.143.jsonl": (0, ("Reply with exactly the word: ok", "Reply with exactly the word: again")),
    "claude-code/shell-escape-2.1.143.jsonl": (0, ("!echo hello", "Reply with exactly the word: alive")),
    "claude-code/stop-hook-2.1.235.jsonl": (0, ("Reply with exactly: hello world",)),
    "claude-code/subagent-spawn-2.1.119.jsonl": (0, ()),
    "claude-code/subagent-spawn-2.1.119.subagents/agent-a31559a022d9a2cb6.jsonl": (0, ()),
    "claude-code/subagent-spawn-2.1.119.subagents/agent-a5435e8f32c1127d1.jsonl": (0, ()),
    "claude-code/subagent-spawn-2.1.119.subagents/agent-a8662875f7da1388c.jsonl": (0, ()),
    "claude-code/tool-errors-2.1.33.jsonl": (
        13,
        (
            "our git status has broken, why?",
            "1. this has happened twice now just fyi",
            "yeah check what's triggering gc",
            "or is my worktree folder choice the problem?",
            "is it problematic, data wise?",
            "log a linear improvement - Project:Troy",
            "and for now can we document it in known_limitations?",
        ),
    ),
    "codex/compaction-0.130.jsonl": (0, ("Reply with exactly the word: ok",)),
    "codex/fork-replay-0.130.jsonl": (
        0,
        ("Reply with exactly the word: one", "Reply with exactly the word: two", "Reply with exactly the word: three"),
    ),
    "codex/paginated-toolgate-0.147.jsonl": (
        1,
        ("Create a new file called hello.txt in the current directory containing… 118 6fd6ea87",),
    ),
    "codex/pre-envelope-old.jsonl": (0, ("checkout 90 and work on it. add tests. when done create pr",)),
    "codex/queued-20-calls-0.130.jsonl": (
        0,
        (
            "Count slowly from 1 to 20, one number per line. Pause about half a sec… 138 e6813d09",
            "After you finish counting also reply with the word secondmessage",
        ),
    ),
    "codex/shell-escape-0.130.jsonl": (0, ("!ls", "!sleep 5", "Reply with exactly the word: alive")),
    "codex/tool-errors-0.130.jsonl": (
        1,
        ("Run the shell command 'cat /nonexistent_file_xyz.txt' using your shell… 208 c5774cc8",),
    ),
    "copilot-cli/api-error-1.0.78.jsonl": (0, ("Reply with exactly the word: ok",)),
    "copilot-cli/compaction-1.0.78.jsonl": (
        0,
        ("Reply with exactly the word: ok", "Reply with exactly the word: still-here"),
    ),
    "copilot-cli/resume-1.0.78.jsonl": (0, ("Reply with exactly the word: ok", "Reply with exactly the word: again")),
    "copilot-cli/shell-escape-1.0.78.jsonl": (
        0,
        ("Reply with exactly the word: ready", "!echo hello", "Reply with exactly the word: alive"),
    ),
    "copilot-cli/subagent-failed-1.0.78.jsonl": (
        2,
        ("Delegate this to the task subagent instead of doing it yourself: ask i… 235 028a1d9a",),
    ),
    "cursor/cli-workspace-less.jsonl": (0, ("Run a quick smoke test",)),
    "cursor/ide-agent-real.jsonl": (0, ("Generate a file with all the HBO shows from the 90's in it",)),
    "cursor/structure-main.jsonl": (
        0,
        (
            "add a health check endpoint to the demo app and wire it into the router",
            "match the button colour in the screenshot",
            'this blew up:\n  File "/Users/example/demo-app/run.py", line 1, in <mod… 156 02da33b7',
        ),
    ),
    "gemini-cli/legacy-json-12cb.json": (0, ("add new text to test-gemini.txt", '",how are you"')),
    "gemini-cli/legacy-json-9c53.json": (0, ("run an agent that creates a color file inside docs, choose your color",)),
    "gemini-cli/long-line.jsonl": (
        1,
        ("Write a single very long sentence on one line. Make it at least 5000 w… 114 fe9dfc94",),
    ),
    "gemini-cli/resume.jsonl": (0, ("Reply with exactly the word: ok", "Reply with exactly the word: again")),
    "gemini-cli/rewind.jsonl": (
        0,
        (
            "Reply with exactly the word: one",
            "Reply with exactly the word: two",
            "Reply with exactly the word: twoReply with exactly the word: three",
        ),
    ),
    "gemini-cli/task-list.jsonl": (
        0,
        ("Use your write_todos tool to create exactly three todo items, in this … 420 a28fb620",),
    ),
    "kiro-cli/tool-error.jsonl": (1, ()),
    "opencode/compaction.jsonl": (0, ("Reply with exactly the word: one", "Reply with exactly the word: two")),
    "opencode/self-correction.jsonl": (
        0,
        ('"Do this all in ONE turn, using your tools, and do not ask me anything… 416 c11d47d8',),
    ),
    "opencode/sqlite-export-v1.json": (0, ()),
    "opencode/subagent.jsonl": (
        0,
        ('"In a SINGLE turn, use the `task` tool THREE times in parallel. Subage… 260 bd046e46',),
    ),
    "pi/compaction.jsonl": (0, ("Reply with exactly the word: ok", "Reply with exactly the word: still-here")),
    "pi/custom-entry.jsonl": (0, ("Reply with exactly the word: ok",)),
    "pi/real-large-v1.jsonl": (
        4,
        (
            "/mode",
            "read packages/coding-agent/docs/theme.md in full, then theme.ts, and t… 221 61483901",
            "you fucked thet component up REAL fucking good. i undid your changes, … 108 9ef574fe",
            "alright, i think there's only one file left to fix up, tui-renderer.ts, read it in full",
            "ok, i manually removed almost all chalk uses, except for the thinking … 163 ffb0639e",
            "we need to fix the tui test sources. what's lakcing is the htemes for … 165 3bd84830",
        ),
    ),
    "pi/rewind-branch.jsonl": (
        0,
        ("Reply with exactly the word: one", "Reply with exactly the word: two", "Reply with exactly the word: three"),
    ),
    "pi/tool-error.jsonl": (
        1,
        ("Run the shell command 'cat /nonexistent_file_xyz.txt' using your bash … 218 9e4eaf4d",),
    ),
    "windsurf/cascade-simple.jsonl": (0, ()),
}
