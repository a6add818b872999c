"""What a compile's prompt is about: the material in it, and the things listed in it."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SECTION = re.compile(r"^<<<(\w+) [^>]*>>>\n(.*?)(?=^<<<\w+ [^>]*>>>)", re.DOTALL | re.MULTILINE)
_ANY_BLOCK = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^>]*)?>\s*(.*?)\s*</\1>", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One line of a list: `id | title | summary`, the id "" in lists that have none."""

    item_id: str
    title: str
    summary: str

    @property
    def words(self) -> str:
        return f"{self.title} {self.summary}".strip()


def block(prompt_text: str, name: str) -> str:
    """Return what stands between `<name>` and `</name>`; "" where there is none."""
    match = re.search(rf"<{name}>\n(.*)\n</{name}>", prompt_text, re.DOTALL)
    return match[1] if match else ""


def listed(lines: str, *, has_ids: bool = True) -> list[Listed]:
    found: list[Listed] = []
    for line in filter(str.strip, lines.splitlines()):
        first, *rest = line.split(" | ")
        title = (rest[0] if rest else "") if has_ids else first
        summary = " | ".join(rest[1:] if has_ids else rest)
        found.append(Listed(item_id=first.strip() if has_ids else "", title=title, summary=summary))
    return found


def material(prompt_text: str) -> tuple[str, str]:
    """Return the last heading and the text that a prompt is about; the longest block in tags, or all, in others."""
    sections = {match[1]: match[2].strip("\n") for match in _SECTION.finditer(prompt_text)}
    if "text" in sections:
        return sections.get("headings", "").split(" › ")[-1], sections["text"]
    blocks = [match[1] for match in _ANY_BLOCK.findall(prompt_text)]
    return "", max(filter(str.strip, blocks), key=len, default=prompt_text)
