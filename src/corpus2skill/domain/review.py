"""The queue of runs that somebody should look at: questions without an answer, and answers rated badly.

An entry holds nothing that was said: that stands in the run's record, and is deleted with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from corpus2skill.domain.ids import ROOT_PATH, SUMMARY_FILE
from corpus2skill.domain.run import Outcome, RunRecord
from corpus2skill.domain.session import Channel, Door

ReviewReason = Literal["not_found", "fetch_limit", "not_helpful", "doubtful"]
"""`doubtful`: the answer cites or quotes what the run did not read. Listed only where asked for."""
REVIEW_REASONS: tuple[ReviewReason, ...] = get_args(ReviewReason)
USUAL_REASONS: tuple[ReviewReason, ...] = ("not_found", "fetch_limit", "not_helpful")

ReviewState = Literal["open", "to_do", "mend_branch", "made_a_test", "fine"]
"""`to_do`: a document is missing. `mend_branch`: the document is there and was not found. `fine`: nothing to do."""
REVIEW_STATES: tuple[ReviewState, ...] = get_args(ReviewState)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewEntry:
    """A run to be looked at, and what somebody made of it."""

    tenant: str
    run: str
    corpus: str
    version: int
    session: str
    outcome: Outcome
    channel: Channel
    door: Door
    model: str
    user: str | None
    started_at: str
    branch: str
    """Path of the summary node where the walk ended."""
    branch_title: str
    is_unhelpful: bool = False
    is_doubtful: bool = False
    has_comment: bool = False
    state: ReviewState = "open"
    note: str | None = None
    """Of whoever looked at it; goes with the record."""
    question_id: str | None = None
    """The test question that was made of it."""
    revision: int = 1
    """One higher with every change of state or note."""
    changed_at: str | None = None
    changed_by: str | None = None

    @property
    def reasons(self) -> tuple[ReviewReason, ...]:
        holding = {
            "not_found": self.outcome == "not_found",
            "fetch_limit": self.outcome == "fetch_limit",
            "not_helpful": self.is_unhelpful,
            "doubtful": self.is_doubtful,
        }
        return tuple(reason for reason in REVIEW_REASONS if holding[reason])


@dataclass(frozen=True, slots=True, kw_only=True)
class BranchCount:
    """How many entries ended in one branch."""

    corpus: str
    branch: str
    title: str
    """As the newest of them has it."""
    entries: int
    newest: str
    """Its newest run."""


def review_entry(record: RunRecord) -> ReviewEntry:
    """The entry of a run that has ended; it has no reason to be looked at where `reasons` is empty."""
    branch, title = ended_in(record)
    return ReviewEntry(
        tenant=record.ids.tenant,
        run=record.ids.run,
        corpus=record.ids.corpus,
        version=record.ids.version,
        session=record.ids.session,
        outcome=record.outcome,
        channel=record.channel,
        door=record.door,
        model=record.model,
        user=record.user,
        started_at=record.started_at,
        branch=branch,
        branch_title=title,
        is_doubtful=record.is_doubtful,
    )


def ended_in(record: RunRecord) -> tuple[str, str]:
    """Path and title of the summary node where the walk ended: the last one stood on, or that of the last leaf."""
    found = [visit for visit in record.visits if visit.status != "not_found"]
    if not found:
        return ROOT_PATH, ""
    last = found[-1]
    folder = last.path[: last.path.rfind("/") + 1]
    path = folder + SUMMARY_FILE
    title = next((visit.title for visit in reversed(found) if visit.path == path), "")
    return path, title
