"""Which parts of a page a reader reads, and the words in them."""

from __future__ import annotations

import re

from lxml.html import HtmlElement

BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "html",
        "legend",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
    ]
)
HEADINGS = {"h1": 1, "h2": 2, "h3": 3, "h4": 4, "h5": 5, "h6": 6}

_LEFT_OUT = frozenset(
    [
        "audio",
        "button",
        "canvas",
        "datalist",
        "embed",
        "head",
        "iframe",
        "img",
        "input",
        "link",
        "map",
        "math",
        "meta",
        "nav",
        "noscript",
        "object",
        "option",
        "rp",
        "rt",
        "script",
        "select",
        "style",
        "svg",
        "template",
        "textarea",
        "title",
        "video",
    ]
)
_LEFT_OUT_ROLES = frozenset({"navigation", "banner", "contentinfo", "search", "menu", "menubar", "tablist"})
_LEFT_OUT_CLASSES = frozenset(
    {
        "nav",
        "navbar",
        "navheader",
        "navfooter",
        "navigation",
        "breadcrumb",
        "breadcrumbs",
        "skip-link",
        "pagetop",
    }
)
_CONTENTS_CLASSES = frozenset({"toc", "contents", "table-of-contents", "toc_container", "ez-toc-container"})
_CONTENTS_SHARE = 0.8
"""A list of contents is nearly all links."""
_INVISIBLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_CJK = "\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
_WRAPPED = re.compile(rf"(?<=[{_CJK}])[ \t\r\n]+(?=[{_CJK}])")
_WHITE = re.compile(r"[ \t\r\n\f\xa0]+")


def is_named(element: HtmlElement) -> bool:
    """False for comments and processing instructions, whose tag is no name."""
    return isinstance(element.tag, str)


def is_left_out(element: HtmlElement) -> bool:
    """True for what is hidden, works the page, or leads around the site."""
    if not is_named(element):
        return True
    tag = str(element.tag)
    if tag in _LEFT_OUT:
        return tag != "button" or not _is_in_heading(element)
    if tag in {"header", "footer"}:
        return _is_of_the_site(element)
    if tag == "dialog" and element.get("open") is None:
        return True
    return (
        _is_hidden(element)
        or element.get("role") in _LEFT_OUT_ROLES
        or _has_class(element, _LEFT_OUT_CLASSES)
        or _is_list_of_contents(element)
    )


def text_of(element: HtmlElement) -> str:
    """Return the words of an element in one line."""
    return collapsed("".join(_pieces(element))).strip()


def collapsed(text: str) -> str:
    """Fold white space as a browser does; a line that wraps between Japanese characters gets no space."""
    return _WHITE.sub(" ", _WRAPPED.sub(_unwrapped, text))


def _unwrapped(gap: re.Match[str]) -> str:
    return "" if "\n" in gap.group() or "\r" in gap.group() else " "


def _pieces(element: HtmlElement) -> list[str]:
    pieces = [element.text or ""]
    for inner in element:
        if not is_left_out(inner):
            edge = "\n" if inner.tag in BLOCKS or inner.tag == "br" else ""
            pieces += [edge and " ", *_pieces(inner), edge and " "]
        pieces.append(inner.tail or "")
    return pieces


def _is_hidden(element: HtmlElement) -> bool:
    hidden = element.get("hidden")
    return (
        (hidden is not None and hidden.lower() != "until-found")
        or element.get("aria-hidden") == "true"
        or bool(_INVISIBLE.search(element.get("style", "")))
    )


def _has_class(element: HtmlElement, classes: frozenset[str]) -> bool:
    return not classes.isdisjoint(element.get("class", "").lower().split())


def _is_list_of_contents(element: HtmlElement) -> bool:
    """True for a page's own list of contents: its headings again, each a link into the page."""
    if not _has_class(element, _CONTENTS_CLASSES):
        return False
    links = [link for link in element.iter("a") if "#" in link.get("href", "")]
    linked = sum(len("".join(link.itertext()).strip()) for link in links)
    return linked >= _CONTENTS_SHARE * len("".join("".join(element.itertext()).split()))


def _is_of_the_site(element: HtmlElement) -> bool:
    """A header or footer outside of every article is the site's, unless it bears the page's heading."""
    if any(above.tag in {"article", "main", "section"} for above in element.iterancestors()):
        return False
    return element.tag == "footer" or next(element.iter("h1"), None) is None


def _is_in_heading(element: HtmlElement) -> bool:
    return any(above.tag in HEADINGS or above.tag in {"dt", "summary"} for above in element.iterancestors())
