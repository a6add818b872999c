"""What every `UploadStore` and `CorpusStore` promises, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.corpora import SqlCorpusStore
from corpus2skill.adapters.store.state.documents import SqlUploadStore
from corpus2skill.adapters.store.state.state_database import open_state, state_url
from corpus2skill.domain.corpus import Notice, SourceReport
from corpus2skill.domain.upload import (
    Arrival,
    CorpusEntry,
    CorpusSettings,
    Judgement,
    Upload,
    UploadChange,
    UploadFilter,
)
from corpus2skill.errors import Conflict, ThingNotFound
from corpus2skill.ports.documents import CorpusStore, UploadStore

NOW = "2026-04-01T00:00:00.000Z"
LATER = "2026-04-02T00:00:00.000Z"


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    url = None if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))
    opened = open_state(state_url(tmp_path, url))
    yield opened
    opened.close()


@pytest.fixture
def store(database: Database) -> UploadStore:
    return SqlUploadStore(database)


def arrived(name: str, content: str = "a") -> Arrival:
    return Arrival(name=name, bytes=len(content), sha256=(content * 64)[:64])


class Ids:
    """Ids in order."""

    def __init__(self) -> None:
        self.count = 0

    def some(self, number: int) -> list[str]:
        self.count += number
        return [f"document_{n:04}" for n in range(self.count - number, self.count)]


@pytest.fixture
def ids() -> Ids:
    return Ids()


def receive(
    store: UploadStore, ids: Ids, *arrivals: Arrival, tenant: str = "local", at: str = NOW
) -> UploadChange:
    return store.receive(tenant, "terms", arrivals, new_ids=ids.some(len(arrivals)), at=at, by="user_1")


def accepted(name: str) -> Judgement:
    notice = Notice(code="pages_without_text", values=(("count", 1),))
    return Judgement(report=SourceReport(source=name, verdict="accepted", characters=10, notices=(notice,)))


def refused(name: str) -> Judgement:
    return Judgement(report=SourceReport(source=name, verdict="empty"))


def judge(store: UploadStore, upload: Upload, judgement: Judgement) -> UploadChange:
    [change] = store.judge([(upload, judgement)], LATER)
    assert change is not None
    return change


def states(store: UploadStore) -> dict[str, str]:
    which = UploadFilter(states=("received", "accepted", "refused", "duplicate", "removed"))
    return {upload.name: upload.state for upload in store.uploads("local", "terms", which)}


def test_a_new_store_knows_nothing(store: UploadStore) -> None:
    """Promised by the port: reading what is not there gives nothing."""
    assert store.uploads("local", "terms", UploadFilter()) == ()
    assert store.names("local", "terms") == {}
    assert store.counts("local") == {}
    assert store.waiting("received", 5) == ()
    assert store.unused("local", ["a"]) == frozenset({"a"})
    with pytest.raises(ThingNotFound):
        store.upload("local", "terms", "document_0")


def test_what_was_received_and_judged_is_read_back_whole(store: UploadStore, ids: Ids) -> None:
    """Japanese names, notices with values, times."""
    change = receive(store, ids, arrived("規約/解約.docx"))
    [upload] = change.uploads
    assert (upload.state, upload.revision, change.is_new) == ("received", 1, (True,))
    [now] = judge(store, upload, accepted(upload.name)).uploads
    assert (now.state, now.judgement, now.changed_at) == ("accepted", accepted(upload.name), LATER)
    assert store.upload("local", "terms", upload.document) == now
    assert store.by_name("local", "terms", "規約/解約.docx") == now
    assert store.counts("local") == {"terms": {"accepted": 1}}


def test_the_same_again_changes_nothing_and_other_bytes_are_a_new_revision(
    store: UploadStore, ids: Ids
) -> None:
    """Field reports, screens 3."""
    [first] = receive(store, ids, arrived("a.txt")).uploads
    [judged] = judge(store, first, accepted("a.txt")).uploads
    again = receive(store, ids, arrived("a.txt"), at=LATER)
    assert (again.uploads, again.is_new, again.dropped) == ((judged,), (False,), ())
    other = receive(store, ids, arrived("a.txt", "b"), at=LATER)
    [second] = other.uploads
    assert (second.document, second.revision, second.state) == (first.document, 2, "received")
    assert other.dropped == ("a" * 64,)
    assert store.judge([(first, accepted("a.txt"))], LATER) == (None,)


def test_of_equal_documents_the_first_in_compile_order_stands_for_the_others(
    store: UploadStore, ids: Ids
) -> None:
    """As the compiler has it: files before mails before archives, then by name."""
    receive(store, ids, arrived("a.zip"), arrived("b.eml"), arrived("d.txt"), arrived("c/a.txt"))
    assert states(store) == {
        "c/a.txt": "received",
        "d.txt": "duplicate",
        "b.eml": "duplicate",
        "a.zip": "duplicate",
    }
    first = store.by_name("local", "terms", "c/a.txt")
    assert first is not None
    change = judge(store, first, refused(first.name))
    assert [other.name for other in change.others] == ["a.zip", "b.eml", "d.txt"]
    assert states(store)["d.txt"] == "received"


def test_a_duplicate_of_what_is_taken_out_is_none_any_more(store: UploadStore, ids: Ids) -> None:
    """Nothing is lost with the one that stood for it."""
    first, _ = receive(store, ids, arrived("a.txt"), arrived("b.txt")).uploads
    change = store.mark("local", "terms", first.document, "removed", LATER, was=("received",), forget=True)
    assert change.dropped == ("a" * 64,)
    assert states(store) == {"a.txt": "removed", "b.txt": "received"}
    assert store.unused("local", ["a" * 64]) == frozenset()
    [back] = receive(store, ids, arrived("a.txt", "c"), at=LATER).uploads
    assert (back.document, back.state, back.revision) == (first.document, "received", 2)


def test_a_state_is_set_only_from_the_states_named(store: UploadStore, ids: Ids) -> None:
    """Whoever was quicker wins."""
    [upload] = receive(store, ids, arrived("a.txt")).uploads
    store.mark("local", "terms", upload.document, "purged", LATER, was=("purging",), forget=True)
    assert store.upload("local", "terms", upload.document) == upload
    store.mark("local", "terms", upload.document, "purging", LATER, was=("received",))
    with pytest.raises(Conflict):
        receive(store, ids, arrived("a.txt", "b"))


def test_one_too_large_leaves_what_there_is(store: UploadStore, ids: Ids) -> None:
    """A good document is not lost by a bad try."""
    report = SourceReport(source="a.txt", verdict="too_large", detail="bytes")
    large = Arrival(name="a.txt", bytes=9_000_000_000, sha256=None, refusal=report)
    [new] = receive(store, ids, large).uploads
    assert (new.state, new.bytes, new.sha256) == ("refused", 9_000_000_000, None)
    [good] = receive(store, ids, arrived("a.txt")).uploads
    assert good.state == "received"
    assert receive(store, ids, large).uploads == (good,)


def test_many_are_listed_page_by_page_and_found_by_a_part_of_the_name(store: UploadStore, ids: Ids) -> None:
    """Whatever its width and case; signs of the query language are only signs."""
    names = [f"ＦＡＱ_{number:03}.txt" for number in range(450)]
    receive(store, ids, *(arrived(name, chr(0x4E00 + place)) for place, name in enumerate(names)))
    seen: list[str] = []
    after = ""
    while found := store.uploads("local", "terms", UploadFilter(name_part="faq"), after=after, limit=200):
        seen += [upload.name for upload in found]
        after = found[-1].document
    assert seen == names
    assert len(store.uploads("local", "terms", UploadFilter(name_part="faq_"), limit=999)) == 450
    assert store.uploads("local", "terms", UploadFilter(name_part="a%q")) == ()
    assert len(store.names("local", "terms")) == 450


def test_each_tenant_waits_on_its_own(store: UploadStore, ids: Ids) -> None:
    """Fair: whoever handed in thousands does not hide another's one."""
    receive(store, ids, *(arrived(f"{number}.txt", str(number)) for number in range(9)), tenant="acme")
    [one] = receive(store, ids, arrived("a.txt"), at=LATER).uploads
    waiting = store.waiting("received", 3)
    assert [upload.tenant for upload in waiting] == ["acme", "acme", "acme", "local"]
    assert store.waiting("received", 3, passing=[upload.document for upload in waiting[:3]])[-1] == one
    for _ in range(2):
        store.take_up([one, waiting[0]])
    assert [upload.tries for upload in store.waiting("received", 1)] == [2, 2]
    judge(store, one, accepted(one.name))
    assert store.upload("local", "terms", one.document).tries == 0


def test_a_corpus_is_forgotten_with_the_bytes_within_its_documents(store: UploadStore, ids: Ids) -> None:
    """Another tenant's stay."""
    [upload] = receive(store, ids, arrived("a.zip")).uploads
    member = SourceReport(source="a.zip/b.txt", verdict="accepted", sha256="b" * 64)
    report = SourceReport(source="a.zip", verdict="archive")
    judge(store, upload, Judgement(report=report, members=(member,)))
    receive(store, ids, arrived("a.zip"), tenant="acme")
    assert store.forget_corpus("local", "terms") == ("a" * 64, "b" * 64)
    assert states(store) == {}
    assert store.counts("acme") == {"terms": {"received": 1}}
    with pytest.raises(ThingNotFound):
        store.upload("local", "terms", upload.document)


def test_corpora_are_kept_by_tenant(database: Database) -> None:
    """Promised by the port."""
    store: CorpusStore = SqlCorpusStore(database)
    assert store.entries("local") == ()
    entry = CorpusEntry(
        tenant="local",
        corpus="terms",
        created_at=NOW,
        created_by="user_1",
        settings=CorpusSettings(title="利用規約", language="ja", hand_off="mailto:a@example.com"),
    )
    store.add(entry)
    with pytest.raises(Conflict):
        store.add(entry)
    assert store.entry("local", "terms") == entry
    assert store.entry("acme", "terms") is None
    store.remove("local", "terms")
    store.change(entry)
    assert store.entries("local") == (entry,)
