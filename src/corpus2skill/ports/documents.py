"""Where the server keeps corpora and what was handed in to them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from corpus2skill.domain.upload import (
    Arrival,
    CorpusEntry,
    Judgement,
    Upload,
    UploadChange,
    UploadFilter,
    UploadState,
)


class CorpusStore(Protocol):
    """Corpora that were made through the server; those that only a workspace's folder knows are not here."""

    def entry(self, tenant: str, corpus: str) -> CorpusEntry | None: ...

    def entries(self, tenant: str) -> tuple[CorpusEntry, ...]:
        """All of the tenant's, by name."""
        ...

    def add(self, entry: CorpusEntry) -> None:
        """Raises: Conflict: the tenant has an entry of that name."""
        ...

    def change(self, entry: CorpusEntry) -> None:
        """Replace the settings; where there is no entry, this becomes it."""
        ...

    def remove(self, tenant: str, corpus: str) -> None:
        """Of what is not there, nothing is removed."""
        ...


class UploadStore(Protocol):
    """What was handed in, one row a name. Duplicates are told, and told again, with every change.

    Of present documents of one corpus with the same bytes the first in `compile_order` that is not refused
    stands for them; those behind it are duplicates.
    """

    def receive(
        self,
        tenant: str,
        corpus: str,
        arrivals: Sequence[Arrival],
        *,
        new_ids: Sequence[str],
        at: str,
        by: str,
    ) -> UploadChange:
        """Note files that came, all or none; `new_ids` are taken for names that are new.

        The same bytes under the same name change nothing. Other bytes make a new revision; but one that was
        too large leaves what there is as it was. It outlasts a power cut with the next note of the operators' log,
        which is waited for: together they cost one wait for the disk.

        Raises:
            Conflict: a document of one of the names is being purged.
        """
        ...

    def upload(self, tenant: str, corpus: str, document: str) -> Upload:
        """Raises: ThingNotFound: the corpus has no such document."""
        ...

    def uploads(
        self, tenant: str, corpus: str, which: UploadFilter, *, after: str = "", limit: int = 100
    ) -> tuple[Upload, ...]:
        """In the order in which their names first came; `after` is the id of the last one seen."""
        ...

    def names(self, tenant: str, corpus: str) -> Mapping[str, Upload]:
        """Every present document by its name, without its judgement."""
        ...

    def by_name(self, tenant: str, corpus: str, name: str) -> Upload | None: ...

    def counts(self, tenant: str) -> Mapping[str, Mapping[UploadState, int]]:
        """How many there are, by corpus and state."""
        ...

    def waiting(self, state: UploadState, limit: int, *, passing: Collection[str] = ()) -> tuple[Upload, ...]:
        """Of every tenant the longest waiting in `state`, at most `limit` each; `passing` are ids to leave out."""
        ...

    def take_up(self, uploads: Sequence[Upload]) -> None:
        """Note, as one more of its `tries`, that somebody is about to look into each of these."""
        ...

    def judge(self, judged: Sequence[tuple[Upload, Judgement]], at: str) -> tuple[UploadChange | None, ...]:
        """Set what was found in each; None for one that is no longer waiting, or of which other bytes have come."""
        ...

    def mark(
        self,
        tenant: str,
        corpus: str,
        document: str,
        state: UploadState,
        at: str,
        *,
        was: Collection[UploadState],
        forget: bool = False,
    ) -> UploadChange:
        """Set a state: `removed`, `purging`, `purged`, or `received` to have it looked into again.

        One whose state is none of `was` stays as it is. `forget` drops what was known of its bytes.

        Raises:
            ThingNotFound: the corpus has no such document.
        """
        ...

    def forget_corpus(self, tenant: str, corpus: str) -> tuple[str, ...]:
        """Remove every row of a corpus and return the SHA-256 of the bytes they stood for."""
        ...

    def unused(self, tenant: str, digests: Collection[str]) -> frozenset[str]:
        """Those of the bytes that no present document of any corpus of the tenant stands for."""
        ...
