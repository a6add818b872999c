"""Where test questions are kept, and what came of asking them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from corpus2skill.domain.exam import Exam, ExamQuestion, ExamResult, ExamState


class QuestionStore(Protocol):
    """Test questions."""

    def add(self, questions: Sequence[ExamQuestion], most: int) -> None:
        """Keep new questions, all of them or none.

        Raises:
            Conflict: the corpus would have more than `most`.
        """
        ...

    def question(self, tenant: str, corpus: str, question_id: str) -> ExamQuestion:
        """Raises: ThingNotFound."""
        ...

    def questions(
        self, tenant: str, corpus: str, *, after: str = "", limit: int = 10_000
    ) -> tuple[ExamQuestion, ...]:
        """In the order in which they were made; `after` is the id of the last one seen."""
        ...

    def replace(self, question: ExamQuestion, seen: int) -> None:
        """Put `question` in the place of its revision `seen`.

        Raises:
            ThingNotFound: it is gone.
            Outrun: somebody has changed it since.
        """
        ...

    def remove(self, tenant: str, corpus: str, question_id: str, seen: int) -> None:
        """Raises: ThingNotFound, Outrun: as `replace`."""
        ...

    def forget_corpus(self, tenant: str, corpus: str) -> None:
        """Remove all questions of a corpus."""
        ...


class ExamStore(Protocol):
    """Runs over all test questions of a corpus."""

    def add(self, exam: Exam, results: Sequence[ExamResult]) -> None:
        """Keep a new exam with its questions, none of which was asked yet."""
        ...

    def exam(self, tenant: str, exam: str) -> Exam:
        """Raises: ThingNotFound."""
        ...

    def exams(
        self,
        tenant: str,
        corpus: str,
        *,
        version: int | None = None,
        states: Collection[ExamState] = (),
        before: str | None = None,
        limit: int = 100,
    ) -> tuple[Exam, ...]:
        """The newest first; no states: all of them. `before` is the id of the oldest one seen so far."""
        ...

    def of_job(self, tenant: str, job: str) -> Exam | None:
        """The exam that was begun for a compile."""
        ...

    def change(self, tenant: str, exam: str, turn: Callable[[Exam], Exam | None]) -> Exam | None:
        """Replace an exam by what `turn` makes of it; None leaves it, and None is returned.

        No two changes of an exam are made at the same time.

        Raises:
            ThingNotFound.
        """
        ...

    def waiting(self, now: float) -> tuple[Exam, ...]:
        """All tenants' queued exams, and running ones whose owner's lease has lapsed; longest without a turn first."""
        ...

    def running(self) -> tuple[Exam, ...]:
        """All tenants' running exams."""
        ...

    def results(
        self, tenant: str, exam: str, *, after: int = -1, limit: int = 10_000
    ) -> tuple[ExamResult, ...]:
        """In the order in which they are asked, those behind position `after`."""
        ...

    def unasked(self, tenant: str, exam: str, limit: int) -> tuple[ExamResult, ...]:
        """The next ones to be asked."""
        ...

    def put_result(
        self, tenant: str, exam: str, result: ExamResult, owner: str, lease_until: float
    ) -> Exam | None:
        """Keep what came of a question, count it, and prolong the lease of `owner`.

        None where another process, or none, has the exam by now: nothing was kept.
        """
        ...

    def forget_corpus(self, tenant: str, corpus: str) -> None:
        """Remove all exams of a corpus."""
        ...
