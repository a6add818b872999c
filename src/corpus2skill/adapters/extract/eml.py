"""Mails as they travel (.eml, RFC 5322): the body and what is attached to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.errors import MessageError
from email.message import Message
from email.policy import compat32
from email.utils import collapse_rfc2231_value
from typing import cast

from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.mail_bounds import require_bounded
from corpus2skill.adapters.extract.mail_text import Mail, mail_text
from corpus2skill.adapters.extract.mail_words import body_text, header_date, header_text
from corpus2skill.adapters.extract.text_shape import is_blank
from corpus2skill.domain.corpus import ExtractedText
from corpus2skill.errors import SourceRefused

_SHOWN = ("From", "To", "Cc")
_SEALED = frozenset({"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"})
_NOT_DOCUMENTS = frozenset(
    {
        "application/pgp-signature",
        "application/pkcs7-signature",
        "application/x-pkcs7-signature",
        "text/calendar",
    }
)
_OFFICE = "application/vnd.openxmlformats-officedocument"
_SUFFIXES = {
    "text/plain": ".txt",
    "text/html": ".html",
    "text/csv": ".csv",
    "message/rfc822": ".eml",
    "application/pdf": ".pdf",
    "application/zip": ".zip",
    f"{_OFFICE}.wordprocessingml.document": ".docx",
    f"{_OFFICE}.spreadsheetml.sheet": ".xlsx",
    f"{_OFFICE}.presentationml.presentation": ".pptx",
}
"""Of attachments without a name of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """One document that came with a mail. `name` may be empty."""

    name: str
    data: bytes


def extract_eml(data: bytes, limits: Limits) -> ExtractedText:
    """Return the text of a mail without its attachments.

    Raises:
        SourceRefused: `undecodable`, `encrypted`, `corrupt`, `hostile`, `too_large`.
    """
    message = _parsed(data)
    if any(part.get_content_type() in _SEALED for part in _parts(message)):
        raise SourceRefused("encrypted")
    headers = [(name, header_text(_header(message, name))) for name in _SHOWN]
    headers.append(("Date", header_date(_header(message, "Date"))))
    plain, html = _bodies(message)
    mail = Mail(
        subject=header_text(_header(message, "Subject")), headers=tuple(headers), plain=plain, html=html
    )
    return mail_text(mail, limits)


def eml_attachments(data: bytes) -> Iterator[Attachment]:
    """Yield what is attached to a mail, forwarded mails included; pictures of its layout and signatures are not.

    Raises:
        SourceRefused: `corrupt`, `hostile`, `too_large`.
    """
    for part in _parts(_parsed(data)):
        kind = part.get_content_type()
        if _is_body(part) or kind in _NOT_DOCUMENTS | _SEALED or _is_layout(part):
            continue
        content = _inner_mail(part) if kind == "message/rfc822" else _content(part)
        if content:
            yield Attachment(name=_file_name(part) or _name_by_kind(part), data=content)


def _parsed(data: bytes) -> Message:
    try:
        message = message_from_bytes(data.lstrip(b"\r\n"), policy=compat32)
    except (MessageError, ValueError, LookupError) as error:
        raise SourceRefused("corrupt") from error
    require_bounded(message)
    return message


def _parts(message: Message) -> Iterator[Message]:
    """Yield the parts that hold something. A forwarded mail is one part: what is in it is its own."""
    if not message.is_multipart() or message.get_content_type() == "message/rfc822":
        yield message
        return
    if message.get_content_type() in _SEALED:
        yield message
    else:
        for part in cast("list[Message]", message.get_payload()):
            yield from _parts(part)


def _bodies(message: Message) -> tuple[str, str]:
    """Return the plain body and the one as a page; each may come in several pieces."""
    bodies: dict[str, list[str]] = {"text/plain": [], "text/html": []}
    for part in _parts(message):
        if _is_body(part):
            text = body_text(_content(part), part.get_content_charset())
            bodies["text/html" if part.get_content_type() == "text/html" else "text/plain"].append(text)
    plain, html = ([text for text in texts if not is_blank(text)] for texts in bodies.values())
    return "\n\n".join(plain), "\n".join(html)


def _is_body(part: Message) -> bool:
    if part.get_content_disposition() == "attachment" or _file_name(part):
        return False
    return part.get_content_type() in {"text/plain", "text/html"}


def _is_layout(part: Message) -> bool:
    """A picture that the body shows, or a part that names no file and is none that we could name."""
    if part.get_content_maintype() == "image":
        return part.get_content_disposition() != "attachment" or "Content-ID" in part
    return not _file_name(part) and not _name_by_kind(part)


def _content(part: Message) -> bytes:
    try:
        return cast("bytes | None", part.get_payload(decode=True)) or b""
    except (ValueError, AssertionError) as error:
        raise SourceRefused("corrupt") from error


def _inner_mail(part: Message) -> bytes:
    mails = cast("list[Message]", part.get_payload()) if part.is_multipart() else []
    try:
        return b"".join(mail.as_bytes() for mail in mails[:1])
    except (ValueError, LookupError, AttributeError, TypeError):
        return b""


def _file_name(part: Message) -> str:
    found = part.get_param("filename", header="content-disposition") or part.get_param("name")
    if not found:
        return ""
    return header_text(_collapsed(found) if isinstance(found, tuple) else str(found))


def _collapsed(value: tuple[str | None, str | None, str]) -> str:
    """A parameter with a charset of its own (RFC 2231); read without it where it cannot be one."""
    try:
        return collapse_rfc2231_value(value)
    except ValueError:  # a null character in its name
        return collapse_rfc2231_value((None, None, value[2]))


def _name_by_kind(part: Message) -> str:
    kind = part.get_content_type()
    suffix = _SUFFIXES.get(kind, "")
    if kind == "message/rfc822" and part.is_multipart():
        mails = cast("list[Message]", part.get_payload())
        return f"{header_text(_header(mails[0], 'Subject')) or 'mail'}{suffix}" if mails else ""
    return f"attachment{suffix}" if suffix else ""


def _header(message: Message, name: str) -> str:
    """Return a header as it came, its bytes beyond ASCII as surrogates."""
    raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), "")
    return str(raw)
