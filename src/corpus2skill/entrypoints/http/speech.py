"""The language in which the one who asks is answered."""

from __future__ import annotations

from starlette.requests import Request

from corpus2skill.domain.language import Language


def language_of(request: Request) -> Language:
    """`ja` or `en`, whichever `Accept-Language` names first (RFC 9110, 12.5.4); else English."""
    wanted = request.headers.get("accept-language", "")
    ranked = sorted(map(_weighed, wanted.split(",")), key=lambda item: -item[1])
    for name, weight in ranked:
        if weight > 0 and name in ("ja", "en"):
            return "ja" if name == "ja" else "en"
    return "en"


def _weighed(item: str) -> tuple[str, float]:
    name, _, weight = item.partition(";")
    try:
        value = float(weight.strip().removeprefix("q=")) if weight else 1.0
    except ValueError:
        value = 0.0
    return name.strip().lower()[:2], value
