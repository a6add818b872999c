"""The example programs, against a real server on loopback, with the offline engine and without a key."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.e2e.serving import ServerProcess
from tests.e2e.texts import JAPANESE

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
QUESTION = "年額プランを解約したら、いつまで使えますか？"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A server in a process of its own, with a token that may do everything."""
    home = tmp_path_factory.mktemp("server") / "home"
    more = {
        "CORPUS2SKILL_WEBHOOK_SCHEMES": "https,http",
        "CORPUS2SKILL_WEBHOOK_NETWORKS": "127.0.0.0/8",
    }
    scopes = [part for scope in ("read", "ask", "write", "records", "admin") for part in ("--scope", scope)]
    with ServerProcess(home, environment=more) as server:
        made = subprocess.run(
            [
                *(sys.executable, "-m", "corpus2skill.entrypoints.cli.main"),
                *("tokens", "add", "example", *scopes, "--workspace", str(home), "--json"),
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        url = str(server.told["url"])
        yield {
            **os.environ,
            "CORPUS2SKILL_URL": url,
            "CORPUS2SKILL_TOKEN": json.loads(made.stdout)["secret"],
            "PYTHONIOENCODING": "utf-8",
        }
        server.stop()


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    made = list[str]()
    for name, text in JAPANESE.items():
        file = tmp_path / Path(name).name
        file.write_text(text, encoding="utf-8")
        made.append(str(file))
    return made


def ran(arguments: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        arguments, env=environment, capture_output=True, text=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.requirement("S-141")
def test_the_python_program_hands_in_compiles_asks_and_shows_the_way(
    environment: dict[str, str], files: list[str]
) -> None:
    """Issue 6: examples/ that the tests run."""
    done = ran([sys.executable, str(EXAMPLES / "ask.py"), "from-python", QUESTION, *files], environment)
    assert "末日" in done.stdout
    assert "[1] " in done.stdout
    assert "compile: succeeded" in done.stderr
    assert "SKILL.md" in done.stderr


@pytest.mark.requirement("S-141")
@pytest.mark.skipif(shutil.which("jq") is None or shutil.which("curl") is None, reason="curl and jq")
def test_the_shell_script_does_the_same(environment: dict[str, str], files: list[str]) -> None:
    """Issue 6: curl."""
    done = ran(["bash", str(EXAMPLES / "ask.sh"), "from-shell", QUESTION, *files], environment)
    assert "compile: succeeded" in done.stdout
    assert "1. " in done.stdout
    assert "末日" in done.stdout


@pytest.mark.requirement("S-141")
def test_records_are_exported_and_their_chain_is_checked(
    environment: dict[str, str], files: list[str], tmp_path: Path
) -> None:
    """Task: export records."""
    ran([sys.executable, str(EXAMPLES / "ask.py"), "for-export", QUESTION, *files], environment)
    export, out = str(EXAMPLES / "export_records.py"), tmp_path / "records.jsonl"
    head = ran([sys.executable, export, str(out)], environment).stdout.strip()
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert QUESTION in {record["question"] for record in records}
    again = ran([sys.executable, export, str(out), "--kept-head", head], environment)
    assert again.stdout.strip() == head


@pytest.mark.requirement("S-141", "S-129")
def test_a_webhook_reaches_the_receiver_of_the_examples(
    environment: dict[str, str], files: list[str]
) -> None:
    """Task: receive and verify a webhook; the worker of a real server sends it."""
    headers = {"Authorization": f"Bearer {environment['CORPUS2SKILL_TOKEN']}"}
    command = [sys.executable, str(EXAMPLES / "receive_webhooks.py"), "--port", "0"]
    with httpx2.Client(base_url=environment["CORPUS2SKILL_URL"], headers=headers) as client:
        wanted = {"url": "http://127.0.0.1:9/", "kinds": ["compilation.succeeded", "version.published"]}
        made = client.post("/v1/webhook-endpoints", json=wanted).json()
        receiver = subprocess.Popen(
            command,
            env={**environment, "WEBHOOK_SECRET": made["secret"]},
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        try:
            assert receiver.stdout is not None
            port = receiver.stdout.readline().split()[-1]
            place = f"/v1/webhook-endpoints/{made['endpoint_id']}"
            client.patch(place, json={"url": f"http://127.0.0.1:{port}/"}).raise_for_status()
            ran([sys.executable, str(EXAMPLES / "ask.py"), "for-hooks", QUESTION, *files], environment)
            told = {receiver.stdout.readline().split()[0] for _ in range(2)}
        finally:
            receiver.kill()
            receiver.wait()
            assert receiver.stdout is not None
            receiver.stdout.close()
    assert told == {"compilation.succeeded", "version.published"}
