"""Who signed: SSH signatures of commits, verified in this process against the keys that a policy names.

The form is OpenSSH's PROTOCOL.sshsig. No program and no configuration of this machine has a say in it.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from gitmem.model.nouns import Signer

_BEGIN: Final = "-----BEGIN SSH SIGNATURE-----"
_END: Final = "-----END SSH SIGNATURE-----"
_MAGIC: Final = b"SSHSIG"
_NAMESPACE: Final = b"git"  # what git signs commits in; a signature made for another purpose is none of a commit
_LARGEST: Final = 16 * 1024  # characters of a signature; one of an RSA key of 16384 bits has 5,000
_EVALUATED: Final = ("ssh-ed25519", "ssh-rsa", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521")
_HASHES: Final = {b"sha256": hashlib.sha256, b"sha512": hashlib.sha512}


class Signed(NamedTuple):
    """What a signature proves. none: there is none. unknown: by a key that the policy does not name, or in a form that
    is not evaluated here. bad: it does not belong to these bytes. good: `signer` made it."""

    state: Literal["none", "unknown", "bad", "good"]
    signer: Signer | None = None


NOT_SIGNED: Final = Signed("none")


def signed_by(payload: bytes, armoured: str, signers: Sequence[Signer]) -> Signed:
    """Who of `signers` made the signature `armoured` over `payload`. What cannot be read proves nothing."""
    try:
        signature = _parsed(armoured)
    except (ValueError, struct.error, binascii.Error):
        return Signed("unknown")
    signer = next((one for one in signers if key_bytes(one.key) == signature.key), None)
    if signer is None or signature.hashed not in _HASHES:
        return Signed("unknown")
    digest = _HASHES[signature.hashed](payload).digest()
    covered = _MAGIC + _packed(_NAMESPACE) + _packed(signature.reserved) + _packed(signature.hashed) + _packed(digest)
    verified = _verified(signer.key, signature.algorithm, signature.bytes, covered)
    return Signed("unknown") if verified is None else Signed("good" if verified else "bad", signer)


def key_bytes(key: str) -> bytes | None:
    """The bytes of a public key as it stands in a file of OpenSSH (`ssh-ed25519 AAAA… comment`); None for no key."""
    words = key.split()
    if len(words) < 2:
        return None
    try:
        raw = base64.b64decode(words[1], validate=True)
        kind, _ = _field(raw)
    except (ValueError, struct.error, binascii.Error):
        return None
    return raw if kind == words[0].encode() else None


def evaluated(key: str) -> bool:
    """Whether signatures of this public key are evaluated here; False for what cannot be read as a key too."""
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_ssh_public_key

    words = key.split()[:2]
    try:
        load_ssh_public_key(" ".join(words).encode())  # a key of a token too, as if it were none
    except (ValueError, struct.error, UnsupportedAlgorithm):
        return False
    return words[0] in _EVALUATED


class _Signature(NamedTuple):
    key: bytes
    reserved: bytes
    hashed: bytes
    algorithm: bytes
    bytes: bytes


def _parsed(armoured: str) -> _Signature:
    text = armoured.strip()
    if len(text) > _LARGEST or not text.startswith(_BEGIN) or not text.endswith(_END):
        raise ValueError("no SSH signature")
    raw = base64.b64decode("".join(text.removeprefix(_BEGIN).removesuffix(_END).split()), validate=True)
    if raw[:6] != _MAGIC or struct.unpack(">I", raw[6:10]) != (1,):
        raise ValueError("another form of signature")
    key, rest = _field(raw[10:])
    namespace, rest = _field(rest)
    reserved, rest = _field(rest)
    hashed, rest = _field(rest)
    signature, rest = _field(rest)
    algorithm, inner = _field(signature)
    made, after = _field(inner)
    if namespace != _NAMESPACE or rest or after:
        raise ValueError("made for something else")
    return _Signature(key, reserved, hashed, algorithm, made)


def _field(raw: bytes) -> tuple[bytes, bytes]:
    """A length and that many bytes; and what follows."""
    (length,) = struct.unpack(">I", raw[:4])
    if length > len(raw) - 4:
        raise ValueError("cut off")
    return raw[4 : 4 + length], raw[4 + length :]


def _packed(raw: bytes) -> bytes:
    return struct.pack(">I", len(raw)) + raw


def _verified(key: str, algorithm: bytes, signature: bytes, covered: bytes) -> bool | None:
    """Whether the signature is right; None for kinds of keys and signatures that are not evaluated."""
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.serialization import load_ssh_public_key

    try:
        return _checked(load_ssh_public_key(" ".join(key.split()[:2]).encode()), algorithm, signature, covered)
    except InvalidSignature:
        return False
    except (ValueError, struct.error, UnsupportedAlgorithm):
        return None


def _checked(public: object, algorithm: bytes, signature: bytes, covered: bytes) -> bool | None:
    """True, or None for a kind that is not evaluated. Raises InvalidSignature."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils

    if isinstance(public, ed25519.Ed25519PublicKey) and algorithm == b"ssh-ed25519":
        public.verify(signature, covered)
    elif isinstance(public, rsa.RSAPublicKey) and algorithm in (b"rsa-sha2-256", b"rsa-sha2-512"):  # never SHA-1
        hashed = hashes.SHA512() if algorithm == b"rsa-sha2-512" else hashes.SHA256()
        public.verify(signature, covered, padding.PKCS1v15(), hashed)
    elif isinstance(public, ec.EllipticCurvePublicKey) and algorithm == b"ecdsa-sha2-" + _curve(public.curve.name):
        first, rest = _field(signature)
        second, _ = _field(rest)
        pair = utils.encode_dss_signature(int.from_bytes(first, "big"), int.from_bytes(second, "big"))
        # RFC 5656, 6.2.1: the hash goes by the size of the curve.
        sizes = {256: hashes.SHA256(), 384: hashes.SHA384(), 521: hashes.SHA512()}
        public.verify(pair, covered, ec.ECDSA(sizes[public.curve.key_size]))
    else:
        return None
    return True


def _curve(name: str) -> bytes:
    return name.replace("secp", "nistp").removesuffix("r1").encode()
