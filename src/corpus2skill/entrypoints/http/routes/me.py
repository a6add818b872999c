"""Who am I?"""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import BaseModel

from corpus2skill.domain.people import Scope
from corpus2skill.entrypoints.http.caller import Caller

router = APIRouter(tags=["me"])


class MeBody(BaseModel):
    tenant: str
    actor: str
    name: str
    scopes: list[Scope]


@router.get("/me")
def show_me(principal: Caller) -> MeBody:
    """The one whose token or sign-in this is, and what they may do."""
    return MeBody(
        tenant=principal.tenant,
        actor=principal.actor,
        name=principal.name,
        scopes=sorted(principal.scopes),
    )
