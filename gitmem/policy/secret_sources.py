"""What gives secrets away when it is read or run: names of files, commands of key stores, the environment."""

# A pattern is one line, and a long one is not clearer in pieces.
# ruff: noqa: E501
from __future__ import annotations

from typing import Final

from gitmem.model.pattern import pattern
from gitmem.policy.patterns import compiled

# Files that hold secrets. A sample of one does not.
_FILE: Final = (
    r"(?:(?:^|[\s/\\=:\"'`<(@])\.env(?:rc)?(?:\.[A-Za-z0-9_-]{1,40}){0,3}"
    r"|\.aws[/\\]{1,4}credentials|\.aws[/\\]{1,4}(?:sso|cli)[/\\]|\.netrc|_netrc|\.git-credentials|\.pgpass|\.my\.cnf|\.npmrc|\.pypirc"
    r"|\.docker[/\\]{1,4}config\.json|\.kube[/\\]{1,4}config|kubeconfig|gh[/\\]{1,4}hosts\.yml"
    r"|\.ssh[/\\]{1,4}id_[A-Za-z0-9_-]{1,40}|id_(?:rsa|dsa|ecdsa|ed25519)|\.gnupg[/\\]|\.password-store[/\\]"
    r"|[A-Za-z0-9_.-]{1,80}\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk)"
    r"|(?:credentials|service[_-]?account[A-Za-z0-9_-]{0,60}|client_secrets?[A-Za-z0-9_.-]{0,80})\.json"
    r"|secrets?\.(?:json|ya?ml|toml|ini|env)|credentials\.(?:ya?ml|toml|ini)|application_default_credentials\.json"
    r"|\.vault-token|\.vault[_-]pass[A-Za-z0-9_.-]{0,20}|terraform\.tfstate|[A-Za-z0-9_-]{1,60}\.tfvars|\.htpasswd|/etc/g?shadow"
    r"|/proc/[A-Za-z0-9]{1,10}/environ)"
)
_FILE_END: Final = r"(?:$|[\s\"'`;|&<>),:\]\\])"
_SAMPLE: Final = pattern(
    r"(?i)\.(?:example|sample|template|dist|defaults?|pub|md|tpl)\b|[./_-](?:example|sample|template)s?[./_-]"
)
_READERS: Final = (
    "cat|tac|less|more|head|tail|bat|batcat|nl|type|get-content|gc|grep|egrep|fgrep|rg|ag|awk|gawk|sed|cut|sort|uniq|strings|xxd|od|"
    "hexdump|base64|openssl|jq|yq|source|dotenv|vi|vim|nano|view|tee|diff|python3?|node|ruby|perl|paste|fold|rev|column|"
    "pygmentize|curl|scp|gpg|keytool|zcat|pbcopy|xclip|read"
)
_READS_FILE: Final = rf"(?i)(?:^|[\s;&|($`\"'/]|\\n)(?:{_READERS})\b[^\n;]{{0,400}}?{_FILE}{_FILE_END}|<\s{{0,3}}\S{{0,200}}{_FILE}{_FILE_END}"
_BEFORE: Final = r"(?:^|[\s;&|($`\"'/]|\\n)"  # in front of the name of a command
_AS_COMMAND: Final = r"(?:^|[;&|($`\"'\n]|\\n|\b(?:sudo|time|then|do|command|bash|sh)\s|\s-l?c\s|\b(?:exec|run)\s[^\n;|&]{0,80}\s)[\s\"']{0,4}"
_AFTER: Final = r"\s{0,4}(?:$|[|;&>)\"'`\n\\])"  # behind a command without arguments
_COMMANDS: Final = (
    rf"(?:printenv|export\s{{1,3}}-p|declare\s{{1,3}}-p?x|typeset\s{{1,3}}-x)\b|{_AS_COMMAND}(?:env|set){_AFTER}",
    r"(?i)(?:get-childitem|gci|dir|ls)\s{1,3}env:",
    r"\bgpg2?\b[^\n;|]{0,200}(?:--export-secret|--decrypt\b|\s-d\b)",
    rf"{_BEFORE}pass\s{{1,3}}(?:show|[a-z0-9_-]{{1,40}}/)|\bop\s{{1,3}}(?:read|item\s{{1,3}}get|document\s{{1,3}}get)\b",
    rf"{_BEFORE}bw\s{{1,3}}(?:get|list|export)\b|\blpass\s{{1,3}}show\b|\bgopass\s{{1,3}}(?:show|cat)\b",
    r"\bsecurity\s{1,3}(?:find-(?:generic|internet)-password|dump-keychain|export)\b|\bsecret-tool\s{1,3}(?:lookup|search)\b",
    r"\bkeyring\s{1,3}get\b|\bvault\s{1,3}(?:kv\s{1,3}get|read|token)\b|\bkwallet-query\b|\bcmdkey\b",
    r"\baws\b[^\n;|]{0,120}(?:get-secret-value|batch-get-secret|with-decryption|export-credentials|get-session-token|assume-role"
    r"|configure\s{1,3}get|get-login-password|get-authorization-token|create-access-key)",
    r"\bgcloud\b[^\n;|]{0,80}(?:print-access-token|print-identity-token|secrets\s{1,3}versions\s{1,3}access|keys\s{1,3}create)",
    r"\baz\b[^\n;|]{0,80}(?:get-access-token|keyvault\s{1,3}secret\s{1,3}(?:show|download)|keys?\s{1,3}list|credential\s{1,3}reset)",
    r"\bgh\s{1,3}auth\s{1,3}(?:token|status\b[^\n;|]{0,60}(?:--show-token|-t\b))|\bglab\s{1,3}auth\s{1,3}status\b[^\n;|]{0,40}-t\b",
    r"\bkubectl\b[^\n;|]{0,120}(?:get\s{1,3}secrets?\b[^\n;|]{0,120}-o|config\s{1,3}view\b[^\n;|]{0,60}--raw|create\s{1,3}token)",
    r"\b(?:heroku|vercel|fly|flyctl|railway|netlify|doppler|infisical|chamber|akeyless)\s{1,3}(?:config|env|variables|secrets?|read|export|get-secret-value)\b",
    r"\bsops\b[^\n;|]{0,60}(?:\s-d\b|--decrypt|\bdecrypt\b|exec-env)|\bansible-vault\s{1,3}(?:view|decrypt|edit)\b|\bage\s[^\n;|]{0,60}(?:\s-d\b|--decrypt)|\bage\s-d\b",
    r"\bgit\s{1,3}credential(?:-[a-z]{1,20})?\s{1,3}(?:fill|get)\b|\bgit-crypt\s{1,3}export-key\b|\bdocker\s{1,3}inspect\b|\bssh-keygen\b[^\n;|]{0,80}-p\b",
    r"\bprint\(\s{0,3}(?:dict\()?os\.environ\b\s{0,3}[),]|console\.log\(\s{0,3}process\.env\s{0,3}[),]|\bputs\s{1,3}ENV\b",
)
_COMMAND: Final = "|".join(f"(?:{part})" for part in (*_COMMANDS, _READS_FILE))
_PATH: Final = rf"(?i){_FILE}$"
_HINTS: Final = (
    r"(?i)\.env|_?netrc|credential|id_(?:rsa|dsa|ecdsa|ed25519)|\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|npmrc|pypirc|tfvars|pgpass)"
    r"|\.aws|\.kube|kubeconfig|\.docker|hosts\.yml|\.ssh|\.gnupg|gpg|password-store|service[_-]?account|client_secret|secret|vault|tfstate"
    r"|htpasswd|shadow|/environ|printenv|\benv\b|\bset\b|export\s+-p|declare|typeset|os\.environ|process\.env|\bENV\b|env:|\.my\.cnf"
    r"|\bpass\s|\bop\s|\bbw\s|lpass|gopass|keyring|kwallet|cmdkey|dump-keychain|find-(?:generic|internet)"
    r"|export-credentials|session-token|assume-role|configure\s+get|login-password|authorization-token|decryption|access-key"
    r"|access-token|identity-token|keys?\s+(?:create|list)|auth\s+(?:token|status)|config\s+view|create\s+token"
    r"|\b(?:heroku|vercel|fly|flyctl|railway|netlify|doppler|infisical|chamber|akeyless|sops|age|git-crypt|docker|ssh-keygen)\s"
)
_LONGEST: Final = 4000  # characters of a command that are looked at


def may_be_risky(line: bytes) -> bool:
    """False only when no command or path in `line` is risky."""
    return compiled(_HINTS).search(line) is not None


def is_risky_command(command: str) -> bool:
    """True when what `command` prints is secret: it reads a secret file, a key store or the environment."""
    if len(command) > _LONGEST:
        command = command[:_LONGEST]
    found = compiled(_COMMAND).finditer(command.encode("utf-8", "replace"))
    return any(not _SAMPLE.search(match[0].decode("utf-8", "replace")) for match in found)


def is_risky_path(path: str) -> bool:
    """True when the file at `path` is by its name one that holds secrets."""
    path = path.strip().strip("\"'")
    return (
        len(path) <= _LONGEST
        and compiled(_PATH).search(path.encode("utf-8", "replace")) is not None
        and not _SAMPLE.search(path)
    )
