"""A mail as a text: its subject, who wrote to whom and when, and what they wrote."""

from __future__ import annotations

from dataclasses import dataclass

from corpus2skill.adapters.extract.html import read_page
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.text_builder import TextBuilder, require_characters
from corpus2skill.adapters.extract.text_shape import is_blank, normalised
from corpus2skill.domain.corpus import ExtractedText


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """What is read of a mail, whatever format it came in."""

    subject: str
    headers: tuple[tuple[str, str], ...]
    """`From`, `To`, `Cc`, `Date` as far as they are there."""
    plain: str = ""
    html: str = ""
    """The body as a page; read where there is no plain one."""


def mail_text(mail: Mail, limits: Limits) -> ExtractedText:
    """Return the text of a mail; an empty one where there is neither a subject nor a body.

    Raises:
        SourceRefused: `too_large`, or `corrupt` for a body that cannot be read as a page.
    """
    builder = TextBuilder(characters=limits.max_characters)
    if is_blank(mail.subject + mail.plain + mail.html):
        return builder.build()
    builder.heading(mail.subject, 1)
    builder.paragraph("\n".join(f"{name}: {words}" for name, words in mail.headers if words))
    if not is_blank(mail.plain):
        require_characters(len(mail.plain), limits.max_characters)
        builder.paragraph(normalised(mail.plain))
    elif not is_blank(mail.html):
        read_page(b"\xef\xbb\xbf" + mail.html.encode("utf-8"), builder, limits)
    return builder.build(title=mail.subject or None)
