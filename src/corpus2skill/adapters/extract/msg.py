"""Mails as Outlook keeps them (.msg): properties in the streams of an OLE file."""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Iterator
from email.message import EmailMessage
from email.utils import format_datetime

from corpus2skill.adapters.extract.eml import Attachment
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.mail_text import Mail, mail_text
from corpus2skill.adapters.extract.mail_words import (
    body_text,
    header_date,
    header_text,
    require_few_encoded,
    shown_date,
)
from corpus2skill.adapters.extract.ole_storage import OleFile, OleStorage
from corpus2skill.domain.corpus import ExtractedText

_SUBJECT, _BODY, _HTML = 0x0037, 0x1000, 0x1013
_SENDER, _SENDER_MAIL, _SENDER_ADDRESS = 0x0C1A, 0x5D01, 0x0C1F
_TO, _CC, _SENT, _HEADERS = 0x0E04, 0x0E03, 0x0039, 0x007D
_CODE_PAGE, _BODY_CODE_PAGE = 0x3FFD, 0x3FDE
_DATA, _LONG_NAME, _SHORT_NAME, _SHOWN_NAME = 0x3701, 0x3707, 0x3704, 0x3001
_CONTENT_ID, _KIND = 0x3712, 0x370E
_UNICODE, _EIGHT_BIT, _BINARY, _OBJECT = 0x001F, 0x001E, 0x0102, 0x000D
_HEADER_OF_MESSAGE, _HEADER_OF_INNER, _HEADER_OF_ATTACHMENT = 32, 24, 8
_EPOCH = dt.datetime(1601, 1, 1, tzinfo=dt.UTC)
_DEEPEST = 5


def extract_msg(data: bytes, limits: Limits) -> ExtractedText:
    """Return the text of an Outlook mail without its attachments.

    Raises:
        SourceRefused: `corrupt`, `undecodable`, `too_large`.
    """
    storage = OleStorage(OleFile(data, max_bytes=limits.max_inflated_bytes))
    return mail_text(_mail(_Item(storage, _HEADER_OF_MESSAGE)), limits)


def msg_attachments(data: bytes, limits: Limits) -> Iterator[Attachment]:
    """Yield what is attached to an Outlook mail; a mail in it comes as an .eml.

    Raises:
        SourceRefused: `corrupt`, `too_large`.
    """
    storage = OleStorage(OleFile(data, max_bytes=limits.max_inflated_bytes))
    yield from _attachments(_Item(storage, _HEADER_OF_MESSAGE), 0)


class _Item:
    """A mail or an attachment: what is kept under numbers, as words, bytes and whole numbers."""

    def __init__(self, storage: OleStorage, header: int) -> None:
        self.storage = storage
        properties = (storage.stream("__properties_version1.0") or b"")[header:]
        self._fixed = {
            struct.unpack_from("<H", properties, at + 2)[0]: properties[at + 8 : at + 16]
            for at in range(0, len(properties) - 15, 16)
        }

    def number(self, tag: int) -> int | None:
        value = self._fixed.get(tag)
        return int.from_bytes(value, "little") if value else None

    def data(self, tag: int) -> bytes | None:
        return self.storage.stream(f"__substg1.0_{tag:04X}{_BINARY:04X}")

    def words(self, tag: int, code_page: int = _CODE_PAGE) -> str:
        """Return a string; one of eight bits is read as the item's code page says, if that fits."""
        wide = self.storage.stream(f"__substg1.0_{tag:04X}{_UNICODE:04X}")
        if wide is not None:
            return wide.decode("utf-16-le", "ignore").replace("\0", "")
        narrow = self.storage.stream(f"__substg1.0_{tag:04X}{_EIGHT_BIT:04X}")
        return body_text(narrow.rstrip(b"\0"), self.label(code_page)) if narrow else ""

    def label(self, code_page: int) -> str | None:
        number = self.number(code_page)
        return None if not number else "utf-8" if number == 65001 else f"cp{number}"


def _mail(item: _Item) -> Mail:
    headers, subject, sender = map(item.words, (_HEADERS, _SUBJECT, _SENDER))
    require_few_encoded((headers, subject, sender))
    html = item.data(_HTML)
    return Mail(
        subject=header_text(subject),
        headers=(
            ("From", _transport_header(headers, "From") or _sender(item)),
            ("To", item.words(_TO)),
            ("Cc", item.words(_CC)),
            ("Date", header_date(_raw_header(headers, "Date")) or _sent(item)),
        ),
        plain=item.words(_BODY, _BODY_CODE_PAGE),
        html=body_text(html, item.label(_BODY_CODE_PAGE)) if html else item.words(_HTML),
    )


def _attachments(item: _Item, depth: int) -> Iterator[Attachment]:
    names = sorted(name for name in item.storage.names() if name.startswith("__attach_version1.0_#"))
    for attached in (_Item(item.storage.inner(name), _HEADER_OF_ATTACHMENT) for name in names):
        inner = f"__substg1.0_{_DATA:04X}{_OBJECT:04X}"
        name = header_text(
            next(filter(None, map(attached.words, (_LONG_NAME, _SHORT_NAME, _SHOWN_NAME))), "")
        )
        if inner in attached.storage.names() and attached.data(_DATA) is None:
            if depth < _DEEPEST:
                mail = _Item(attached.storage.inner(inner), _HEADER_OF_INNER)
                yield Attachment(name=f"{name or 'mail'}.eml", data=_as_eml(mail, depth + 1))
        elif (data := attached.data(_DATA)) and not _is_layout(attached):
            yield Attachment(name=name, data=data)


def _is_layout(attached: _Item) -> bool:
    """A picture that the body shows."""
    return bool(attached.words(_CONTENT_ID)) and attached.words(_KIND).lower().startswith("image/")


def _as_eml(item: _Item, depth: int) -> bytes:
    """A mail within a mail is no file of its own; written out it is one."""
    mail = _mail(item)
    message = EmailMessage()
    for name, words in (("Subject", mail.subject), *mail.headers):
        if words:
            message[name] = _rfc_date(words) if name == "Date" else " ".join(words.split())
    message.set_content(mail.plain or mail.html, subtype="plain" if mail.plain else "html", cte="base64")
    for attachment in _attachments(item, depth):
        message.add_attachment(
            attachment.data, maintype="application", subtype="octet-stream", filename=attachment.name
        )
    return message.as_bytes()


def _rfc_date(shown: str) -> str:
    try:
        return format_datetime(dt.datetime.strptime(shown, "%Y-%m-%d %H:%M %z"))
    except ValueError:
        return shown


def _raw_header(headers: str, name: str) -> str:
    """Return one of the headers that the mail travelled with."""
    lines = headers.replace("\r\n", "\n").replace("\n ", " ").replace("\n\t", " ").split("\n")
    mark = f"{name.lower()}:"
    return next((line[len(mark) :].strip() for line in lines if line.lower().startswith(mark)), "")


def _transport_header(headers: str, name: str) -> str:
    return header_text(_raw_header(headers, name))


def _sender(item: _Item) -> str:
    name = header_text(item.words(_SENDER))
    address = item.words(_SENDER_MAIL) or item.words(_SENDER_ADDRESS)
    if "@" not in address or address == name:
        return name
    return f"{name} <{address}>".strip()


def _sent(item: _Item) -> str:
    ticks = item.number(_SENT)
    try:
        return shown_date(_EPOCH + dt.timedelta(microseconds=ticks // 10)) if ticks else ""
    except OverflowError:
        return ""
