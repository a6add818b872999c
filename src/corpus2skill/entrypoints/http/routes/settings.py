"""`/v1/settings`: models, prices and limits of spending that a tenant sets for itself."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Header, Response
from pydantic import BaseModel, ConfigDict, Field

from corpus2skill.application.server import tenant_limits
from corpus2skill.application.server.tenant_limits import SettingsView
from corpus2skill.entrypoints.http.caller import Admin, TheServer, Writer
from corpus2skill.errors import Outrun

router = APIRouter(prefix="/settings", tags=["settings"])

_LINE = r"^[^\x00-\x1f\x7f]*$"
Model = Annotated[str, Field(min_length=1, max_length=300, pattern=_LINE, examples=["offline", "anthropic"])]
Dollars = Annotated[float, Field(gt=0, le=1_000_000)]
Count = Annotated[int, Field(ge=1, le=1_000_000_000_000)]
Prices = Annotated[str, Field(min_length=1, max_length=10_000, pattern=_LINE)]


class SettingsRequest(BaseModel):
    """Sets what is given. Null gives a setting back to the server's."""

    model_config = ConfigDict(extra="forbid")

    model: Model | None = None
    """`offline`, `provider` or `provider:name`: for every role that has none of its own."""
    summary_model: Model | None = None
    grouping_model: Model | None = None
    navigation_model: Model | None = None
    concurrency: Annotated[int, Field(ge=1, le=256)] | None = None
    """Calls of one key at a time."""
    requests_per_minute: Count | None = None
    tokens_per_minute: Count | None = None
    prices: Prices | None = None
    """US dollars for a million tokens of input and output: `provider:name=0.5/2, ...`."""
    input_price: Dollars | None = None
    """US dollars for a million tokens of the one model that has no other price; so the next."""
    output_price: Dollars | None = None
    last_word: Literal["stop", "answer"] | None = None
    question_cost: Dollars | None = None
    """US dollars that one question may cost; so the next: of one conversation, of any 24 hours, ..."""
    session_cost: Dollars | None = None
    day_cost: Dollars | None = None
    month_cost: Dollars | None = None
    """... and of a month, which begins in UTC: compiles and questions together."""
    max_cost: Dollars | None = None
    """US dollars that one compile may spend where it is not told."""


class SettingBody(BaseModel):
    value: str | int | float | None
    origin: Literal["tenant", "server"]


class SettingsBody(BaseModel):
    settings: dict[str, SettingBody]


@router.get("")
def show_settings(principal: Writer, server: TheServer, response: Response) -> SettingsBody:
    """What is in force, and what of it the tenant has set. `ETag` is for `If-Match`."""
    return _body(tenant_limits.show_settings(server, principal.tenant), response)


@router.patch("")
def change_settings(
    changes: SettingsRequest,
    principal: Admin,
    server: TheServer,
    response: Response,
    if_match: Annotated[
        str | None,
        Header(max_length=100, description="The `ETag` that was looked at; 412 if it is outdated."),
    ] = None,
) -> SettingsBody:
    """Set the fields that are given. They hold for what is begun from now on."""
    given = changes.model_dump(exclude_unset=True)
    view = tenant_limits.change_settings(server, principal, given, expected=_revision(if_match))
    return _body(view, response)


def _revision(if_match: str | None) -> int | None:
    """Raises: Outrun: it is no tag of ours, so that it cannot be the newest."""
    if if_match is None or if_match.strip() == "*":
        return None
    tag = if_match.strip().removeprefix("W/").strip('"')
    if not tag.isascii() or not tag.isdecimal():
        raise Outrun("settings_outrun")
    return int(tag)


def _body(view: SettingsView, response: Response) -> SettingsBody:
    response.headers["ETag"] = f'"{view.revision}"'
    return SettingsBody(
        settings={
            name: SettingBody(value=value, origin="tenant" if name in view.own else "server")
            for name, value in view.values.items()
        }
    )
