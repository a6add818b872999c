"""`/v1/provider-credentials`: the customer's own keys of providers. They are written, and never shown again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from corpus2skill.application.server import credentials
from corpus2skill.application.server.credentials import CredentialView, NewCredential
from corpus2skill.domain.credential import MOST_CHARACTERS, CredentialTest
from corpus2skill.domain.model_name import Role
from corpus2skill.domain.people import Principal
from corpus2skill.entrypoints.http.caller import Admin, TheServer
from corpus2skill.entrypoints.http.idempotency import IdempotentRoute
from corpus2skill.entrypoints.http.ids import Id, Name
from corpus2skill.entrypoints.http.paging import Page
from corpus2skill.entrypoints.http.speech import language_of
from corpus2skill.entrypoints.http.the_runs import Runs
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.messages import error_message

router = APIRouter(prefix="/provider-credentials", tags=["provider-credentials"], route_class=IdempotentRoute)

_LINE = r"^[^\x00-\x1f\x7f]*$"
_MOST_PADDED = 4 * MOST_CHARACTERS
Provider = Annotated[str, Field(max_length=100, pattern=_LINE, examples=["anthropic"])]
Secret = Annotated[SecretStr, Field(max_length=_MOST_PADDED)]
Address = Annotated[str, Field(max_length=1_000, pattern=_LINE, examples=["https://llm.example.jp/v1"])]


class TestBody(BaseModel):
    """What came of one little call."""

    __test__ = False
    """Of pytest."""
    at: str
    model: str
    ok: bool
    said: str
    """The beginning of the reply."""
    code: str | None
    """Of the error, where the call failed."""
    detail: str | None
    """What that means, in the language of the one who asks."""
    ms: int
    input_tokens: int
    output_tokens: int
    dollars: float | None
    """What it cost; null where the price is unknown."""


class PaysForBody(BaseModel):
    role: Role
    model: str


class CredentialBody(BaseModel):
    provider: str
    label: str | None
    base_url: str | None
    """Null: where the provider usually answers."""
    has_secret: bool
    """False for an address that wants no key."""
    last_four: str
    """Of the key; empty for a short one."""
    created_at: str
    changed_at: str
    """When the key was last stored."""
    changed_by: str
    last_used_at: str | None
    last_test: TestBody | None
    pays_for: list[PaysForBody]
    """Roles in which the tenant's settings have a model of this provider."""


class CredentialRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    secret: Secret = SecretStr("")
    """The key; empty: the one that is stored stays. It has to be given again where `base_url` changes."""
    label: Name | None = None
    base_url: Address | None = None


class NewCredentialRequest(CredentialRequest):
    provider: Provider


class TestRequest(BaseModel):
    __test__ = False
    model_config = ConfigDict(extra="forbid")

    confirm: bool = False
    """True: yes, one call may be paid for."""
    model: Annotated[str, Field(min_length=1, max_length=200, pattern=_LINE)] | None = None
    """Null: one that the tenant's settings name, else the provider's smallest."""


@router.get("")
def list_provider_credentials(request: Request, principal: Admin, server: TheServer) -> Page[CredentialBody]:
    """The tenant's keys: which providers', and what each pays for. No key is shown."""
    views = credentials.list_credentials(server, principal.tenant)
    return Page(data=[_body(request, view) for view in views])


@router.post("", status_code=201)
def create_provider_credential(
    wanted: NewCredentialRequest,
    request: Request,
    response: Response,
    principal: Admin,
    server: TheServer,
    runs: Runs,
) -> CredentialBody:
    """Store a key, in the place of one of the same provider. Jobs that wait for it go on by themselves."""
    view = credentials.store_credential(server, principal, _new(wanted.provider, wanted))
    response.headers["Location"] = (
        f"{server.server_settings.root_path}/v1/provider-credentials/{wanted.provider}"
    )
    return _changed(request, principal, runs, view)


@router.get("/{provider}")
def show_provider_credential(
    provider: Id, request: Request, principal: Admin, server: TheServer
) -> CredentialBody:
    """One key, without the key itself."""
    return _body(request, credentials.show_credential(server, principal.tenant, provider))


@router.put("/{provider}")
def save_provider_credential(
    provider: Id, wanted: CredentialRequest, request: Request, principal: Admin, server: TheServer, runs: Runs
) -> CredentialBody:
    """Store a key, or save its label and keep the key. Questions use it from the next one on."""
    view = credentials.store_credential(server, principal, _new(provider, wanted))
    return _changed(request, principal, runs, view)


@router.delete("/{provider}")
def delete_provider_credential(
    provider: Id, request: Request, principal: Admin, server: TheServer, runs: Runs
) -> CredentialBody:
    """Delete a key at once and for good."""
    return _changed(request, principal, runs, credentials.delete_credential(server, principal, provider))


@router.post("/{provider}/test")
def test_provider_credential(
    provider: Id, wanted: TestRequest, request: Request, principal: Admin, server: TheServer
) -> TestBody:
    """Make one little call that is paid for, and say what came of it."""
    found = credentials.test_credential(
        server, principal, provider, model=wanted.model, is_confirmed=wanted.confirm
    )
    return _test(request, found)


def _new(provider: str, wanted: CredentialRequest) -> NewCredential:
    return NewCredential(
        provider=provider,
        secret=wanted.secret.get_secret_value(),
        label=wanted.label,
        base_url=wanted.base_url,
    )


def _changed(request: Request, principal: Principal, runs: Runs, view: CredentialView) -> CredentialBody:
    runs.forget_keys(principal.tenant)
    return _body(request, view)


def _body(request: Request, view: CredentialView) -> CredentialBody:
    credential = view.credential
    return CredentialBody(
        provider=credential.provider,
        label=credential.label,
        base_url=credential.base_url,
        has_secret=credential.has_secret,
        last_four=credential.last_four,
        created_at=credential.created_at,
        changed_at=credential.changed_at,
        changed_by=credential.changed_by,
        last_used_at=credential.last_used_at,
        last_test=None if credential.last_test is None else _test(request, credential.last_test),
        pays_for=[PaysForBody(role=role, model=model) for role, model in view.pays_for],
    )


def _test(request: Request, test: CredentialTest) -> TestBody:
    return TestBody(
        at=test.at,
        model=test.model,
        ok=test.is_good,
        said=test.said,
        code=test.code,
        detail=None if test.code is None else _sentence(request, test, test.code),
        ms=test.ms,
        input_tokens=test.input_tokens,
        output_tokens=test.output_tokens,
        dollars=test.dollars,
    )


def _sentence(request: Request, test: CredentialTest, code: str) -> str:
    try:
        return error_message(language_of(request), Corpus2SkillError(code, **test.values))
    except KeyError:
        return code
