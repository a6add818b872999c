"""Text as it can be spoken: no mark-up, no addresses, no ids, no numbers of sources.

What has a sound is kept or put into words; what is only for the eye is dropped.
"""

from __future__ import annotations

import html
import re
import unicodedata

from corpus2skill.domain.language import Language
from corpus2skill.messages import message
from corpus2skill.navigator.citation import without_markers

_PASSES = 20
"""More than any text needs: what stands around something taken away may make up another one."""
_URL_CHARS = r"[A-Za-z0-9\-._~:/?#@!$&'*+,;=%]"
_ADDRESS = (
    rf"<?(?:(?<![A-Za-z0-9+.\-])[A-Za-z][A-Za-z0-9+.\-]*://|www\."
    rf"|(?<![A-Za-z0-9@.\-])(?:[A-Za-z0-9-]+\.)+[A-Za-z]{{2,}}/|://){_URL_CHARS}*(?<![.,:;!?'])>?"
)
_URL_ALONE = re.compile(
    rf"[(（\[［【「『]\s*(?:URL\s*[:：]\s*)?{_ADDRESS}\s*[)）\]］】」』]|^[ \t]*{_ADDRESS}[ \t]*$",
    re.MULTILINE,
)
_URL = re.compile(rf"[ \t]*{_ADDRESS}[ \t]*")
_MAIL_TO = re.compile(r"\bmailto:", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()\s]*(?:\s+\"[^\"]*\")?\)|\[[^\[\]]*\])")
_LINK_TARGET = re.compile(r"^\s*\[[^\[\]]+\]:.*$", re.MULTILINE)
_SOURCE_NUMBER = re.compile(r"[\[［【]\s*\^?\s*\d{1,3}(?:\s*[,、，†-]\s*(?:\d{1,3}|source))*\s*[\]］】]")
_IDS = re.compile(
    r"(?:(?<![a-z0-9-])(?:[a-z0-9-]+/)+)?SKILL\.md|(?:doc_)?chunk_\d+(?:\.md)?|\b(?:run|session)_[0-9a-z]{26}\b",
    re.IGNORECASE,
)
_TAG = re.compile(r"</?[A-Za-z][^<>\n]*>|<!--.*?-->", re.DOTALL)
_LINE_BREAK_TAG = re.compile(r"<br\s*/?>|</(?:p|li|tr|div|h\d)>", re.IGNORECASE)
_FENCE = re.compile(r"^\s*(?:```|~~~).*$", re.MULTILINE)
_RULE = re.compile(r"^[ \t]*(?:[-*_=][ \t]*){3,}$", re.MULTILINE)
_LINE_MARKS = re.compile(
    r"^[ \t\u3000]*(?:(?:#{1,6}|[>＞]|[-*+–—•‣◦・●■◆▪▶►]|[○◇□]|[(（]\d{1,2}[)）]|\d{1,2}[)）]|\d{1,2}[.．](?![\d０-９])"
    r"|[①-⑳])(?:[ \t\u3000]+|(?<=[・•●■◆▪▶►○◇□)）．①-⑳])))+",
    re.MULTILINE,
)
_TASK = re.compile(r"^\[[ xX]\][ \t]+", re.MULTILINE)
_TABLE_RULE = re.compile(r"^[ \t]*\|?[ \t:\-]*-[ \t:\-|]*\|[ \t:\-|]*$", re.MULTILINE)
_EMPHASIS = re.compile(r"[*`]+|~~|(?<![A-Za-z0-9])_+|_+(?![A-Za-z0-9])|__+")
_TIMES = re.compile(r"(?<=\d)[ \t]*\*[ \t]*(?=\d)")
_RANGE = re.compile(
    r"(?:(?<=[^\W_ぁ-ゖー])[ \t]*[～〜~][ \t]*(?=\w)|(?<=[\d年月日時分円条項名人%％])[ \t]*[～〜~])"
)
_ARROW = re.compile(r"\s*(?:[→⇒➡⇨]|[-=]+>)\s*")
_HALF_WIDTH_KANA = re.compile(r"[\uff61-\uff9f]+")
_EMPTY_BRACKETS = re.compile(r"[(（\[［【「『〈《]\s*[)）\]］】」』〉》]|\"\s*\"")
_SPACE_BEFORE_MARK = re.compile(r"[ \t\u3000]+(?=[。、，．！？」』）】]|[.,!?;:](?:\s|$))")
_COMMAS = re.compile(r"[、,]\s*(?=[、。,.!?！？])")
_JAPANESE = re.compile(r"[\u3041-\u30ff\u3400-\u9fff]")
_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_SPACES = re.compile(r"[^\S\n]+")
_DROPPED = dict.fromkeys(map(ord, "※★☆■□◆◇●▲△▼▽►▶♪♫†‡¶|｜◎～〜~"))


def speakable(text: str, language: Language) -> str:
    """Return what of `text` can be spoken, one paragraph or item a line; empty where there is nothing.

    What is speakable already comes back as it is.
    """
    for _ in range(_PASSES):
        before, text = text, _pass(text, language)
        if text == before:
            break
    return text


def _pass(text: str, language: Language) -> str:
    text = _SPACES.sub(" ", _visible(_LINE_END.sub("\n", html.unescape(text))))
    text = _without_structure(text)
    text = _without_references(text, language)
    text = _in_words(text, language)
    lines = (_tidy(line) for line in text.split("\n"))
    return "\n".join(line for line in lines if any(char.isalnum() for char in line))


def _visible(text: str) -> str:
    """Drop control characters and pictures, widen half-width kana."""
    text = _HALF_WIDTH_KANA.sub(lambda kana: unicodedata.normalize("NFKC", kana[0]), text)
    return "".join(char for char in text if char == "\n" or _has_sound(char))


def _has_sound(char: str) -> bool:
    match unicodedata.category(char):
        case "Cc":
            return char == "\t"
        case "Cf" | "Cs" | "Co" | "Cn":
            return False
        case "So":
            return char in "°〒" or unicodedata.normalize("NFKC", char) != char
        case _:
            # How a character looks: its variant, the colour of its skin.
            return not (0xFE00 <= ord(char) <= 0xFE0F or 0x1F3FB <= ord(char) <= 0x1F3FF)


def _without_structure(text: str) -> str:
    """Take away what gives a text its form on a page."""
    text = _TAG.sub("", _LINE_BREAK_TAG.sub("\n", text))
    for pattern in (_FENCE, _RULE, _TABLE_RULE, _LINE_MARKS, _TASK):
        text = pattern.sub("", text)
    return "\n".join(_row(line) if "|" in line else line for line in text.split("\n"))


def _row(line: str) -> str:
    """A table's row as a list."""
    comma = "、" if _JAPANESE.search(line) else ", "
    return comma.join(cell.strip() for cell in line.split("|") if cell.strip())


def _without_references(text: str, language: Language) -> str:
    """Take away what points elsewhere. An address within a sentence leaves a noun, or the sentence would limp."""
    text = _LINK.sub(_link_text, _LINK_TARGET.sub("", text))
    page = message(language, "voice.web_page")
    text = _URL.sub(page if language == "ja" else f" {page} ", _URL_ALONE.sub("", text))
    text = _IDS.sub("", without_markers(_MAIL_TO.sub("", text)))
    return _SOURCE_NUMBER.sub("", text)


def _link_text(link: re.Match[str]) -> str:
    """The words of a link; a number is only one of a source."""
    return "" if link[1].strip(" ^").isdigit() else link[1]


def _in_words(text: str, language: Language) -> str:
    """Put signs into words, or drop them."""
    text = _EMPHASIS.sub("", _TIMES.sub("×", text))
    text = _RANGE.sub(message(language, "voice.range"), text)
    text = _ARROW.sub("、" if language == "ja" else ", ", text)
    text = text.replace("〒", message(language, "voice.postal_code"))
    return text.replace("](", " ").replace("_", " ").translate(_DROPPED)


def _tidy(line: str) -> str:
    """Close the gaps that what was taken away has left."""
    line = _EMPTY_BRACKETS.sub("", line)
    line = _COMMAS.sub("", _SPACE_BEFORE_MARK.sub("", line))
    return _SPACES.sub(" ", line).strip(" 、,")
