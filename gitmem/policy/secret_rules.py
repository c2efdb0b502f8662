"""What a secret looks like: patterns for RE2, written for this project, with the words that must be near.

Every pattern has one group, the secret itself. `keywords` are in lower case; at least one of them is part of
every text that the pattern can match, so a text without any needs no pattern at all (tests/policy prove it).
"""

# A pattern is one line, and a long one is not clearer in pieces.
# ruff: noqa: E501
from __future__ import annotations

from typing import Final, NamedTuple


class Rule(NamedTuple):
    """`check` names the test in secret_checks.py that a match has to pass."""

    name: str
    pattern: str
    keywords: tuple[str, ...]
    check: str = "token"


_Q: Final = r"""["'`\\]{0,4}"""  # quotes around a value, also those of JSON inside JSON
_IS: Final = rf"{_Q}\s{{0,4}}(?::=|=>|==?|:)\s{{0,4}}{_Q}"  # from the end of a label to the start of its value
EDGE: Final = r"(?:^|[^A-Za-z0-9_])"  # RE2 has no look-behind

# Tokens that say by themselves what they are.
_TOKENS: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    ("aws-access-key", r"((?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16})(?:[^A-Za-z0-9]|$)", ("akia", "asia", "abia", "acca")),
    ("github-token", r"(gh[pousr]_[A-Za-z0-9]{36,255})", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_")),
    ("github-fine-grained", r"(github_pat_[A-Za-z0-9_]{50,255})", ("github_pat_",)),
    (
        "gitlab-token",
        r"(gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|oas|ffct)-[A-Za-z0-9_.-]{20,300})",
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-", "gloas-", "glffct-"),
    ),
    ("slack-token", r"(xox[abdeoprs]-[A-Za-z0-9-]{10,250})", ("xox",)),
    ("slack-app-token", r"(xapp-[0-9]-[A-Za-z0-9-]{10,250})", ("xapp-",)),
    (
        "slack-webhook",
        r"(hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9_/]{20,120})",
        ("hooks.slack.com/",),
    ),
    (
        "discord-webhook",
        r"(discord(?:app)?\.com/api/webhooks/[0-9]{15,22}/[A-Za-z0-9_-]{50,90})",
        ("discord.com/api", "discordapp.com/api"),
    ),
    ("stripe-key", r"((?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{14,120})", ("sk_", "rk_")),
    ("stripe-webhook", r"(whsec_[A-Za-z0-9+/=]{24,80})", ("whsec_",)),
    ("google-api-key", r"(AIza[A-Za-z0-9_-]{35})", ("aiza",)),
    ("google-oauth", r"((?:GOCSPX-[A-Za-z0-9_-]{24,40})|(?:ya29\.[A-Za-z0-9_-]{20,300}))", ("gocspx-", "ya29.")),
    ("openai-key", r"(sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{32,250})", ("sk-",)),
    ("anthropic-key", r"(sk-ant-[a-z0-9]{2,12}-[A-Za-z0-9_-]{32,200})", ("sk-ant-",)),
    ("sk-key", r"(sk-(?:or-v1-|lf-)?[A-Za-z0-9]{32,100})", ("sk-",)),
    ("huggingface-token", r"((?:hf|api_org)_[A-Za-z0-9]{30,60})", ("hf_", "api_org_")),
    ("npm-token", r"(npm_[A-Za-z0-9]{36})", ("npm_",)),
    ("pypi-token", r"(pypi-AgE[A-Za-z0-9_-]{50,500})", ("pypi-age",)),
    ("rubygems-key", r"(rubygems_[0-9a-f]{48})", ("rubygems_",)),
    ("sendgrid-key", r"(SG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16,80})", ("sg.",)),
    ("mailgun-key", r"(key-[0-9a-f]{32})(?:[^0-9a-f]|$)", ("key-",)),
    ("mailchimp-key", r"([0-9a-f]{32}-us[0-9]{1,2})(?:[^0-9]|$)", ("-us",)),
    ("telegram-bot", r"(?:^|[^0-9])([0-9]{8,10}:AA[A-Za-z0-9_-]{31,35})", (":aa",)),
    ("jwt", r"(eyJ[A-Za-z0-9_-]{8,900}\.eyJ[A-Za-z0-9_-]{8,900}\.[A-Za-z0-9_-]{10,900})", ("eyj",)),
    ("digitalocean-token", r"(do[opr]_v1_[0-9a-f]{64})", ("doo_v1_", "dop_v1_", "dor_v1_")),
    ("databricks-token", r"(dapi[0-9a-f]{32})", ("dapi",)),
    ("shopify-token", r"(shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32})", ("shpat_", "shpca_", "shppa_", "shpss_")),
    ("linear-key", r"(lin_api_[A-Za-z0-9]{32,48})", ("lin_api_",)),
    ("notion-token", r"(ntn_[A-Za-z0-9]{40,60})", ("ntn_",)),
    ("figma-token", r"(figd_[A-Za-z0-9_-]{36,60})", ("figd_",)),
    ("grafana-token", r"(gl(?:sa|c)_[A-Za-z0-9+/=_]{32,200})", ("glsa_", "glc_")),
    ("vault-token", r"(hv[sbr]\.[A-Za-z0-9_-]{24,250})", ("hvs.", "hvb.", "hvr.")),
    ("doppler-token", r"(dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9_.-]{40,80})", ("dp.",)),
    ("docker-token", r"(dckr_[a-z]{2,4}_[A-Za-z0-9_-]{20,60})", ("dckr_",)),
    ("atlassian-token", r"(AT(?:ATT|CTT)3[A-Za-z0-9_=-]{60,300})", ("atatt3", "atctt3")),
    ("newrelic-key", r"(NRAK-[A-Z0-9]{27})", ("nrak-",)),
    ("postman-key", r"(PMAK-[0-9a-f]{24}-[0-9a-f]{34})", ("pmak-",)),
    ("pulumi-token", r"(pul-[0-9a-f]{40})", ("pul-",)),
    ("terraform-token", r"([A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{50,90})", (".atlasv1.",)),
    ("square-token", r"(sq0[a-z]{3}-[A-Za-z0-9_-]{22,50})", ("sq0",)),
    (
        "model-host-key",
        r"((?:gsk_|r8_|xai-|pplx-|fw_|nvapi-|tvly-)[A-Za-z0-9_-]{30,100})",
        ("gsk_", "r8_", "xai-", "pplx-", "fw_", "nvapi-", "tvly-"),
    ),
    ("planetscale-token", r"(pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{30,70})", ("pscale_",)),
    ("supabase-token", r"(sbp_[0-9a-f]{40})", ("sbp_",)),
    ("sentry-token", r"(sntry[su]_[A-Za-z0-9+/=_]{40,300})", ("sntrys_", "sntryu_")),
    ("age-key", r"(AGE-SECRET-KEY-1[A-Z0-9]{50,60})", ("age-secret-key-1",)),
    ("azure-client-secret", r"([A-Za-z0-9_~.]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34})", ("q~",)),
    ("heroku-key", r"(HRKU-[A-Za-z0-9_-]{36,64})", ("hrku-",)),
    (
        "fly-token",
        r"((?:fo1_[A-Za-z0-9_-]{43})|(?:fm[12]r?_[A-Za-z0-9+/=]{100,600}))",
        ("fo1_", "fm1_", "fm2_", "fm1r_", "fm2r_"),
    ),
    ("dynatrace-token", r"(dt0[a-z][0-9]{2}\.[A-Z0-9]{24}\.[A-Z0-9]{64})", ("dt0",)),
    ("buildkite-token", r"(bk(?:ua|aa|ct)_[0-9a-f]{40})", ("bkua_", "bkaa_", "bkct_")),
    ("circleci-token", r"(CCIP(?:AT|RJ)_[A-Za-z0-9]{22}_[0-9a-f]{40})", ("ccipat_", "cciprj_")),
    ("contentful-token", r"(CFPAT-[A-Za-z0-9_-]{43})", ("cfpat-",)),
    ("prefect-key", r"(pn[ub]_[A-Za-z0-9]{36})", ("pnu_", "pnb_")),
    ("readme-key", r"(rdme_[a-z0-9]{70})", ("rdme_",)),
    ("sourcegraph-token", r"(sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40})", ("sgp_",)),
    ("typeform-token", r"(tfp_[A-Za-z0-9_.=-]{40,70})", ("tfp_",)),
    (
        "tailscale-key",
        r"(tskey-(?:auth-|api-|client-|scim-|webhook-)?[A-Za-z0-9]{8,24}-[A-Za-z0-9]{20,48})",
        ("tskey-",),
    ),
    ("clojars-token", r"(CLOJARS_[0-9a-z]{60})", ("clojars_",)),
    ("duffel-token", r"(duffel_(?:test|live)_[A-Za-z0-9_-]{43})", ("duffel_",)),
    ("easypost-key", r"(EZ[AT]K[A-Za-z0-9]{54})", ("ezak", "eztk")),
    ("flutterwave-key", r"(FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,40}-X)", ("flwseck",)),
    ("frameio-token", r"(fio-u-[A-Za-z0-9_-]{64})", ("fio-u-",)),
    ("onepassword-token", r"(ops_eyJ[A-Za-z0-9+/=_-]{100,900})", ("ops_eyj",)),
    (
        "plaid-token",
        r"(access-(?:sandbox|development|production)-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12})",
        ("access-sandbox-", "access-development-", "access-production-"),
    ),
    ("shippo-token", r"(shippo_(?:live|test)_[0-9a-f]{40})", ("shippo_",)),
    ("brevo-key", r"(xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16})", ("xkeysib-",)),
    ("alibaba-key", r"(LTAI[A-Za-z0-9]{20})(?:[^A-Za-z0-9]|$)", ("ltai",)),
    ("openshift-token", r"(sha256~[A-Za-z0-9_-]{43})(?:[^A-Za-z0-9_-]|$)", ("sha256~",)),
    ("langsmith-key", r"(lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10})", ("lsv2_",)),
    ("mongodb-atlas-secret", r"(mdb_sa_sk_[A-Za-z0-9_-]{40})", ("mdb_sa_sk_",)),
    (
        "artifactory-token",
        r"((?:AKCp[A-Za-z0-9]{69})|(?:cmVmdGtu[A-Za-z0-9]{56}))(?:[^A-Za-z0-9]|$)",
        ("akcp", "cmvmdgtu"),
    ),
    ("nuget-key", r"(oy2[a-z0-9]{43})(?:[^A-Za-z0-9]|$)", ("oy2",)),
    ("sonarqube-token", r"(sq[pau]_[0-9a-f]{40})", ("sqp_", "sqa_", "squ_")),
    ("bedrock-key", r"(ABSK[A-Za-z0-9+/]{100,270}={0,2})", ("absk",)),
    ("pinecone-key", r"(pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,80})", ("pcsk_",)),
    ("netlify-token", r"(nf[pcou]_[A-Za-z0-9]{36})", ("nfp_", "nfc_", "nfo_", "nfu_")),
    ("mapbox-secret", r"(sk\.eyJ[A-Za-z0-9_-]{40,300}\.[A-Za-z0-9_-]{20,60})", ("sk.eyj",)),
)

# Labels. A label stands at the end of a name: `db_password`, `apiKey`, not `LLM_SECRET_NAME`.
_PASSWORDS: Final = (
    "password", "passwd", "passphrase", "passcode", "pwd", "contraseña", "passwort", "kennwort", "senha",
)  # fmt: skip
_KEY_OF: Final = (
    "api", "secret", "access", "private", "account", "storage", "auth", "encryption", "signing", "master", "service",
    "client", "shared", "subscription", "deploy", "admin", "webhook", "session", "jwt", "hmac",
)  # fmt: skip
_SEPARATORS: Final = ("", "_", "-", " ", ".")
_LABEL_KEYS: Final = tuple(f"{of}{separator}key" for of in _KEY_OF for separator in _SEPARATORS)
_SECRETS: Final = ("secret", "token", "credential", "credentials")
_PASSWORD: Final = rf"(?:{'|'.join(_PASSWORDS)}|pass)"
_SECRET: Final = rf"(?:{'|'.join(_SECRETS)}|(?:{'|'.join(_KEY_OF)})[_\-. ]?key)"
_SPECIFIC: Final = r"(?:[_\-. ]?(?:key|value|id))?"
ANY_NAME: Final = r"[A-Za-z0-9_.\-]{0,60}"
LABEL_EDGE: Final = r"(?:^|[^?&A-Za-z0-9_.\-])"
URL_SCHEME: Final = r"[A-Za-z][A-Za-z0-9+.\-]{1,30}://"
_QUOTED: Final = r"""["'`]([^"'`\\\s][^"'`\\\n]{3,400}?)\\{0,3}["'`]"""
_BARE: Final = r"""([^\s"'`\\,;<>{}()\[\]|][^\s"'`\\,;<>|]{3,400})"""
_QUERY_VALUE: Final = r"""([^\s"'`\\,;<>&#]{4,400})"""
_WORD_CHAR: Final = r"""[^\s"'`\\,;<>(){}\[\]|]"""
_PROSE_VALUE: Final = rf"""["'`]?({_WORD_CHAR}{{0,60}}[0-9]{_WORD_CHAR}{{0,60}})"""  # a digit, or it is a word
_PASSWORD_WORDS: Final = (*_PASSWORDS, "mot de passe", "clave", "pw", "pass")

_BEGIN_KEY: Final = r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"

# Values that only their label gives away.
_LABELLED: Final[tuple[Rule, ...]] = (
    # Two rules, so that many beginnings without an end are read once.
    Rule("private-key", rf"({_BEGIN_KEY}(?s:.*?)-----END (?:[A-Z0-9]{{1,20}} ){{0,3}}PRIVATE KEY(?: BLOCK)?-----)",
         ("private key",), "private_key"),
    Rule("private-key", rf"({_BEGIN_KEY}[A-Za-z0-9+/=\\\s:,.-]*)", ("private key",), "private_key"),
    Rule(
        "url-password",
        URL_SCHEME + r"""[^\s/:@"'`<>\\]{0,256}:([^\s/"'`<>\\]{1,256})@[A-Za-z0-9_.\-\[$%{]""",
        ("://",),
        "url_password",
    ),
    Rule("url-token", r"""://([A-Za-z0-9_\-]{20,255})(?::x-oauth-basic)?@github""", ("://",)),
    Rule("query-secret", rf"(?i)[?&;](?:{ANY_NAME}{_PASSWORD}|{ANY_NAME}{_SECRET}|sig)={_QUERY_VALUE}",
         ("pass", "pwd", *_PASSWORDS, *_SECRETS, *_LABEL_KEYS, "sig="), "labelled"),
    Rule("password-quoted", rf"(?i){ANY_NAME}{_PASSWORD}{_Q}\s{{0,4}}(?::=|=>|==?|:)\s{{0,4}}\\{{0,3}}{_QUOTED}",
         ("pass", *_PASSWORDS), "quoted_password"),
    Rule("password", rf"(?i){LABEL_EDGE}{ANY_NAME}{_PASSWORD}{_IS}{_BARE}", ("pass", *_PASSWORDS), "password"),
    Rule("secret-quoted", rf"(?i){ANY_NAME}{_SECRET}{_SPECIFIC}{_Q}\s{{0,4}}(?::=|=>|==?|:)\s{{0,4}}\\{{0,3}}{_QUOTED}",
         (*_SECRETS, *_LABEL_KEYS), "labelled"),
    Rule("secret", rf"(?i){LABEL_EDGE}{ANY_NAME}{_SECRET}{_IS}{_BARE}", (*_SECRETS, *_LABEL_KEYS), "labelled"),
    Rule("auth-header", rf"(?i)\b(?:authorization|bearer){_Q}(?:\s{{0,3}}[:=]\s{{0,3}}|\s){_Q}"
         r"(?:bearer|token|apikey|key)?\s{0,3}([A-Za-z0-9_\-.~+/=]{16,900})",
         ("authorization", "bearer"), "labelled"),
    Rule("basic-auth", rf"(?i)(?:basic\s{{1,3}}|\b_?auth{_IS})([A-Za-z0-9+/_\-]{{8,400}}={{0,2}})",
         ("basic", "auth"), "basic"),
    Rule("cookie", r"(?i)cookie['\"\\]{0,3}\s{0,3}[:=]\s{0,3}['\"\\]{0,3}(?:[^\n\"'\\]{0,600}?;\s{0,3})?"
         r"[A-Za-z0-9_.\-]{1,60}=([A-Za-z0-9%_.\-+/=|]{16,400})", ("cookie",), "labelled"),
    Rule("netrc", r"(?i)\blogin\s{1,4}\S{1,100}\s{1,4}password\s{1,4}([^\s'\"`\\]{4,200})", ("password",), "password"),
    Rule("password-option", rf"(?i)--?{ANY_NAME}(?:{_PASSWORD}|{_SECRET})[ =]['\"]?([^\s'\"`\\<>]{{4,300}})",
         ("pass", *_PASSWORDS, *_SECRETS, *_LABEL_KEYS), "password"),
    Rule("mysql-password", r"(?i)\bmysql(?:dump|admin|import)?\b[^\n|;&]{0,80}?\s-p['\"]?([^\s'\"`\\]{6,100})", ("mysql",), "password"),
    Rule("sshpass", r"(?i)\bsshpass\s{1,4}-p\s{0,4}['\"]?([^\s'\"`\\]{4,100})", ("sshpass",), "password"),
    Rule("user-password", r"(?:\s-u|--user|--proxy-user)[ =]{0,2}['\"]?[^\s:'\"`\\/]{1,80}:([^\s'\"`\\]{4,200})",
         ("-u", "--user", "--proxy-user"), "password"),
    Rule("password-said", r"(?i)(?:^|[^A-Za-z0-9_\-])(?:" + "|".join(_PASSWORD_WORDS)
         + r")(?:['\"`]{0,2}[ \t]{1,3}[a-zñéü]{1,12}){0,3}?[ \t]{0,3}[:=]?\s{1,3}" + _PROSE_VALUE, _PASSWORD_WORDS, "said"),
    Rule("passphrase-said", r"(?i)pass(?:phrase|code|word)[^\"'`\n]{0,24}[\"'`]([^\"'`\n]{12,200})[\"'`]", ("pass",), "passphrase"),
    Rule("login-said", r"(?i)\b(?:log ?in|sign ?in|credentials?)\b[^\n/]{0,40}\s[\w.@\-]{1,60} ?/ ?([^\s/\"'`\\,;]{6,100})",
         ("login", "log in", "signin", "sign in", "credential"), "mixed"),
    Rule("pin-said", r"\bPIN(?: code)?(?: is)?[ :=]{1,3}([0-9]{4,8})\b", ("pin",), "any"),
)  # fmt: skip

# These may follow a letter: the first has a host before it, the second stands behind "bot" in an address.
_NO_EDGE: Final = frozenset({"slack-webhook", "discord-webhook", "telegram-bot"})

RULES: Final[tuple[Rule, ...]] = (
    *(Rule(name, pattern if name in _NO_EDGE else EDGE + pattern, words) for name, pattern, words in _TOKENS),
    *_LABELLED,
)
