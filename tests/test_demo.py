"""`make demo` does what it says, also below an agent and in continuous integration, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).resolve().parent.parent / "demo/run.py"


def test_the_demonstration_goes_as_it_says(tmp_path: Path) -> None:
    # An agent host and a continuous integration server would show in the environment; git's variables would
    # lead the demonstration into another repository.
    outside = {"CLAUDECODE": "1", "CI": "true", "GIT_DIR": str(tmp_path / "nowhere"), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, str(DEMO)],
        cwd=tmp_path,
        env={**os.environ, **outside},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""
    for said in ("stands for a person typing", "(candidate)", "evidence.missing", "tombstoned", "clean"):
        assert said in done.stdout
    assert "\x1b" not in done.stdout
    assert list(tmp_path.iterdir()) == []
