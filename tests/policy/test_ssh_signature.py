"""Signatures made by OpenSSH are verified without it; anything else proves nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitmem.model.nouns import Signer
from gitmem.policy.ssh_signature import NOT_SIGNED, key_bytes, signed_by

PAYLOAD = b"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\nremember 7k3q\n"


def made(folder: Path, *kind: str) -> str:
    """A new key pair; the public key."""
    subprocess.run(["ssh-keygen", "-q", "-N", "", "-C", "a key", "-f", folder / "key", *kind], check=True)
    return (folder / "key.pub").read_text()


def signature(folder: Path, payload: bytes = PAYLOAD, namespace: str = "git", *more: str) -> str:
    """What OpenSSH makes of it."""
    command = ["ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", folder / "key", *more]
    return subprocess.run(command, input=payload, capture_output=True, check=True).stdout.decode()


@pytest.mark.parametrize(
    "kind",
    [
        ("-t", "ed25519"),
        ("-t", "rsa", "-b", "2048"),
        ("-t", "ecdsa", "-b", "256"),
        ("-t", "ecdsa", "-b", "384"),
        ("-t", "ecdsa", "-b", "521"),
    ],
)
def test_a_signature_of_openssh_is_good_for_its_bytes_and_bad_for_others(tmp_path: Path, kind: tuple[str, ...]) -> None:
    signer = Signer("person@example.invalid", made(tmp_path, *kind))
    armoured = signature(tmp_path)
    good = signed_by(PAYLOAD, armoured, [signer])
    assert (good.state, good.signer) == ("good", signer)
    assert signed_by(PAYLOAD + b" ", armoured, [signer]).state == "bad"


def test_a_key_that_nobody_named_and_another_purpose_prove_nothing(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    signer = Signer("person@example.invalid", made(tmp_path, "-t", "ed25519"))
    other = Signer("other@example.invalid", made(tmp_path / "other", "-t", "ed25519"))
    assert signed_by(PAYLOAD, signature(tmp_path), [other, signer]).signer == signer
    assert signed_by(PAYLOAD, signature(tmp_path), [other]) == ("unknown", None)
    assert signed_by(PAYLOAD, signature(tmp_path), []).state == "unknown"
    assert signed_by(PAYLOAD, signature(tmp_path, namespace="file"), [signer]).state == "unknown"
    assert NOT_SIGNED.state == "none"


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 400), byte=st.integers(0, 255), cut=st.booleans())
def test_no_change_of_a_signature_makes_it_good_or_raises(tmp_path: Path, at: int, byte: int, cut: bool) -> None:
    if not (tmp_path / "key").exists():
        made(tmp_path, "-t", "ed25519")
        (tmp_path / "signed").write_text(signature(tmp_path))
    signer = Signer("person@example.invalid", (tmp_path / "key.pub").read_text())
    armoured = (tmp_path / "signed").read_text()
    assert signed_by(PAYLOAD, armoured, [signer]).state == "good"
    at %= len(armoured)
    changed = armoured[:at] + ("" if cut else chr(byte)) + armoured[at + 1 :]
    if "".join(changed.split()) != "".join(armoured.split()):
        assert signed_by(PAYLOAD, changed, [signer]).state in ("bad", "unknown")


def test_what_is_no_key_has_no_bytes(tmp_path: Path) -> None:
    assert key_bytes(made(tmp_path, "-t", "ed25519")) is not None
    for text in ("", "ssh-ed25519", "ssh-ed25519 %%%", "ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAAIA==", "ssh-ed25519 AAAA"):
        assert key_bytes(text) is None
