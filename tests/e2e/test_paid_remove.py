"""`remove` in a workspace that pays: the text goes from the live version and from what was bought about it."""

from __future__ import annotations

import pytest

from tests.e2e.command_line import write_documents
from tests.e2e.paid import Shop, bytes_below, rule

MARKER = "ヒヨドリ計画"
SECRET = "社外秘/計画.md"


@pytest.fixture
def marked(shop: Shop) -> Shop:
    """A shop whose corpus has a marked document, bought and asked about."""
    write_documents(shop.documents, {SECRET: rule(500, f"{MARKER}の予算は二千万円とする。")})
    assert shop.paid().code == 0
    assert MARKER.encode() in _live(shop)
    assert MARKER.encode() in _bought(shop)
    return shop


@pytest.mark.requirement("P-15")
def test_a_removal_leaves_nothing_in_the_live_version_and_in_the_result_store(marked: Shop) -> None:
    """design.md: takes its text out of the next version and the result store; the log beside the store too."""
    ran = marked.cli("remove", SECRET, "--model", marked.provider, "--yes", "--json")
    assert ran.code == 0, ran.err
    assert ran.json["results"] >= 1
    assert MARKER.encode() not in _live(marked)
    assert MARKER.encode() not in _bought(marked)
    assert marked.is_sound()


@pytest.mark.requirement("P-15")
def test_a_purge_leaves_nothing_in_any_file(marked: Shop) -> None:
    """design.md: `--purge` also out of old versions."""
    ran = marked.cli("remove", SECRET, "--model", marked.provider, "--purge", "--yes", "--json")
    assert (ran.code, ran.json["versions"]) == (0, [1]), ran.err
    assert MARKER.encode() not in bytes_below(marked.cli.workspace)
    assert marked.is_sound()


@pytest.mark.requirement("P-15")
def test_a_removal_costs_at_most_the_descriptions_of_the_branches_above(marked: Shop) -> None:
    """A deletion changes no other chunk: none is summarised or placed again."""
    marked.server.calls.clear()
    assert marked.cli("remove", SECRET, "--model", marked.provider, "--yes").code == 0
    assert set(marked.purposes()) <= {"describe"}
    assert len(marked.answered) <= 2


@pytest.mark.requirement("P-15")
def test_a_removal_that_nobody_agreed_to_pay_for_takes_nothing_out(one_shop: Shop) -> None:
    """Whatever fails, the live version stays whole."""
    write_documents(one_shop.documents, {SECRET: rule(500, MARKER)})
    assert one_shop.paid().code == 0
    ran = one_shop.cli("remove", SECRET, "--json")
    assert (ran.code, ran.json["error"]["code"]) == (2, "model_not_named")
    assert MARKER.encode() in _live(one_shop)


@pytest.mark.requirement("P-15")
def test_documents_that_are_gone_from_the_folder_leave_nothing_in_the_next_version(marked: Shop) -> None:
    """field report 7: a compile in which there were only deletions."""
    (marked.documents / SECRET).unlink()
    marked.server.calls.clear()
    assert marked.paid().code == 0
    assert MARKER.encode() not in _live(marked)
    assert set(marked.purposes()) <= {"describe"}
    assert marked.is_sound()


def _live(shop: Shop) -> bytes:
    version = shop.active()
    assert version is not None
    return bytes_below(shop.tree_folder(version))


def _bought(shop: Shop) -> bytes:
    """The result store and the files that its database keeps beside it."""
    return b"".join(path.read_bytes() for path in sorted(shop.cli.workspace.glob("results.db*")))
