"""Where one goes after signing in: to the page that one came from, if it is ours."""

from __future__ import annotations

import unicodedata
from urllib.parse import urlsplit

_MOST = 2_000


def own_page(text: str) -> str:
    """Return `text` where it is the address of a page below our root, else the empty string.

    Whoever makes a link to the sign-in must not be able to send people elsewhere by it: browsers take `//host`,
    `/\\host` and such addresses with a tab or a line break within for another site's.
    """
    if not text.startswith("/") or text.startswith("//") or "\\" in text or len(text) > _MOST:
        return ""
    if any(unicodedata.category(letter)[0] == "C" for letter in text):
        return ""
    try:
        parts = urlsplit(text)
    except ValueError:
        return ""
    if parts.scheme or parts.netloc or parts.path == "/sign-in" or parts.path.startswith("/v1/"):
        return ""
    return text
