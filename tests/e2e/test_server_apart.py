"""What grows with a corpus, done in the child processes of a server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from corpus2skill.application.server.documents import preview_document
from corpus2skill.application.server.inspect_uploads import inspect_all
from corpus2skill.application.server.job_estimate import estimate_job
from corpus2skill.application.server.receive_documents import receive
from corpus2skill.application.server.version_diff import compare_versions
from corpus2skill.application.server.version_tree import search
from corpus2skill.application.server.versions import SwitchRequest, activate
from corpus2skill.application.server_wiring import Server, open_server
from corpus2skill.domain.server_job import JobOptions
from corpus2skill.errors import Corpus2SkillError, Damaged
from tests.e2e.job_shop import CORPUS, MODEL, JobShop, opened_shop
from tests.e2e.paid import rules

pytestmark = pytest.mark.requirement("S-144")


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobShop]:
    with opened_shop(tmp_path, rules(6), monkeypatch) as found:
        yield found


@pytest.fixture
def apart(shop: JobShop) -> Iterator[Server]:
    """The same server, as `serve` opens it."""
    server = open_server(shop.server.home, shop.server.server_settings, has_children=True)
    yield server
    server.apart.close()


def test_estimates_comparisons_and_searches_are_the_same_in_a_child(shop: JobShop, apart: Server) -> None:
    """Issue 6: the HTTP process answers everybody else meanwhile."""
    by, tenant = shop.person(), shop.person().tenant
    shop.until(worker := shop.worker(), shop.start(model="offline"))
    (shop.documents / "新しい規程.md").write_text("返品は三十日以内に申し出る。" * 10, encoding="utf-8")
    here, there = (
        estimate_job(server, by, CORPUS, JobOptions(model=MODEL)) for server in (shop.server, apart)
    )
    assert replace(there, estimate="", created_at="") == replace(here, estimate="", created_at="")
    assert apart.jobs.estimate(tenant, there.estimate) == there
    shop.until(worker, shop.start(model="offline"))
    for server in (shop.server, apart):
        assert compare_versions(server, tenant, CORPUS, 1, 2).plain.sources_added == ("新しい規程.md",)
        assert [found.title for _, found in search(server, tenant, CORPUS, 2, "返品", after=0, limit=9)]
    assert compare_versions(apart, tenant, CORPUS, 1, 2) == compare_versions(
        shop.server, tenant, CORPUS, 1, 2
    )


@pytest.mark.anyio
async def test_a_long_text_is_cut_in_a_child(shop: JobShop, apart: Server) -> None:
    by = shop.person()
    reception = receive(apart, by, CORPUS)
    reception.begin("長い規程.md")
    reception.write(
        "".join(f"第{number}条 届け出は三十日前までに行う。\n\n" for number in range(9_000)).encode()
    )
    (received,) = reception.finish()
    await inspect_all(apart)
    assert received.view is not None
    document = received.view.upload.document
    here, there = (
        preview_document(server, by.tenant, CORPUS, document, member=None, first=3, limit=2)
        for server in (shop.server, apart)
    )
    assert here == there
    assert (there.first, len(there.chunks), there.count > 100) == (3, 2, True)


def test_a_fault_found_in_a_child_is_said_as_here(shop: JobShop, apart: Server) -> None:
    by = shop.person()
    worker = shop.worker()
    for model in ("offline", "offline"):
        shop.until(worker, shop.start(model=model))
        (shop.documents / "もう一つ.md").write_text("一つだけ増えた。" * 30, encoding="utf-8")
    tree = shop.server.workspace(by.tenant).path / "corpora" / CORPUS / "versions" / "1" / "tree"
    next(tree.rglob("doc_*.md")).write_text("書き換えた", encoding="utf-8")
    told = [_refusal(server, shop) for server in (shop.server, apart)]
    assert told[0].values == told[1].values
    assert isinstance(told[1], Damaged)


def _refusal(server: Server, shop: JobShop) -> Corpus2SkillError:
    with pytest.raises(Corpus2SkillError) as raised:
        activate(server, shop.person(), CORPUS, 1, SwitchRequest(seen="any"))
    return raised.value
