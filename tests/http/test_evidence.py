"""A conversation that somebody else can check, without the server."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from corpus2skill.application.server_wiring import Server
from tests.http.answering import compile_corpus
from tests.http.conftest import ClientOf
from tests.http.test_conversations import finished, session_of


@pytest.mark.requirement("S-142")
def test_the_hashes_can_be_computed_again_from_the_zip_alone(
    api: TestClient, client_of: ClientOf, server: Server, tmp_path: Path
) -> None:
    """Task: record, chain neighbours, verdict; a neighbour's text is not in it."""
    compile_corpus(server, tmp_path / "documents")
    others = "ほかの会話の秘密の質問です。"
    finished(api, session_of(api), others)
    session = session_of(api)
    runs = [finished(api, session)["run_id"], finished(api, session, "では、月額は？")["run_id"]]
    finished(api, session_of(api), others)
    answer = api.get(f"/v1/sessions/{session}/evidence.zip")
    assert answer.headers["content-type"] == "application/zip"
    archive = zipfile.ZipFile(io.BytesIO(answer.content))
    assert {name for name in archive.namelist() if name.startswith("records/")} == {
        f"records/{run}.json" for run in runs
    }
    chain = json.loads(archive.read("chain.json"))
    assert [link["is_neighbour"] for link in chain] == [True, False, False, True]
    for before, link in zip([None, *chain], chain, strict=False):
        canonical = json.dumps(link["header"], sort_keys=True, separators=(",", ":"))
        hashed = "\n".join((canonical, link["payload_sha256"], link["previous_hash"]))
        assert hashlib.sha256(hashed.encode()).hexdigest() == link["hash"]
        assert before is None or before["hash"] == link["previous_hash"]
        if not link["is_neighbour"]:
            payload = archive.read(f"records/{link['header']['run']}.json")
            assert hashlib.sha256(payload).hexdigest() == link["payload_sha256"]
    verdict = json.loads(archive.read("verdict.json"))
    assert (verdict["is_sound"], verdict["records"], verdict["head"]) == (True, 4, chain[-1]["hash"])
    everything = b"".join(archive.read(name) for name in archive.namelist())
    assert others.encode() not in everything
    assert b"sha256" in archive.read("README.txt").lower()
    assert client_of("acme").get(f"/v1/sessions/{session}/evidence.zip").status_code == 404
    assert client_of("local", "ask").get(f"/v1/sessions/{session}/evidence.zip").status_code == 403
