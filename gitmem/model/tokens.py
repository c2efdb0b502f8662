"""The tokenizer: one for what is indexed, what is asked and what is compared for near-duplicates.

The unit is the chunk between two spaces, and a chunk gives the same tokens wherever it stands, so a query made
of words of a text is always a subset of that text's tokens. A chunk gives, from the outside in: a flag as it is
written (`--no-header`), a name with its sigil (`.env`, `@acme/ui-kit`, `#12`), a path and a dotted name as
written, a version and its leading parts, the joined form of a kebab, snake or camel name (so `pre-commit`,
`pre_commit` and `preCommit` are one), and the stems of its words. Scripts without spaces give pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Final

from gitmem.model.pattern import pattern

_TOKENS_VERSION: Final = 2
LONGEST: Final = 200  # characters of one token; tantivy refuses terms over 65,530 bytes, nobody types 200

_REMEMBERED: Final = 64  # characters of a name whose tokens are kept for the next time it is met

# Every character over ASCII that is left after `_clean` belongs to a word. Said by what is no part of one: a class
# that runs to the last code point takes Python 15 ms to compile.
_WORD: Final = r"[^\x00-/:-@\[-^`{-\x7f]+"
_CHAIN: Final = pattern(
    rf"(?P<flag>(?<![^\x00-,./:-@\[-^`{{-\x7f])--?(?=[A-Za-z]))?(?P<sigil>[@#$.](?![@#$.]))?"
    rf"(?P<name>{_WORD}(?:(?:[.\-/\\']|::){_WORD})*)(?P<tail>\+\+|#(?!{_WORD}))?"
)
_SEGMENT: Final = pattern(r"[/\\]|::")
_DOT: Final = pattern(r"\.(?![0-9])|(?<![0-9])\.")  # a dot between two digits belongs to a version
_VERSION: Final = pattern(r"([^\W\d_]*)([0-9]+(?:\.[0-9]+)+)(\w*)")
_HASH: Final = pattern(r"(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,200}")
_SHORT_HASH: Final = 7
_CAMEL: Final = pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
# Thai, Lao, Myanmar, Hangul, Khmer, kana, Han.
_UNSPACED: Final = pattern(
    r"[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3100-\u318f\u31f0-\u31ff"
    r"\u3400-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U0001b000-\U0001b16f\U00020000-\U0003ffff]+"
)
# Hebrew and Arabic points, and the Arabic stretching mark: words are typed without them.
_POINTS: Final = frozenset(
    [*range(0x0591, 0x05BE), 0x05BF, 0x05C1, 0x05C2, 0x05C4, 0x05C5, 0x05C7, *range(0x0610, 0x061B), 0x0640,
     *range(0x064B, 0x0660), 0x0670, *range(0x06D6, 0x06DD), *range(0x06DF, 0x06E5), 0x06E7, 0x06E8,
     *range(0x06EA, 0x06EE)]
)  # fmt: skip
_ACCENTS: Final = pattern(r"[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]+")
_LETTERS: Final = str.maketrans({"ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"})
_PUNCTUATION: Final = {"\u2010": "-", "\u2019": "'", "\u02bc": "'"}
# Endings that are Spanish and hardly ever English; such a word gives its Spanish stem as well.
_SPANISH: Final = pattern(
    r"(?:ci[oó]n(?:es)?|mente|dad(?:es)?|[ai]d[oa]s?|ando|iendo|aron|ieron|ab[ao]n?|amos|emos|imos|.{3}[ai]r|.{2}[áéíóúñ].*)$"
)


def tokens_version() -> str:
    """What the tokens depend on: an index built under another value has to be built again."""
    import Stemmer

    return f"{_TOKENS_VERSION}-{Stemmer.version()}-{unicodedata.unidata_version}"


def tokens(text: str, languages: tuple[str, ...] = ()) -> list[str]:
    """The tokens of `text` in reading order, with repetitions. Linear in its length; never raises.

    languages: Snowball stemmers whose stems count beside the English and Spanish ones; an unknown name changes nothing.
    No token holds a space, a control, a surrogate or more than `LONGEST` characters.
    """
    out: list[str] = []
    for chunk in _clean(text).split():
        for match in _CHAIN.finditer(chunk):
            pieces = match["flag"] or "", match["sigil"] or "", match["name"], match["tail"] or ""
            out += (_chain if len(pieces[2]) <= _REMEMBERED else _chain_tokens)(*pieces, languages)
    return [token[:LONGEST] for token in out]


def _clean(text: str) -> str:
    """Compatibility-normalised text without invisible characters and points; symbols over ASCII become spaces."""
    if text.isascii():
        return text
    invisible = {ord(c): None for c in set(text) if c > "\x7f" and unicodedata.category(c) == "Cf"}
    text = unicodedata.normalize("NFKC", text.translate(invisible))
    return text.translate({ord(c): _replacement(c) for c in set(text) if c > "\x7f"})


def _replacement(char: str) -> str:
    if char in _PUNCTUATION:
        return _PUNCTUATION[char]
    category = unicodedata.category(char)
    if ord(char) in _POINTS or category == "Cf":
        return ""
    return " " if category[0] in "PSZC" else char


@lru_cache(maxsize=16384)
def _chain(flag: str, sigil: str, name: str, tail: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_chain_tokens(flag, sigil, name, tail, languages))


def _chain_tokens(flag: str, sigil: str, name: str, tail: str, languages: tuple[str, ...]) -> Iterator[str]:
    exact = _fold(name.replace("\\", "/")) if len(name) <= LONGEST else ""
    if exact and flag:
        yield flag + exact
    if exact and sigil:
        yield sigil + exact
    if exact and tail:
        yield exact + tail
        if len(exact) == 1:
            return  # C++ and C# are not C
    segments = _SEGMENT.split(name)
    if len(segments) > 1 and exact:
        yield exact
    for segment in segments:
        dotted = _DOT.split(segment)
        if len(dotted) > 1 and len(segment) <= LONGEST:
            yield _fold(segment)
        for piece in dotted:
            yield from _name(piece, languages)


def _name(piece: str, languages: tuple[str, ...]) -> Iterator[str]:
    """A kebab, snake or camel name, perhaps with an apostrophe or a version in it."""
    piece = piece.removesuffix("'s").removesuffix("'S")
    words = [word for part in re.split(r"[-']", piece) for word in _parts(part)]
    if len(words) > 1 and len(piece) <= LONGEST and not any("." in word for word in words):
        yield from _word("".join(words), languages)
    if piece.startswith("_") or piece.endswith("_") or ("_" in piece and "." in piece):
        yield _fold(piece[:LONGEST])
    for word in words:
        if "." in word:
            yield from _version(word, languages)
        elif len(word) > 1 or "'" not in piece:
            yield from _word(word, languages)


def _parts(name: str) -> list[str]:
    """The words of a snake or camel name; a version stays whole."""
    parts: list[str] = []
    for word in name.split("_"):
        if "." in word or _HASH.fullmatch(word) or (word.islower() and word.isalpha()):
            parts.append(word)
        elif word:
            parts += _camel(word)
    return parts


def _camel(word: str) -> list[str]:
    """`parseHTTPResponse2` as parse, HTTP, Response, 2. A digit beside a lone letter stays with it: E0308, k8s."""
    pieces = [match[0] for match in _CAMEL.finditer(word)] if word.isascii() else _camel_of_any_script(word)
    out: list[str] = []
    for piece in pieces:
        if out and (
            (piece.isdigit() and len(out[-1]) == 1 and not out[-1].isdigit())
            or (len(piece) == 1 and not piece.isdigit() and out[-1][-1].isdigit())
        ):
            out[-1] += piece
        else:
            out.append(piece)
    return out


def _camel_of_any_script(word: str) -> list[str]:
    cuts = [0]
    for position in range(1, len(word)):
        before, here = word[position - 1], word[position]
        if before.isdigit() != here.isdigit() or (here.isupper() and before.islower()):
            cuts.append(position)
        elif here.islower() and before.isupper() and position - 1 > cuts[-1]:
            cuts.append(position - 1)
    return [word[start:end] for start, end in zip(cuts, [*cuts[1:], len(word)], strict=True)]


def _version(text: str, languages: tuple[str, ...]) -> Iterator[str]:
    """A version as written and by its leading parts: 2.10.1 is asked for by 2.10, and not by 2.1."""
    text = text[:LONGEST]
    match = _VERSION.fullmatch(text)
    if match is None:
        yield _fold(text)
        return
    letters, numbers, suffix = match.groups()
    if letters or suffix:
        yield _fold(text)
    for beside in (letters, suffix):
        if len(beside) > 1 or _UNSPACED.search(beside):
            for word in _parts(beside):
                yield from _word(word, languages)
    end = len(numbers)
    while end > 0 and "." in numbers[:end] and end <= LONGEST:
        yield numbers[:end]
        end = numbers.rfind(".", 0, end)


def _word(word: str, languages: tuple[str, ...]) -> Iterator[str]:
    """The stem of one word; of an accented word also the stem without accents; pairs of unspaced scripts."""
    if not word.isascii() and _UNSPACED.search(word):
        yield from _unspaced(word, languages)
        return
    word = _fold(word[:LONGEST])
    if _HASH.fullmatch(word):
        yield word
        if len(word) > _SHORT_HASH:
            yield word[:_SHORT_HASH]
        return
    stems = [_stem(word)]
    if not word.isascii():
        plain = _ACCENTS.sub("", unicodedata.normalize("NFD", word)).translate(_LETTERS)
        stems.append(_stem(unicodedata.normalize("NFKC", plain)))
    if _SPANISH.search(word):
        stems.append(_stem_in("spanish", word))
    stems += [_stem_in(language, word) for language in languages if word.isalpha()]
    yield from dict.fromkeys(stem for stem in stems if stem)


def _unspaced(word: str, languages: tuple[str, ...]) -> Iterator[str]:
    end = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > end:
            yield from _word(word[end : run.start()], languages)
        characters = run[0]
        yield from (characters[i : i + 2] for i in range(max(len(characters) - 1, 1)))
        end = run.end()
    if end < len(word):
        yield from _word(word[end:], languages)


def _fold(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text.casefold())


def _stem(word: str) -> str:
    return _stemmer("english")(word) if len(word) > 2 and word.isalpha() else word


def _stem_in(language: str, word: str) -> str:
    """The stem without accents; the word itself where there is no such stemmer."""
    try:
        stem = _stemmer(language)(word)
    except KeyError:
        stem = word
    return _ACCENTS.sub("", unicodedata.normalize("NFD", stem))


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    import Stemmer

    stem: Callable[[str], str] = Stemmer.Stemmer(language).stemWord
    return stem
