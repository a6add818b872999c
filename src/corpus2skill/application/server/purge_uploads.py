"""Finish what was to be purged, once no active version has it."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from corpus2skill.application.remove_documents import Purge, purge_sources
from corpus2skill.application.server.corpora import record_tenants
from corpus2skill.application.server.documents import event_payload, live_sources
from corpus2skill.application.server.holds import check_free
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.event_log import NewEvent, documents_topic
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.upload import Upload
from corpus2skill.errors import Busy, Conflict, Corpus2SkillError

_log = logging.getLogger(__name__)

_AT_ONCE = 20
_LOOK_AGAIN_SECONDS = 2.0
SYSTEM = "system"


async def purge_uploads(server: Server, stop: asyncio.Event) -> None:
    """The worker's duty: purge what is to go, as soon as it may, until `stop` is set."""
    while not stop.is_set():
        try:
            await asyncio.to_thread(purge_waiting, server)
        except Corpus2SkillError:
            _log.warning("nothing can be purged now", exc_info=True)
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), _LOOK_AGAIN_SECONDS)


def purge_waiting(server: Server) -> int:
    """Purge every document that is to go and that no active version has; return how many went.

    One whose corpus is being compiled, or on whose versions runs are under way, waits for the next time.
    """
    return sum(_is_purged(server, upload) for upload in server.uploads.waiting("purging", _AT_ONCE))


def _is_purged(server: Server, upload: Upload) -> bool:
    workspace = server.workspace(upload.tenant)
    try:
        check_free(server, upload.tenant, corpus=upload.corpus)
        # Whoever compiles now may have read it before it was taken out; whoever begins later finds it gone.
        with workspace.versions.exclusive(upload.corpus):
            _, live = live_sources(server, upload.tenant, upload.corpus)
        if any(name == upload.name or name.startswith(f"{upload.name}/") for name in live):
            return False
        tenants = record_tenants(upload.tenant)
        purge = purge_sources(workspace, upload.corpus, (upload.name,), tenants)
    except (Busy, Conflict):
        return False
    except Corpus2SkillError:
        _log.warning("a document cannot be purged now: %s", upload.document, exc_info=True)
        return False
    server.reviews.forget(upload.tenant, purge.records)
    if not purge.under_way:
        _note(server, upload, purge)
    return not purge.under_way


def _note(server: Server, upload: Upload, purge: Purge) -> None:
    now = moment_of(server.clock.now())
    change = server.uploads.mark(
        upload.tenant, upload.corpus, upload.document, "purged", now, was=("purging",), forget=True
    )
    counts = {
        "results": purge.results,
        "versions": len(purge.versions),
        "records": len(purge.records),
        "unopened": len(purge.unopened),
    }
    server.audit.note(upload.tenant, SYSTEM, "document.purged", upload.document, name=upload.name, **counts)
    payload = {
        **event_payload(change.uploads[0]),
        **counts,
        "versions_removed": list(purge.versions),
        "unopened_runs": list(purge.unopened),
    }
    server.events.append(
        upload.tenant,
        documents_topic(upload.corpus),
        [NewEvent(kind="document.purged", payload=payload)],
    )
