"""Lists in pages: `?limit=&cursor=` in, `data` and `next_cursor` out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Generic, TypeVar

from fastapi import Query
from pydantic import BaseModel

Item = TypeVar("Item")
Row = TypeVar("Row")

Limit = Annotated[int, Query(ge=1, le=200, description="Items of one page.")]
Cursor = Annotated[
    str | None, Query(max_length=200, pattern=r"^[^\x00]*$", description="`next_cursor` of the page before.")
]


class Page(BaseModel, Generic[Item]):
    """One page of a list."""

    data: list[Item]
    next_cursor: str | None = None
    """Null on the last page."""


def page(
    rows: Sequence[Row], limit: int, body: Callable[[Row], Item], cursor: Callable[[Row], str]
) -> Page[Item]:
    """Make a page of `rows`, of which one more than `limit` was asked for to know whether there are more."""
    shown = rows[:limit]
    return Page(
        data=list(map(body, shown)),
        next_cursor=cursor(shown[-1]) if len(rows) > limit and shown else None,
    )
