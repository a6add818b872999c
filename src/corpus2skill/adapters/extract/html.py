"""HTML: what a reader of the page reads; navigation, scripts and hidden parts are left out."""

from __future__ import annotations

import re

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - compiled, and ships no types
from lxml.html import HtmlElement, HTMLParser, document_fromstring

from corpus2skill.adapters.extract.html_blocks import PageReader
from corpus2skill.adapters.extract.html_parts import is_left_out, is_named, text_of
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.text_builder import TextBuilder, require_characters
from corpus2skill.adapters.extract.text_encoding import decoded, decoded_as
from corpus2skill.adapters.extract.text_look import require_readable
from corpus2skill.adapters.extract.text_shape import is_blank
from corpus2skill.domain.corpus import ExtractedText
from corpus2skill.errors import SourceRefused

_DECLARED = re.compile(
    rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)|<\?xml[^>]+encoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE
)
_DECLARED_WITHIN = 4096
_SUBSET = re.compile(
    r"""\A(\s*+(?:(?:<\?[^>]*+>|<!--.*?-->)\s*+)*+<!doctype\s(?:[^]<>["']++|"[^"]*+"|'[^']*+')*+)"""
    r"""\[(?:[^]<"']++|"[^"]*+"|'[^']*+'|<!--.*?-->|<\?.*?\?>|<(?!!--|\?))*+\]""",
    re.IGNORECASE | re.DOTALL,
)
"""Definitions of its own that a page of XHTML may begin with, which readers of HTML take for words."""
_SINGLE_BYTE = re.compile(r"^(iso-?8859|windows-?125|latin|us-ascii|ascii|cp125)", re.IGNORECASE)
_MARKUP = 10
"""A page may have this many times the characters of its text."""
_DEEPEST = 100
_MAIN_SHARE = 0.3
"""A main part that holds less of the page's text than this is not what it says."""


def extract_html(data: bytes, limits: Limits) -> ExtractedText:
    """Return the text of a page.

    Raises:
        SourceRefused: `undecodable`, `corrupt`, `too_large`.
    """
    builder = TextBuilder(characters=limits.max_characters)
    title = read_page(data, builder, limits)
    return builder.build(title=title)


def read_page(data: bytes, builder: TextBuilder, limits: Limits) -> str | None:
    """Read a page into a text that may hold more, as a book's or a mail's does; return the page's title.

    Raises:
        SourceRefused: `undecodable`, `corrupt`, `too_large`.
    """
    page = _parsed(_SUBSET.sub(r"\1", _characters(data), count=1), limits)
    PageReader(builder).read(_main_part(page))
    return _title(page)


def _characters(data: bytes) -> str:
    """Decode as the page declares, unless its bytes say something else."""
    declared = _DECLARED.search(data[:_DECLARED_WITHIN])
    if not declared or data.startswith((b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")):
        return decoded(data)
    label = (declared.group(1) or declared.group(2)).decode("ascii")
    text = None if label.lower().startswith("utf-16") else decoded_as(data, label)
    if text is None or (_SINGLE_BYTE.match(label) and not data.isascii()):
        return decoded(data)
    require_readable(text)
    return text


def _parsed(text: str, limits: Limits) -> HtmlElement:
    require_characters(len(text), limits.max_characters * _MARKUP)
    parser = HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, no_network=True, huge_tree=True
    )
    try:
        page = document_fromstring(text.encode("utf-8", "ignore"), parser=parser)
    except (etree.LxmlError, ValueError) as error:
        raise SourceRefused("empty" if is_blank(text) else "corrupt") from error
    if any("depth" in entry.message for entry in parser.error_log):
        raise SourceRefused("hostile", "nesting")  # the parser drops what lies deeper
    _flatten(page)
    return page


def _flatten(page: HtmlElement) -> None:
    """Take out elements nested deeper than any page means to: they come of tags that nobody closed."""
    depths = {page: 0}
    for element in list(page.iterdescendants()):
        parent = element.getparent()
        depths[element] = depths.get(parent, 0) + 1 if parent is not None else 0
    for element, depth in depths.items():
        if depth > _DEEPEST and is_named(element):
            element.drop_tag()


def _main_part(page: HtmlElement) -> HtmlElement:
    body = page.find("body")
    if body is None:
        return page
    mains = [
        element
        for element in body.iter("main", "article", "div")
        if (element.tag in {"main", "article"} or element.get("role") == "main") and not is_left_out(element)
    ]
    if len({element.tag for element in mains}) > 1:
        mains = [element for element in mains if element.tag != "article"]
    if len(mains) != 1 or len(text_of(mains[0])) < _MAIN_SHARE * len(text_of(body)):
        return body
    return mains[0]


def _title(page: HtmlElement) -> str | None:
    firsts = [heading for heading in page.iter("h1") if not is_left_out(heading) and text_of(heading)]
    if len(firsts) == 1:
        return text_of(firsts[0])
    title = next((element for element in page.iter("title") if is_named(element)), None)
    return text_of(title) or None if title is not None else None
