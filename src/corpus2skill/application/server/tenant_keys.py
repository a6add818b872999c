"""The keys that pay for a tenant: those that it stored, and for nobody else's money."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from corpus2skill.application.server.vault import Vault
from corpus2skill.domain.credential import bound_to
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.net_addresses import Resolve, check_public
from corpus2skill.domain.provider_key import ProviderKey
from corpus2skill.ports.clock import Clock
from corpus2skill.ports.credentials import CredentialStore
from corpus2skill.ports.keys import KeyRing

_NOTED_EVERY = timedelta(minutes=1)
_HARMLESS = (
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "CLOUD_ML_REGION",
    "ANTHROPIC_VERTEX_PROJECT_ID",
    "GOOGLE_CLOUD_PROJECT",
    "OPENAI_API_VERSION",
)
"""Variables of the server that hold no credential and no address: how a network is reached, and which region."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantKeys:
    """`ports.keys.KeyRing` of one tenant."""

    tenant: str
    store: CredentialStore
    vault: Vault
    clock: Clock
    resolve: Resolve
    environment: Mapping[str, str]
    fallback: KeyRing | None
    """Asked for what is not stored: of the local tenant of the embedded default, whose machine this is."""
    may_be_private: bool
    """True where addresses of private networks may be called."""

    def key(self, provider: str) -> ProviderKey | None:
        held = self.store.held(self.tenant, provider)
        if held is None:
            return None if self.fallback is None else self.fallback.key(provider)
        self._note_use(provider, held.credential.last_used_at)
        if held.sealed is None:
            return None
        secret = self.vault.open(held.sealed, bound_to(self.tenant, provider))
        return ProviderKey(secret=secret, source=f"{provider} ...{held.credential.last_four}")

    def address(self, provider: str) -> str | None:
        held = self.store.held(self.tenant, provider)
        return None if held is None else held.credential.base_url

    def approve(self, address: str) -> None:
        if not self.may_be_private:
            check_public(address, self.resolve)

    @property
    def variables(self) -> Mapping[str, str]:
        if self.fallback is not None:
            return self.fallback.variables
        return {name: self.environment[name] for name in _HARMLESS if name in self.environment}

    @property
    def is_alone(self) -> bool:
        return self.fallback is None

    def revision(self) -> str:
        return " ".join(one.revision for one in self.store.credentials(self.tenant))

    def _note_use(self, provider: str, last: str | None) -> None:
        now = self.clock.now()
        if last is None or abs(now - datetime.fromisoformat(last)) >= _NOTED_EVERY:
            self.store.touch(self.tenant, provider, moment_of(now))
