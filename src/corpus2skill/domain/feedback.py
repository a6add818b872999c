"""What people say of an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

FeedbackReason = Literal["wrong", "incomplete", "outdated", "unclear", "too_long", "wrong_source", "other"]
FEEDBACK_REASONS: tuple[FeedbackReason, ...] = get_args(FeedbackReason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """The judgement on one answer; a newer one takes its place. It is deleted with what was said."""

    is_helpful: bool
    reasons: tuple[FeedbackReason, ...] = ()
    comment: str | None = None
    given_at: str
    """RFC 3339 in UTC with milliseconds."""
    given_by: str
    """Id of the person or token it came from."""
