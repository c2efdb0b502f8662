"""Tests that a matched value has to pass: what is a placeholder, a name, a hash or code is no secret."""

from __future__ import annotations

import binascii
import re
from collections.abc import Callable, Mapping
from typing import Final

from gitmem.model.pattern import pattern


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WORDS: Final = _set(
    "password passwd passwort pass pwd pw secret token key user username admin root guest test testing postgres mysql "
    "redis example sample placeholder changeme change-me dummy fake redacted removed hidden masked none null nil true "
    "false undefined todo tbd string str text bytes any required optional default empty foo bar baz foobar qux "
    "yourpassword mypassword yoursecret contraseña clave hunter2"
)
_ORDINARY: Final = _set("the your a is are must be for enter of to not in and or with at least this that old new")
_MARKS: Final = pattern(
    r"example|placeholder|redacted|changeme|change[-_]me|dummy|your[-_ ]|[-_]here\b|insert[-_ ]|replace[-_ ]|\.\.\.|…|"
    r"x{4}|\*{3}|•{3}|#{4}|-{4}",
    re.IGNORECASE,
)
_SAMPLE: Final = pattern(r"EXAMPLE|example|1234567890|abcdefgh|ABCDEFGH|\.\.\.|(.)\1{7}")
_VARIABLE: Final = pattern(r"[$%<{(\[]|\*\*|@\{|#\{|env[.:\[(]|os\.|process\.|secrets\.|vault:|op://|ssm:|arn:")
_DOTTED: Final = pattern(r"(?:self|this|[A-Za-z_]\w*)(?:(?:\.|->|::|\?\.)[A-Za-z_]\w*)+")
_NAMED: Final = pattern(r"[A-Za-z]+\d{0,4}(?:[_.:/-][A-Za-z]*\d{0,4})*")
_VERSION: Final = pattern(r"[A-Za-z]*[-=~^>]*v?\d+(?:\.\d+)+\w{0,4}")
_HASHED: Final = pattern(r"(?i)(?:sha\d{1,3}|md5|h1|blake\w{1,3})[-:]|\$(?:2[aby]|argon2\w*|5|6)\$")
_UUID: Final = pattern(r"(?i)[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
_SPECIAL: Final = frozenset("!@#$%^&*?+=~")
_SAID: Final = pattern(r"(?i)(?::|=|\b(?:is|was|use|es|era|est|ist|lautet|to))\s{0,3}[\"'`]?$")
# Names with a digit that stand beside the word password in ordinary prose.
_PRODUCTS: Final = pattern(
    r"(?i)1password|argon2\w*|bcrypt\w*|scrypt\w*|pbkdf2\w*|sha-?\d+\w*|md5|oauth2?\w*|base64\w*|base32|utf-?\d+|"
    r"python\w*|http/?\d?|ipv[46]|x509|s3|k8s|ec2|web3|log4j\d?|junit\d|es\d+|rfc ?\d+|adr-?\d+|totp\w*|[a-z]+sql\d+"
)


def is_placeholder(value: str) -> bool:
    """True for what people write where a secret would stand."""
    bare = value.strip("\"'`.,;:!?()[]{}<>")
    return (
        bare.casefold() in _WORDS
        or bare.casefold().rstrip("0123456789!") in _WORDS
        or len(set(bare)) <= 2
        or _VARIABLE.match(value) is not None
        or _MARKS.search(value) is not None
    )


def _token(value: str, whole: str) -> bool:
    return len(set(value)) >= 10 and _SAMPLE.search(value) is None


def _password(value: str, whole: str) -> bool:
    """What follows a label without quotes: never code, a path or a version."""
    return (
        _quoted_password(value, whole)
        and not any(char in value for char in "()[]{}")
        and _DOTTED.fullmatch(value) is None
        and not value.startswith(("/", "./", "../", "~/"))
    )


def _quoted_password(value: str, whole: str) -> bool:
    inner = value.strip("\"'`.,;:!?")
    return (
        len(value) >= 6
        and not is_placeholder(value)
        and "://" not in value
        and " " not in value.strip()
        and any(char.isalpha() for char in value)
        and (any(char.isdigit() for char in value) or any(char in _SPECIAL for char in inner))
        and _VERSION.fullmatch(value) is None
        and _HASHED.match(value) is None
        and _PRODUCTS.fullmatch(inner) is None
    )


def _labelled(value: str, whole: str) -> bool:
    """A token, key or secret by its label: letters and digits, and no name, hash or identifier."""
    inner = value.strip("\"'`.,;:!?")
    return (
        len(inner) >= 8
        and not is_placeholder(value)
        and _SAMPLE.search(value) is None
        and any(char.isdigit() for char in inner)
        and any(char.isalpha() for char in inner)
        and not any(char in value for char in "()[]{}$<> ")
        and "://" not in value
        and not value.startswith(("/", "./", "../", "~/"))
        and not any(test.fullmatch(inner) for test in (_NAMED, _VERSION, _UUID, _DOTTED))
        and _HASHED.match(inner) is None
    )


def _basic(value: str, whole: str) -> bool:
    """Base64 of `user:password`, both printable, the password no placeholder."""
    try:
        decoded = binascii.a2b_base64(value.replace("-", "+").replace("_", "/") + "=" * (-len(value) % 4)).decode()
    except (ValueError, UnicodeDecodeError):
        return False
    user, colon, password = decoded.partition(":")
    return bool(user and colon and len(password) >= 3) and decoded.isprintable() and not is_placeholder(password)


def _url_password(value: str, whole: str) -> bool:
    user = whole.partition("://")[2].partition(":")[0]
    return len(value) >= 4 and value != user and not is_placeholder(value)


def _said(value: str, whole: str) -> bool:
    """A password in a sentence: mixed enough that no ordinary word looks like it."""
    inner = value.strip("\"'`.,;:!?")
    mixed = any(char.islower() for char in inner) and any(char.isupper() for char in inner)
    special = any(char in _SPECIAL for char in value.rstrip("?!"))
    announced = _SAID.search(whole[: whole.rfind(value)]) is not None
    return (
        _password(value, whole)
        and any(char.isdigit() for char in inner)
        and (special or value != inner or announced)
        and (special or mixed)
    )


def _mixed(value: str, whole: str) -> bool:
    return _said(value, whole) and any(char in _SPECIAL for char in value)


def _passphrase(value: str, whole: str) -> bool:
    words = value.split()
    return (
        3 <= len(words) <= 10
        and all(w.isalpha() and w.islower() and len(w) > 2 for w in words)
        and not _ORDINARY & {*words}
    )


def _private_key(value: str, whole: str) -> bool:
    body = re.sub(r"-----[A-Z0-9 ]+-----|\\n|\s", "", value)
    return len(set(body)) >= 12 and len(re.sub(r"[^A-Za-z0-9+/=]", "", body)) >= 32


def _any(value: str, whole: str) -> bool:
    return True


# A check is given the value and the whole match around it.
CHECKS: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "token": _token,
    "password": _password,
    "quoted_password": _quoted_password,
    "labelled": _labelled,
    "basic": _basic,
    "url_password": _url_password,
    "said": _said,
    "mixed": _mixed,
    "passphrase": _passphrase,
    "private_key": _private_key,
    "any": _any,
}
