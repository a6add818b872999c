"""What the bodies of requests have in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class RequestBody(BaseModel):
    """A field that is not known is refused: misspelled, it would be left aside in silence."""

    model_config = ConfigDict(extra="forbid")
