"""Customers' keys of providers: stored, shown by their last characters, tried, deleted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from corpus2skill.application.model_wiring import model_for, open_single_model, price_in_force
from corpus2skill.application.server.jobs import key_arrived
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.wiring import OFFLINE, Workspace
from corpus2skill.domain.credential import (
    KEYLESS,
    PROVIDERS,
    Credential,
    CredentialTest,
    Plain,
    bound_to,
    checked_secret,
    last_four,
)
from corpus2skill.domain.message import ProgramMessage, Text
from corpus2skill.domain.model_call import TextCall, TextReply
from corpus2skill.domain.model_name import ModelName, Role
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import Principal
from corpus2skill.domain.usage import SpentCall
from corpus2skill.errors import (
    ConfirmationNeeded,
    Corpus2SkillError,
    InvalidInput,
    SpendingCapReached,
    ThingNotFound,
    UnusableSettings,
)
from corpus2skill.ports.credentials import Held

_RoleOf = tuple[Role, ModelName]
_SAID = 200
_TEST_SECONDS = 30.0
_TEST_TOKENS = 64
_TEST_CALL = TextCall(
    purpose="trial",
    prompt_version="key-test-1",
    system='Answer with the JSON object {"ok": true} and nothing else.',
    messages=(ProgramMessage((Text("Is this key accepted?"),)),),
    schema='{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"],"additionalProperties":false}',
    max_output_tokens=_TEST_TOKENS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCredential:
    """What somebody wants to be stored."""

    provider: str
    secret: str
    """Empty: the one that is stored stays."""
    label: str | None = None
    base_url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CredentialView:
    """A credential with what it pays for."""

    credential: Credential
    pays_for: Sequence[tuple[Role, str]]
    """Roles with the model that the tenant's settings have in each."""


def list_credentials(server: Server, tenant: str) -> tuple[CredentialView, ...]:
    """The tenant's credentials by provider."""
    found = server.credentials.credentials(tenant)
    roles = _roles(server.workspace(tenant)) if found else ()
    return tuple(_view(credential, roles) for credential in found)


def show_credential(server: Server, tenant: str, provider: str) -> CredentialView:
    """Raises: ThingNotFound: the tenant has no key of the provider."""
    held = server.credentials.held(tenant, provider)
    if held is None:
        raise ThingNotFound("provider_credential", provider)
    return _view(held.credential, _roles(server.workspace(tenant)))


def store_credential(server: Server, by: Principal, wanted: NewCredential) -> CredentialView:
    """Store a key, or change its label; jobs that wait for it go on.

    Raises:
        InvalidInput: no such provider, no key, an address that cannot be used, or one that is changed without
            the key being given again: it would be shown to whoever listens there.
    """
    if wanted.provider not in PROVIDERS:
        raise InvalidInput("unknown_provider", known=", ".join(PROVIDERS))
    wanted = replace(wanted, secret=checked_secret(wanted.secret), base_url=wanted.base_url or None)
    if wanted.base_url is not None:
        _check_address(server, by.tenant, wanted.base_url)
    before = server.credentials.held(by.tenant, wanted.provider)
    stored = server.vault.sealing(lambda: _store(server, by, wanted))
    action = "provider_credential.created" if before is None else "provider_credential.changed"
    server.audit.note(
        by.tenant,
        by.actor,
        action,
        wanted.provider,
        last_four=stored.last_four,
        base_url=stored.base_url or "-",
        is_new_key=bool(wanted.secret),
    )
    key_arrived(server, by.tenant, wanted.provider)
    return show_credential(server, by.tenant, wanted.provider)


def delete_credential(server: Server, by: Principal, provider: str) -> CredentialView:
    """Delete a key at once and for good.

    Raises:
        ThingNotFound: the tenant has no key of the provider.
    """
    roles = _roles(server.workspace(by.tenant))
    removed = server.credentials.remove(by.tenant, provider)
    server.audit.note(
        by.tenant, by.actor, "provider_credential.deleted", provider, last_four=removed.last_four
    )
    return _view(removed, roles)


def test_credential(
    server: Server, by: Principal, provider: str, *, model: str | None, is_confirmed: bool
) -> CredentialTest:
    """Make one little call that is paid for, and keep what came of it.

    Raises:
        ThingNotFound: the tenant has no key of the provider.
        ConfirmationNeeded: nobody said yes to paying for it.
        UnusableSettings: `model` is none of the provider's, or none is known.
        SpendingCapReached: the month's cap is reached.
    """
    credential = show_credential(server, by.tenant, provider).credential
    if not is_confirmed:
        raise ConfirmationNeeded("test_not_confirmed", provider=provider)
    workspace = server.workspace(by.tenant)
    name = _tested_model(workspace, provider, model)
    _require_room(workspace)
    settings = replace(workspace.settings, reply_seconds=min(_TEST_SECONDS, workspace.settings.reply_seconds))
    test = asyncio.run(_tested(server, replace(workspace, settings=settings), name))
    server.credentials.note_test(by.tenant, provider, credential.revision, test)
    server.audit.note(
        by.tenant,
        by.actor,
        "provider_credential.tested",
        provider,
        model=test.model,
        result=test.code or "ok",
        dollars=test.dollars,
    )
    return test


def _store(server: Server, by: Principal, wanted: NewCredential) -> Credential:
    now, revision = moment_of(server.clock.now()), server.ids.new("key")
    bound = bound_to(by.tenant, wanted.provider)
    sealed = server.vault.seal(wanted.secret, bound) if wanted.secret else None

    def turn(was: Held | None) -> Held:
        if sealed is None:
            return _kept(was, wanted, by.tenant, by.actor, now, revision)
        credential = Credential(
            tenant=by.tenant,
            provider=wanted.provider,
            revision=revision,
            created_at=now if was is None else was.credential.created_at,
            changed_at=now,
            changed_by=by.actor,
            label=wanted.label,
            base_url=wanted.base_url,
            last_four=last_four(wanted.secret),
        )
        return Held(credential=credential, sealed=sealed)

    stored = server.credentials.change(by.tenant, wanted.provider, turn)
    assert stored is not None
    return stored


def _kept(was: Held | None, wanted: NewCredential, tenant: str, actor: str, now: str, revision: str) -> Held:
    """The credential with the key that is stored, or with none where its address wants none."""
    if was is not None and (was.credential.base_url == wanted.base_url or was.sealed is None):
        if wanted.base_url is None and was.sealed is None:
            raise InvalidInput("key_empty", provider=wanted.provider)
        changed = replace(was.credential, label=wanted.label, base_url=wanted.base_url)
        is_same = changed.base_url == was.credential.base_url
        return Held(credential=changed if is_same else replace(changed, revision=revision), sealed=was.sealed)
    if was is not None:
        raise InvalidInput("key_needed_for_address", provider=wanted.provider)
    if wanted.base_url is None or wanted.provider not in KEYLESS:
        raise InvalidInput("key_empty", provider=wanted.provider)
    credential = Credential(
        tenant=tenant,
        provider=wanted.provider,
        revision=revision,
        created_at=now,
        changed_at=now,
        changed_by=actor,
        label=wanted.label,
        base_url=wanted.base_url,
        has_secret=False,
    )
    return Held(credential=credential, sealed=None)


def _check_address(server: Server, tenant: str, base_url: str) -> None:
    from corpus2skill.domain.net_addresses import host_of

    host_of(base_url)
    server.keys(tenant).approve(base_url)


def _roles(workspace: Workspace) -> tuple[_RoleOf, ...]:
    """What calls the models that the settings name; the offline engine is paid by nobody."""
    settings = workspace.settings
    named: tuple[tuple[Role, str | None], ...] = (
        ("summarize", settings.summary_model),
        ("group", settings.grouping_model),
        ("navigate", settings.navigation_model),
    )
    roles: list[_RoleOf] = []
    for role, own in named:
        text = own or settings.model
        if text != OFFLINE:
            with suppress(UnusableSettings):
                roles.append((role, model_for(text, role)))
    return tuple(roles)


def _view(credential: Credential, roles: Sequence[_RoleOf]) -> CredentialView:
    pays_for: list[tuple[Role, str]] = [
        (role, str(name)) for role, name in roles if name.provider == credential.provider
    ]
    return CredentialView(credential=credential, pays_for=pays_for)


def _tested_model(workspace: Workspace, provider: str, model: str | None) -> ModelName:
    """The model named, else one that the tenant uses, else the provider's smallest."""
    if model is not None:
        return model_for(f"{provider}:{model.removeprefix(f'{provider}:')}", "summarize")
    used = [name for _, name in _roles(workspace) if name.provider == provider]
    return used[0] if used else model_for(provider, "summarize")


def _require_room(workspace: Workspace) -> None:
    """Raises: SpendingCapReached: this month nothing more may be paid."""
    from corpus2skill.application.server.usage import month_of

    month = month_of(workspace)
    if month.cap is not None and month.dollars >= month.cap:
        shown = f"{month.dollars:.4f}"
        raise SpendingCapReached("month_cap_reached", cap=month.cap, spent=shown, next="0.01")


async def _tested(server: Server, workspace: Workspace, name: ModelName) -> CredentialTest:
    at, begun = moment_of(server.clock.now()), time.monotonic()
    test = CredentialTest(at=at, model=str(name), ms=0)
    try:
        opened = await asyncio.to_thread(open_single_model, workspace, name, None)
        try:
            reply = await opened.complete(_TEST_CALL)
        finally:
            await opened.close()
    except Corpus2SkillError as error:
        test = replace(test, code=error.code, values=_plain(error.values))
    else:
        test = await _paid(server, workspace, name, test, reply)
    return replace(test, ms=round(1000 * (time.monotonic() - begun)))


async def _paid(
    server: Server, workspace: Workspace, name: ModelName, test: CredentialTest, reply: TextReply
) -> CredentialTest:
    """What the call came to, counted among what the tenant spends."""
    keys = workspace.keys
    price = price_in_force(workspace.settings, name, keys.address(name.provider), environment=keys.variables)
    spent = SpentCall(
        corpus="",
        model=str(name),
        purpose="trial",
        usage=reply.usage,
        dollars=price(reply.usage),
        paid_at=server.clock.now(),
    )
    results = workspace.results()
    try:
        await results.note(spent)
    finally:
        results.close()
    return replace(
        test,
        said=reply.text.strip()[:_SAID],
        input_tokens=reply.usage.input_tokens,
        output_tokens=reply.usage.output_tokens,
        dollars=spent.dollars,
    )


def _plain(values: dict[str, object]) -> dict[str, Plain]:
    return {
        name: value if isinstance(value, str | int | float | bool) or value is None else str(value)
        for name, value in values.items()
    }
