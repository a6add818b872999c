"""Elements of Office's XML: found by local names, since the transitional and the strict namespaces differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol, cast

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - compiled, and ships no types

from corpus2skill.errors import SourceRefused

_MOST_AT_ONCE = 10_000_000
"""Bytes of one text or attribute, as the parser bounds them."""


class Element(Protocol):
    """What is used of an element of lxml."""

    @property
    def tag(self) -> object: ...
    @property
    def text(self) -> str | None: ...
    @property
    def tail(self) -> str | None: ...
    @property
    def attrib(self) -> Mapping[str, str]: ...
    def get(self, key: str, default: str = ...) -> str: ...
    def iter(self) -> Iterator[Element]: ...
    def __iter__(self) -> Iterator[Element]: ...


def parsed(data: bytes) -> tuple[Element, bool]:
    """Return the root of a part, and whether the part declares a DTD. No entity is ever expanded or fetched.

    Raises:
        SourceRefused: as `refusal_of`.
    """
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise refusal_of(error, data) from error
    return cast("Element", root), bool(root.getroottree().docinfo.doctype)


def refusal_of(error: Exception, data: bytes) -> SourceRefused:
    """Return what an error of the parser says of a part that is or begins with `data`.

    `hostile`: entities that stand for ever more or for themselves, or elements nested deeper than any
    document's. `too_large`: one text of it. `corrupt`: everything else.
    """
    code = error.code if isinstance(error, etree.XMLSyntaxError) else None  # pyright: ignore[reportAttributeAccessIssue] - as above
    has_dtd = b"<!DOCTYPE" in data.replace(b"\0", b"")  # UTF-16, too
    if has_dtd or code == etree.ErrorTypes.ERR_ENTITY_LOOP:
        return SourceRefused("hostile", "dtd")
    if "Excessive depth" in str(error):  # releases of the parser differ in its code
        return SourceRefused("hostile", "nesting")
    if code == etree.ErrorTypes.ERR_RESOURCE_LIMIT:
        return SourceRefused("too_large", "element", limit=_MOST_AT_ONCE)
    return SourceRefused("corrupt")


def local(element: Element) -> str:
    """Return an element's name without its namespace (the transitional and the strict one differ)."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def child(element: Element | None, *path: str) -> Element | None:
    """Return the first descendant along `path` of local names."""
    for name in path:
        if element is None:
            return None
        element = next((inner for inner in element if local(inner) == name), None)
    return element


def value(element: Element | None, name: str = "val") -> str | None:
    """Return an attribute by its local name."""
    if element is None:
        return None
    return next((text for key, text in element.attrib.items() if str(key).rpartition("}")[2] == name), None)


def whole(element: Element | None, name: str = "val") -> int | None:
    text = value(element, name)
    try:
        return int(text) if text else None
    except ValueError:
        return None


def is_on(element: Element | None) -> bool:
    """True for a switch that is there and not turned off."""
    return element is not None and value(element) not in {"0", "false", "off", "none"}
