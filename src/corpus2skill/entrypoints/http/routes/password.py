"""`/v1/password`: one's own."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from corpus2skill.application.server import passwords
from corpus2skill.domain.password import MOST
from corpus2skill.entrypoints.http.caller import Caller, TheServer
from corpus2skill.entrypoints.http.visitor import visitor_of

router = APIRouter(prefix="/password", tags=["people"])

Password = Annotated[str, Field(max_length=4 * MOST)]


class PasswordChange(BaseModel):
    current: Password = ""
    """Empty for somebody who has none yet."""
    new: Password
    """12 characters or more, and not one's name; there are no other rules."""


@router.put("", status_code=204, response_class=Response)
def change_password(wanted: PasswordChange, request: Request, principal: Caller, server: TheServer) -> None:
    """Change one's own password; all other browsers of the person are signed out. Not for API tokens (403)."""
    address = visitor_of(request).address
    passwords.change_password(server, principal, wanted.current, wanted.new, address)
