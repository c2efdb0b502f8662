"""How a model is asked: a program that reads standard input, or one HTTP request to the endpoint that was named.

It gets text and gives text. It has no tools, no shell, and nothing of the repository but what the text says.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from gitmem.errors import GitmemError, RemoteError, UsageError
from gitmem.model.frozen import dataclass
from gitmem.model.text import one_line

if TYPE_CHECKING:
    from http.client import HTTPResponse

MOST_ANSWER: Final = 256 * 1024  # bytes of an answer that are read; one more refuses it
TIMEOUT: Final = 180.0  # seconds
MOST_TOKENS: Final = 4000  # that an endpoint is asked for
KEY: Final = "GITMEM_DISTILL_KEY"  # the environment variable with the key of an endpoint
EXAMPLE: Final = '--with command:"llm -m small", or --with openai:http://localhost:11434/v1 --model NAME'
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_PIECE: Final = 65536


@dataclass(frozen=True)
class Carrier:
    """arguments: of a program, the first its name; or address and model of an endpoint. name: how results name it."""

    name: str
    arguments: tuple[str, ...] = ()
    address: str = ""
    model: str = ""


def carrier_of(given: str, model: str) -> Carrier:
    """What `--with` and `--model` name. Raises UsageError for anything else."""
    import shlex

    kind, _, rest = given.partition(":")
    if kind == "command":
        try:
            arguments = tuple(shlex.split(rest))
        except ValueError as error:
            raise UsageError(f"--with command: cannot be read: {error}", hint=EXAMPLE) from None
        if not arguments or model:
            raise UsageError("--with command: takes a program and its arguments, and no --model", hint=EXAMPLE)
        return Carrier(f"command {Path(arguments[0]).name}", arguments=arguments)
    if kind == "openai":
        if not model:
            raise UsageError("an endpoint needs --model NAME", hint=EXAMPLE)
        return Carrier(f"{model} at {_host(rest)}", address=_address(rest), model=model)
    raise UsageError("--with takes command:… or openai:ADDRESS", hint=EXAMPLE)


def _host(address: str) -> str:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(address)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        host, parts = "", urlsplit("")
    plain = parts.scheme == "https" or (parts.scheme == "http" and host in _LOOPBACK)
    if not host or not plain or "@" in parts.netloc or parts.query or parts.fragment or not address.isprintable():
        raise UsageError(
            f"{one_line(address, 80)!r} is no endpoint that is talked to",
            hint="https://HOST/v1, or http:// on this machine; a key goes into the variable " + KEY,
        )
    return host


def _address(address: str) -> str:
    plain = address.rstrip("/")
    return plain if plain.endswith("/chat/completions") else f"{plain}/chat/completions"


def ask(carrier: Carrier, system: str, user: str, environ: Mapping[str, str]) -> str:
    """The model's text. Raises GitmemError for a failure or an answer that is too long or no text."""
    if carrier.arguments:
        raw = _of_program(carrier, f"{system}\n\n{user}", environ)
    else:
        raw = _of_endpoint(carrier, system, user, environ)
    if len(raw) > MOST_ANSWER:
        raise GitmemError(f"{carrier.name} said more than {MOST_ANSWER:,} bytes; nothing of it was taken")
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        raise GitmemError(f"what {carrier.name} said is not UTF-8; nothing of it was taken") from None
    return text if carrier.arguments else _content(carrier, text)


def _of_program(carrier: Carrier, text: str, environ: Mapping[str, str]) -> bytes:
    """Run in an empty folder: what the program looks for beside it is not the repository."""
    from tempfile import TemporaryDirectory

    from gitmem.store.program import program_on_path, run_bounded

    program = program_on_path(carrier.arguments[0], environ)
    if program is None:
        raise UsageError(f"there is no program {one_line(carrier.arguments[0], 60)!r} on PATH", hint=EXAMPLE)
    with TemporaryDirectory(prefix="gitmem-") as folder:
        done = run_bounded(
            program, carrier.arguments[1:], environ=_without_key(environ), cwd=Path(folder), stdin=text.encode(),
            most=MOST_ANSWER, timeout=TIMEOUT,
        )  # fmt: skip
    if done.status and len(done.out) <= MOST_ANSWER:
        raise GitmemError(f"{carrier.name} ended with {done.status}: {one_line(done.err, 200)}")
    return done.out


def _without_key(environ: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environ.items() if name != KEY}


def _of_endpoint(carrier: Carrier, system: str, user: str, environ: Mapping[str, str]) -> bytes:
    """One POST to the address that was named and nowhere else: no redirect is followed, and no proxy asked."""
    from http.client import HTTPException
    from urllib.error import HTTPError, URLError
    from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

    class NoRedirect(HTTPRedirectHandler):
        def redirect_request(self, *_: Any, **__: Any) -> None:
            return None

    said = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    body = {"model": carrier.model, "messages": said, "temperature": 0, "max_tokens": MOST_TOKENS, "stream": False}
    headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "gitmem"}
    if environ.get(KEY):
        headers["Authorization"] = f"Bearer {environ[KEY]}"
    try:
        request = Request(carrier.address, json.dumps(body).encode(), headers, method="POST")  # noqa: S310
        with build_opener(ProxyHandler({}), NoRedirect).open(request, timeout=TIMEOUT) as answer:
            return _read(carrier, answer)
    except HTTPError as error:
        with error:
            raise RemoteError(f"{carrier.name} answered {error.code}; nothing was taken") from None
    except (URLError, OSError, HTTPException, ValueError) as error:
        why = one_line(str(getattr(error, "reason", "") or error), 120)
        raise RemoteError(f"{carrier.name} could not be asked: {why}") from None


def _read(carrier: Carrier, answer: HTTPResponse) -> bytes:
    deadline, data = monotonic() + TIMEOUT, b""
    while len(data) <= MOST_ANSWER:
        piece = answer.read1(_PIECE)
        if not piece:
            break
        data += piece
        if monotonic() > deadline:
            raise RemoteError(f"{carrier.name} did not end in {TIMEOUT:g} s", hint="try again later")
    return data


def _content(carrier: Carrier, text: str) -> str:
    """The words of the first choice. An endpoint that calls tools was not asked to."""
    try:
        message = json.loads(text)["choices"][0]["message"]
        content = message["content"]
        calls = message.get("tool_calls") or message.get("function_call")
    except (ValueError, RecursionError, KeyError, IndexError, TypeError, AttributeError):
        raise GitmemError(f"{carrier.name} gave no answer of an OpenAI-compatible endpoint") from None
    if calls or not isinstance(content, str):
        raise GitmemError(f"{carrier.name} gave no text, or wants to call a tool; nothing was taken")
    return content
