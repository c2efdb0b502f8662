"""Secret files give up the values worth hiding, and not the words that stand in every text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gitmem.policy.exact_values import FILE_LIMIT, VALUE_LIMIT, exact_values
from tests.policy.test_secrets import LABELLED, PW, made

HIDDEN = {
    "plain": ("DB_PASS=" + PW, PW),
    "quoted": (f'export API_TOK="{PW} # not a comment"\nSECRET_A="{PW} # x"', f"{PW} # x"),
    "single quotes": (f"MY_SECRET='{PW}'", PW),
    "comment": (f"MY_SECRET={PW}   # the old one", PW),
    "spaces": (f"  client_secret  =  {PW}  ", PW),
    "crlf": (f"A=1\r\nMY_SECRET={PW}\r\n", PW),
    "url": (f"DATABASE_URL=postgres://app:{PW}@db.example.org/app", PW),
    "json": (json.dumps({"a": {"client_secret": [PW]}}), PW),
    "toml": (f'[db]\npassword = "{PW}"', PW),
    "yaml": (f"db:\n  password: {PW}\n", PW),
    "yaml list": (f"- token: '{PW}'", PW),
    "ini": (f"[default]\naws_secret_access_key = {made(40)}", made(40)),
    "npmrc": (f"//registry.example.org/:_authToken={made(36)}", made(36)),
    "netrc": (f"machine git.example.org login bot password {PW}", PW),
    "escaped": ('MY_SECRET="a\\"b' + PW + '"', 'a"b' + PW),
    "odd without a name": ("THING=" + made(24), made(24)),
    "pem": (LABELLED["private-key"][0], LABELLED["private-key"][1].split("\n")[2]),
    "pem in json": (json.dumps({"private_key": LABELLED["private-key"][0]}), LABELLED["private-key"][1].split("\n")[2]),
}
ORDINARY = (
    "POSTGRES_PASSWORD=postgres\nSECRET=changeme\nTOKEN=<your token here>\nKEY=true\nAUTH=localhost\nPASS=12345",
    "NODE_ENV=production\nPORT=5432\nAPP_KEY_PATH=/run/secrets/db1\nTOKEN_URL=https://id.example.org/token1",
    "SESSION_STORE=redis1.example.org:6379\nAUTH_VERSION=2.14.1\nTOKEN_ID=01cd4a53-9d16-4fc8-860d-b9b46b1abce4",
    "PASSWORD=swordfish\nMAIL_AUTH=person@example.invalid\nTITLE=The quick brown fox jumps over 13 lazy dogs today",
    "-----BEGIN CERTIFICATE-----\n" + made(64) + "\n-----END CERTIFICATE-----",
    "# password: " + PW,
    '{"broken": ',
    "",
)


@pytest.mark.parametrize("form", HIDDEN)
def test_a_value_of_a_secret_file_is_taken(form: str) -> None:
    text, value = HIDDEN[form]
    assert value in exact_values([text.encode()])


@pytest.mark.parametrize("text", ORDINARY)
def test_what_stands_in_every_text_is_not(text: str) -> None:
    assert exact_values([text.encode()]) == ()
    assert exact_values([text.encode(), f"MY_SECRET={PW}".encode()]) == (PW,)


def test_the_users_list_is_taken_as_it_is_and_the_longest_comes_first() -> None:
    listed = b"swordfish\n\n  open sesame now  \r\nabc\n#5 hash\n"
    assert exact_values([], listed) == ("open sesame now", "swordfish", "#5 hash")
    assert exact_values([f"MY_SECRET={PW}".encode()], b"sword\n") == (PW, "sword")


def test_there_are_limits() -> None:
    assert len(exact_values([], b"\n".join(b"value number %d" % n for n in range(2000)))) == VALUE_LIMIT
    late = b"#" * FILE_LIMIT + b"\nMY_SECRET=" + PW.encode()
    assert exact_values([late]) == () and exact_values([late[10 + 1 :][FILE_LIMIT - 11 :]]) == (PW,)


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_can_be_a_secret_file(data: bytes) -> None:
    assert all(isinstance(value, str) and value for value in exact_values([data], data))
