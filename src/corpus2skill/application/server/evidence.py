"""A conversation with what others need to check that nothing in it was changed."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import cast

from corpus2skill.application.json_form import to_json
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.show_records import verify_records
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import Principal
from corpus2skill.messages import message
from corpus2skill.ports.proofs import ChainLink


def evidence_of(server: Server, by: Principal, session: str) -> bytes:
    """Return a zip: each record exactly as it was hashed, the chain around it, and the verdict of today.

    Of records that do not belong to the conversation there are headers and hashes alone, without whose they are.

    Raises:
        ThingNotFound: the tenant has no such conversation.
    """
    server.hosted.session(by.tenant, session)
    workspace = server.workspace(by.tenant)
    links = workspace.proofs().session_links(by.tenant, session)
    verdict = verify_records(workspace, by.tenant)
    checked = {"checked_at": moment_of(server.clock.now()), "is_sound": not verdict.faults}
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "README.txt", f"{message('ja', 'evidence.readme')}\n\n{message('en', 'evidence.readme')}\n"
        )
        archive.writestr("chain.json", _text([_form(link, session) for link in links]))
        archive.writestr("verdict.json", _text({**checked, **_plain(to_json(verdict))}))
        for link in links:
            if link.header["session"] == session and link.payload is not None:
                archive.writestr(f"records/{link.header['run']}.json", link.payload.encode("utf-8"))
    server.audit.note(by.tenant, by.actor, "session.proved", session, records=len(links))
    return held.getvalue()


def _form(link: ChainLink, session: str) -> dict[str, object]:
    is_neighbour = link.header["session"] != session
    return {
        "is_neighbour": is_neighbour,
        "header": dict(link.header),
        "payload_sha256": link.payload_sha256,
        "previous_hash": link.previous_hash,
        "hash": link.hash,
        "tombstoned_at": link.tombstoned_at,
    }


def _plain(form: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", form)


def _text(form: object) -> str:
    return json.dumps(form, ensure_ascii=False, indent=2) + "\n"
