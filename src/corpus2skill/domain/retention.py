"""What is kept for how long, and what has to stay whatever its age."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import Literal, get_args

RetainedClass = Literal["conversations", "versions", "audit", "events", "deliveries"]
"""`conversations`: what was asked and answered, with trail, events, ratings, comments and notes. `versions`: old
versions of the corpora that no kept record cites. `audit`: the operators' log. `events`: of compiles, tests and
documents. `deliveries`: of webhooks."""
RETAINED_CLASSES: tuple[RetainedClass, ...] = get_args(RetainedClass)
HoldKind = Literal["session", "end_user", "corpus"]
RUN_HOUR = 3
"""In UTC."""
MOST_DAYS = 36_500


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionPolicy:
    """Days that each class is kept; None: for ever."""

    conversations: int | None = None
    versions: int | None = None
    audit: int | None = None
    events: int | None = None
    deliveries: int | None = None

    def days(self, kind: RetainedClass) -> int | None:
        match kind:
            case "conversations":
                return self.conversations
            case "versions":
                return self.versions
            case "audit":
                return self.audit
            case "events":
                return self.events
            case "deliveries":
                return self.deliveries

    @property
    def is_set(self) -> bool:
        return any(self.days(kind) is not None for kind in RETAINED_CLASSES)

    def before(self, kind: RetainedClass, now: datetime) -> datetime | None:
        """What is older than this goes; None: nothing does."""
        days = self.days(kind)
        return None if days is None else now - timedelta(days=days)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionState:
    """A tenant's policy, and when it was last carried out."""

    policy: RetentionPolicy = RetentionPolicy()
    changed_at: str | None = None
    """RFC 3339 in UTC with milliseconds; so the next."""
    ran_at: str | None = None
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    """What went the last time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LegalHold:
    """Something that is not deleted until the hold is lifted."""

    hold: str
    """`hold_...`"""
    tenant: str
    kind: HoldKind
    name: str
    """Id of the conversation or end user, or name of the corpus."""
    reason: str
    placed_at: str
    placed_by: str

    def covers(self, *, session: str | None, user: str | None, corpus: str | None) -> bool:
        match self.kind:
            case "session":
                return self.name == session
            case "end_user":
                return self.name == user
            case "corpus":
                return self.name == corpus


def next_run(state: RetentionState, now: datetime) -> datetime | None:
    """When the policy is carried out next: at night, at the earliest the night after it was changed or done."""
    if not state.policy.is_set:
        return None
    last = max(state.ran_at or "", state.changed_at or "")
    begun = (
        min(datetime.fromisoformat(last), now) if last else now
    )  # a clock that was set back holds up nothing
    night = datetime.combine(begun.astimezone(UTC).date(), time(RUN_HOUR), UTC)
    return night if night > begun else night + timedelta(days=1)
