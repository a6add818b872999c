"""The text of a node file: how it is written and how it is read back.

A summary node is front matter, title, summary and the list of children; a leaf is front matter, title,
summary, a rule and the body. The files are the tree: a reader needs nothing but them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from corpus2skill.domain.ids import SUMMARY_FILE, is_doc_id, is_slug
from corpus2skill.domain.language import Language
from corpus2skill.domain.tree import Child, NodeType

CHILDREN_HEADING: dict[Language, str] = {"ja": "## 子ノード", "en": "## Children"}
TWINS_LABEL: dict[Language, str] = {"ja": "同文", "en": "same text"}
TABLE_HEADER_LABEL: dict[Language, str] = {"ja": "表の見出し行", "en": "Table header"}

_FENCE = "---"
_CHILD = re.compile(r"- \[(?P<title>(?:[^\]\\]|\\.)*)\]\((?P<link>[^)\s]+)\)(?: — (?P<summary>.*))?")
_BODY_RULE = "---\n\n"
_LINK_JOINT = re.compile(r"\](\\*)\(")
"""Where a Markdown link's text meets its target, with any number of backslashes between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryNodeFile:
    """A parsed `SKILL.md`."""

    name: str
    title: str
    summary: str
    content: str
    children: tuple[Child, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeafFile:
    """A parsed `doc_chunk_N.md`."""

    title: str
    summary: str
    content: str
    source: str
    place: str
    body: str


def one_line(text: str) -> str:
    """Fold all white space of `text` into single spaces, so that it can stand in a list or a heading."""
    return " ".join(text.split())


def render_summary_node(
    *,
    name: str,
    title: str,
    summary: str,
    children: tuple[Child, ...],
    twins: dict[str, tuple[str, ...]],
    language: Language,
) -> str:
    """Return the text of a `SKILL.md`.

    `twins` maps a doc id to the doc ids whose bodies are equal to it; they are named in its line.
    """
    lines = [_FENCE, f"name: {name}", f"description: {_scalar(one_line(summary) or one_line(title))}", _FENCE]
    lines += [f"# {_linkless(title)}", "", _linkless(summary), "", CHILDREN_HEADING[language], ""]
    lines += [_child_line(child, twins.get(child.name, ()), language) for child in children]
    return "\n".join(lines) + "\n"


def _child_line(child: Child, twins: tuple[str, ...], language: Language) -> str:
    link = f"{child.name}/{SUMMARY_FILE}" if child.node_type == "skill_summary" else f"{child.name}.md"
    title = re.sub(r"([\\\[\]])", r"\\\1", one_line(child.title))
    same = f" ({TWINS_LABEL[language]}: {', '.join(twins)})" if twins else ""
    return f"- [{title}]({link}) — {_linkless(child.summary)}{same}"


def render_leaf(
    *,
    title: str,
    summary: str,
    source: str,
    place: str,
    body: str,
    table_header: str | None,
    language: Language,
) -> str:
    """Return the text of a leaf. `body` stands at the end exactly as it is, followed by one line end."""
    lines = [_FENCE, f"source: {_scalar(source)}", f"place: {_scalar(place)}", _FENCE]
    lines += [f"# {_linkless(title)}", "", _linkless(summary), ""]
    if table_header is not None:
        lines += [f"{TABLE_HEADER_LABEL[language]}: {one_line(table_header)}", ""]
    return "\n".join(lines) + "\n" + _BODY_RULE + body + "\n"


def parse_summary_node(text: str) -> SummaryNodeFile:
    """Read a `SKILL.md`.

    Raises:
        ValueError: it is not one.
    """
    front, content = _split_front_matter(text)
    title, summary, rest = _title_and_summary(content)
    heading, *lines = rest.split("\n")
    if heading not in CHILDREN_HEADING.values() or "name" not in front:
        raise ValueError("no list of children, or no name in the front matter")
    children = tuple(child for line in lines if (child := _parse_child(line)) is not None)
    return SummaryNodeFile(
        name=front["name"], title=title, summary=summary, content=content, children=children
    )


def parse_leaf(text: str) -> LeafFile:
    """Read a leaf.

    Raises:
        ValueError: it is not one.
    """
    front, content = _split_front_matter(text)
    title, summary, _ = _title_and_summary(content)
    if "source" not in front:
        raise ValueError("no source in the front matter")
    return LeafFile(
        title=title,
        summary=summary,
        content=content,
        source=front["source"],
        place=front.get("place", ""),
        body=leaf_body(content),
    )


def leaf_body(content: str) -> str:
    """Return the original text out of a leaf's `content`, the file without its front matter.

    Raises:
        ValueError: it is no leaf's content.
    """
    _, _, rest = _title_and_summary(content)
    if not rest.startswith(_BODY_RULE):
        rest = rest.partition("\n\n")[2]
    if not rest.startswith(_BODY_RULE):
        raise ValueError("no rule before the body")
    return rest[len(_BODY_RULE) :].removesuffix("\n")


def _split_front_matter(text: str) -> tuple[dict[str, str], str]:
    if not text.startswith(_FENCE + "\n"):
        raise ValueError("no front matter")
    head, found, content = text[len(_FENCE) + 1 :].partition(f"\n{_FENCE}\n")
    if not found:
        raise ValueError("front matter without an end")
    pairs = (line.partition(": ") for line in head.split("\n"))
    return {key: _unscalar(value) for key, separator, value in pairs if separator}, content


def _title_and_summary(content: str) -> tuple[str, str, str]:
    """Title, summary, and what follows. They are told by their lines: a summary may look like a rule."""
    title, *lines = content.split("\n", 4)
    if not title.startswith("# ") or len(lines) < 4 or lines[0] or lines[2]:
        raise ValueError("no title and summary")
    return _with_links(title[2:]), _with_links(lines[1]), lines[3]


def _parse_child(line: str) -> Child | None:
    match = _CHILD.fullmatch(line)
    if match is None:
        return None
    link = match["link"]
    node_type: NodeType
    if link.endswith(f"/{SUMMARY_FILE}") and is_slug(name := link[: -len(SUMMARY_FILE) - 1]):
        node_type = "skill_summary"
    elif link.endswith(".md") and is_doc_id(name := link[:-3]):
        node_type = "document"
    else:
        return None
    title = re.sub(r"\\(.)", r"\1", match["title"])
    return Child(name=name, title=title, summary=_with_links(match["summary"] or ""), node_type=node_type)


def _linkless(text: str) -> str:
    """Fold `text` into one line in which no link of a document is a link of the tree."""
    return _LINK_JOINT.sub(lambda joint: f"]\\{joint[1]}(", one_line(text))


def _with_links(text: str) -> str:
    """Undo `_linkless`."""
    return _LINK_JOINT.sub(lambda joint: f"]{joint[1][1:]}(", text)


def _scalar(text: str) -> str:
    """Quote `text` as a YAML scalar where a plain one could be misread; JSON strings are YAML 1.2 strings."""
    is_plain = (
        text
        and text == text.strip()
        and re.match(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`]", text)
        and not re.search(r":(\s|$)|\s#|[\x00-\x1f\x7f\u0085\u2028\u2029]", text)
        and not re.fullmatch(r"(?i:true|false|null|yes|no|on|off|~|[\d.+\-_eoxa-f:]+|\.inf|\.nan)", text)
    )
    return text if is_plain else json.dumps(text, ensure_ascii=False)


def _unscalar(text: str) -> str:
    return str(json.loads(text)) if text.startswith('"') else text
