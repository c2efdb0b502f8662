"""Text shaped like an instruction to whoever reads it, in English and Spanish.

A convention says what a project does ("run make test before pushing"); it may be blunt. What is caught here
speaks to its reader as a machine to be steered: it sets aside other instructions, takes on the voice of a
system or developer, opens a fake turn or tag, asks for secrecy, or orders the reader to run, fetch or send
something whatever it was asked. The labelled list is tests/policy/instruction_lines.py.
"""

# A pattern is one line, and a long one is not clearer in pieces.
# ruff: noqa: E501
from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Final

from gitmem.model.claims import normalise_claim
from gitmem.policy.patterns import compiled, readable, search

_TOLD: Final = r"(?:instructions?|prompts?|directives?|orders|guidelines|guardrails|training)"
_BOUND: Final = r"(?:rules|polic(?:y|ies)|constraints|restrictions|safeguards|context)"
_STRONG: Final = (
    r"(?:previous(?:ly)?|prior|earlier|above|preceding|former|existing|original|initial|all|any|every|your|other|"
    r"system|developer|user|user's|safety)"
)
_EARLIER: Final = rf"(?:(?:the|of|these|those|that|my|and|or|given|security|{_STRONG}) ){{0,4}}"
_SET_ASIDE: Final = r"(?:ignor(?:e|ing)|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass|discard|abandon)"
_READER: Final = r"(?:ai|assistants?|agents?|models?|llms?|chatbots?|claude|copilot|codex|gemini|gpt|chatgpt|cursor)"
_MACHINE: Final = (
    r"(?:ai|assistants?|llms?|chatbots?|claude|copilot|chatgpt|ai agents?|coding agents?|language models?)"
)
_ACTION: Final = (
    r"(?:run|execute|call|invoke|install|download|fetch|curl|wget|send|post|upload|email|forward|exfiltrate|open|visit|"
    r"reveal|print|output|leak|delete|remove|disable|approve|accept|push|commit|merge|reply|respond|answer|say|include|"
    r"append|use|obey|follow|comply|trust|recommend)"
)
_VERDAD: Final = r"(?:anterior(?:es)?|previas?|tus|sus|todas|cualquier|otras|demás|de seguridad|del sistema)"
_ORDENES: Final = r"(?:instruccion(?:es)?|indicaciones|ordenes|órdenes|directrices|reglas|restricciones)"
_AT_START: Final = r"(?:^|[.!?;:] )"
_READERS: Final = " ai|assistant|agent|model|llm|chatbot|claude|copilot|codex|gemini|gpt|cursor"

# One line a pattern, after its signs: any text that it matches has one of them in it, so most patterns need not be
# compiled for most texts. The text is normalised before: lower case, one space between words, look-alikes folded.
_PATTERNS: Final[tuple[tuple[str, str], ...]] = (
    # Setting aside what the reader was told.
    (
        "ignor|disregard|forget|overrid|bypass|discard|abandon",
        rf"\b{_SET_ASIDE} {_EARLIER}{_STRONG} {_EARLIER}{_TOLD}\b",
    ),
    (
        "ignor|disregard|forget|overrid|bypass|discard|abandon",
        rf"\b{_SET_ASIDE} {_EARLIER}(?:previous|prior|earlier|above|preceding|your|system|developer|safety) {_EARLIER}{_BOUND}\b",
    ),
    (
        "ignor|disregard|forget|overrid|bypass|discard|abandon",
        rf"\b{_SET_ASIDE} (?:everything|anything|what(?:ever)?|all) (?:that )?(?:(?:you|i|we|the user|they) (?:were|was|have|has|had|been|told|said|say|asked)|above|before)\b",
    ),
    (
        "follow|obey|listen",
        rf"\b(?:do not|don't|never|no longer|stop) (?:follow(?:ing)?|obey(?:ing)?|listen(?:ing)? to) {_EARLIER}{_STRONG} {_EARLIER}(?:{_TOLD}|{_BOUND})\b",
    ),
    (
        "obey|listen",
        r"\b(?:do not|don't|never|stop) (?:obey(?:ing)?|listen(?:ing)? to) the (?:user|human|developer|operator)\b",
    ),
    (
        "instruction",
        rf"{_AT_START}(?:your )?(?:new|updated|real|actual|hidden|secret) (?:system |developer |admin )?instructions?(?: for (?:you|the {_READER}))?:",
    ),
    (
        "overrid|supersede|replace|precedence|priority over",
        rf"\b(?:these|this|the following|my) (?:instructions?|rules?|messages?|prompt|note) (?:overrides?|supersedes?|replaces?|takes? (?:precedence|priority) over) {_EARLIER}{_STRONG} {_EARLIER}(?:{_TOLD}|{_BOUND})\b",
    ),
    (
        "ignor|olvid|descart|omite|desobedece|anula",
        rf"\b(?:ignora|ignore|ignorad|olvida|olvide|descarta|descarte|omite|desobedece|anula) (?:(?:las|los|de) )?(?:{_VERDAD} (?:las |los )?){{1,3}}{_ORDENES}\b",
    ),
    (
        "ignor|olvid|descart|omite|desobedece|anula",
        rf"\b(?:ignora|ignore|ignorad|olvida|olvide|descarta|descarte|omite|desobedece|anula) (?:las|los) {_ORDENES} {_VERDAD}(?: |$)",
    ),
    ("todo lo", r"\b(?:ignora|olvida|descarta) todo lo (?:anterior|que te (?:han dicho|dijeron|dije))"),
    (
        "sigas|obedezcas|hagas caso",
        rf"\bno (?:sigas|obedezcas|hagas caso (?:a|de)) (?:las |a las |a )?(?:{_VERDAD} {_ORDENES}|{_ORDENES} {_VERDAD}|(?:al )?usuario)\b",
    ),
    # Another voice: a system, a developer, a turn, a tag.
    (
        "<",
        r"<[/|! ]{0,3}(?:system|assistant|instructions?|tool_result|tool_call|function_calls?|im_start|im_end|endoftext|system-reminder|system_prompt|sys|inst)\b[^<>]{0,80}>",
    ),
    ("[", r"\[/?(?:inst|sys|system|assistant|system message|developer message)\]"),
    ("<", r"<<sys>>|<\|[a-z_]{2,30}\|>"),
    (
        "assistant|human|user|ai:|ai turn|ai message|ai response|ai*",
        rf"{_AT_START}(?:#{{1,6}} ?|\*\*)?(?:assistant|human|user|ai)(?: (?:turn|message|response))?(?:\*\*)?: ?(?:\*\*)?(?:i|sure|ok(?:ay)?|yes|of course|understood|certainly|please|you|ignore|now)\b",
    ),
    (
        "system|developer|admin",
        rf"{_AT_START}(?:#{{1,6}} ?|\*\*)?(?:system|developer|admin(?:istrator)?) ?(?:prompt|message|note|override|notice|instructions?)?(?:\*\*)?: ?(?:\*\*)?(?:you|your|ignore|disregard|forget|from now|do not|execute|respond|override|new|the (?:assistant|user|agent|model)|all (?:previous|prior)|safety|approve)\b",
    ),
    (
        "system|developer|admin|openai|anthropic|google|operator",
        r"\b(?:as|this is|speaking as|message from|on behalf of|authori[sz]ed by) (?:the |your |an? )?(?:system|developer|administrator|admin|openai|anthropic|google|operator)(?: (?:team|administrator|prompt|message|of this \w+)){0,2},? (?:(?:i|we) (?:am|hereby|now|order|instruct|authori[sz]e|require|command|need you|ask you|tell you)|you (?:must|should|are|will|need|may)|i'm|speaking|hereby|please)\b",
    ),
    ("i am the|i am your", r"\bi am (?:the|your) (?:system|developer|administrator|operator|creator)\b"),
    (
        "sistema|desarrollador|administrador|operador",
        r"\b(?:como|soy|habla) (?:el |la |tu )?(?:sistema|desarrollador|administrador|operador),? (?:te |debes|ahora|ordeno|y te )",
    ),
    (
        "you are|you're",
        r"\b(?:you are|you're) (?:now|hereby) (?:an? |dan\b|free|unrestricted|unfiltered|operating|acting|authori[sz]ed|required|in (?:developer|god|dan|debug|jailbreak|admin) mode)",
    ),
    ("you are no longer", r"\byou are no longer (?:bound|restricted|limited|an? |required|subject)"),
    (
        "eres ahora|ahora eres|a partir de ahora",
        r"\b(?:eres ahora|ahora eres|a partir de ahora (?:eres|debes|actúa|actua|responde|responderás))",
    ),
    (
        "from now on|henceforth|from this point on",
        r"\b(?:from now on|henceforth|from this point on),? (?:you\b|act |respond |reply |behave |answer |obey )",
    ),
    (
        "if you|though you|unrestricted|unfiltered|pretend",
        r"\b(?:act|behave|respond|reply) as (?:if you (?:are|were|have|had)|though you|an? un(?:restricted|filtered))|\bpretend (?:to be|that you|you (?:are|have))\b",
    ),
    (
        "god mode|dan mode|jailbreak|unrestricted",
        r"\b(?:enter|enable|activate|switch to) (?:god|dan|jailbreak|unrestricted) mode\b",
    ),
    # Orders to the reader, whatever it was asked.
    (
        "you",
        rf"\byou,? (?:must|shall|should|need to|have to|are required to|will) (?:also |then )?(?:always|immediately|silently|secretly|now) {_ACTION}\b",
    ),
    (
        "you",
        r"\byou (?:must|shall|should|need to|have to|will) (?:run|execute|use|call) [^.]{0,60}(?:\b(?:curl|wget|nc|base64)\b|\| ?(?:ba|z)?sh\b)",
    ),
    ("you", r"\byou (?:must|shall|should|need to|have to|will) (?:exfiltrate|reveal|obey|comply|leak)\b"),
    (
        _READERS,
        rf"\b(?:dear |hey |hi |attention,? |note (?:to|for) (?:the |any |all )?|instructions? (?:to|for) (?:the |any |all )?|to (?:the|any|all) )(?:ai |coding |language |future )?{_READER}(?: (?:agents?|models?|assistants?))?(?: (?:reading|that reads?|who reads?) this)?[:,!] ?(?:please|you|always|never|must|do not|ignore|{_ACTION})\b",
    ),
    (
        "you are|you're",
        rf"\b(?:if|when|since|because) (?:you are|you're) (?:an? )?(?:{_MACHINE}|coding {_READER}|ai {_READER})\b",
    ),
    ("as a", rf"\bas an? (?:{_MACHINE}|ai {_READER}),? you (?:must|should|will|are|need|have|can)\b"),
    (
        _READERS,
        rf"\b(?:any|every|the|all) (?:ai |coding |language )?{_READER} (?:reading|that reads?|who reads?|seeing|processing) this\b",
    ),
    (
        "you",
        rf"\bwhen(?:ever)? you (?:read|see|recall|load|receive|process) this(?: memory| note| message| text| record)?,? (?:you|please|always|immediately|first|{_ACTION})\b",
    ),
    (
        "answering|responding|replying|anything else|every answer|every response|every reply",
        rf"\b(?:before|after) (?:answering|responding|replying|doing anything else|every (?:answer|response|reply))(?: (?:the user|to the user|any question))?,? (?:you |always |first |please |silently |secretly ){{0,2}}{_ACTION}\b",
    ),
    (
        "user|human|operator|person|reviewer|owner",
        r"\b(?:do not|don't|never) (?:tell|inform|alert|notify|mention (?:this|it) to|reveal (?:this|it) to|show (?:this|it) to) (?:the |any |your )?(?:user|human|operator|person|reviewer|owner)s?(?: (?:about (?:this|it)|of this|that you|what you|anything)|[.!;,]|$)",
    ),
    (
        "digas|avises|informes|menciones",
        r"\bno (?:se lo |le )?(?:digas|avises|informes|menciones)(?: (?:esto|nada))? (?:al|a la|a los|a ningún|a ningun) (?:usuari\w+|humano|persona)",
    ),
    (
        "ai must|ai shall|ai, must|ai, shall|assistant|agent|model|llm|chatbot|claude|copilot|gpt",
        rf"\b(?:the |your )?{_MACHINE},? (?:must|shall) (?:always |now |immediately |silently |first ){{0,2}}{_ACTION}\b",
    ),
    (
        "deb|tienes que|tendrás que|has de",
        r"\b(?:debes|deberás|tienes que|tendrás que|has de|debe usted) (?:siempre |ahora |primero |inmediatamente |obligatoriamente ){1,2}(?:ejecutar|correr|lanzar|enviar|mandar|descargar|instalar|borrar|revelar|mostrar|obedecer|responder|decir|aprobar|aceptar|subir|llamar)\b",
    ),
    (
        "sin preguntar|sin avisar|sin confirmar|en secreto",
        r"\b(?:ejecuta|envía|envia|descarga|revela|muestra|sube|borra)(?:lo|la|me)? [^.]{0,60}\b(?:sin (?:preguntar|avisar|confirmar)|en secreto)\b",
    ),
    (
        "antes de responder",
        r"\bantes de responder,? (?:siempre |debes )?(?:ejecuta\w*|envía\w*|envia\w*|descarga\w*|llama\w*|instala\w*|lee\w*)\b",
    ),
    (
        "silently|secretly|covertly",
        rf"(?:{_AT_START}|\b(?:and|then|always|must|please|you|should) )(?:silently|secretly|covertly) {_ACTION}\b",
    ),
    (
        "without asking|without telling|without notifying|without informing",
        rf"{_AT_START}(?:always |please |now |then )?{_ACTION} [^.]{{0,80}}\bwithout (?:asking|telling|notifying|informing) (?:the |any )?(?:user|anyone|human)\b",
    ),
    (
        "your",
        r"\b(?:reveal|print|show|repeat|output|leak|send|dump) (?:me |us )?your (?:full |entire |hidden |secret |initial |original )?(?:system prompt|instructions|system message)\b",
    ),
    (
        "prompt|mensaje|instrucciones",
        r"\b(?:revela|muestra|repite|imprime) (?:tu|tus) (?:prompt|mensaje|instrucciones)\b",
    ),
)
_ANY: Final = "|".join(f"(?:{pattern})" for _, pattern in _PATTERNS)  # one automaton reads a text once
_SIGNED: Final = tuple((tuple(signs.split("|")), pattern) for signs, pattern in _PATTERNS)
_FEW: Final = 12  # patterns that are compiled sooner one by one than all as one
_MANY: Final = 100  # looks after which all as one are worth compiling
_LOOKS: Final = count()
_NAME: Final = re.compile(r"[\w.:/+-]*", re.ASCII).fullmatch  # an id, a digest, a path: no space and no bracket


def instruction(text: str) -> bool:
    """True when `text`, or one of its lines, addresses its reader. Spelling tricks that look the same do not help."""
    return any(
        compiled(pattern).search(readable(reading)) for reading in _readings(text) for pattern in _possible(reading)
    )


def may_instruct(texts: Iterable[str]) -> bool:
    """False only when none of `texts` is an instruction: one look at all of them."""
    spoken = "\n".join({reading for text in texts if not _NAME(text) for reading in _readings(text)})
    if next(_LOOKS) > _MANY:
        return search(_ANY, spoken)
    return any(search(pattern, spoken) for pattern in _possible(spoken))


def _readings(text: str) -> list[str]:
    """The whole as one line, and each line. Only what has a space, "<" or "[" in it, as what is looked for has."""
    lines = text.splitlines()
    readings = {normalise_claim(text), *map(normalise_claim, lines)} if len(lines) > 1 else (normalise_claim(text),)
    return [reading for reading in readings if " " in reading or "<" in reading or "[" in reading]


def _possible(reading: str) -> Sequence[str]:
    """The patterns that may match."""
    possible = [pattern for signs, pattern in _SIGNED if any(sign in reading for sign in signs)]
    return possible if len(possible) <= _FEW else (_ANY,)
