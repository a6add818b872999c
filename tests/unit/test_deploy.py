"""The files for containers, systemd and proxies: what can be said of them without running them."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import fields
from pathlib import Path

import pytest

from corpus2skill.entrypoints.http.routes.health import router
from corpus2skill.settings import HOME_VARIABLE, ServerSettings, variable

DEPLOY = Path(__file__).parent.parent.parent / "deploy"
UNITS = sorted((DEPLOY / "systemd").iterdir())
KNOWN = {variable(field.name) for field in fields(ServerSettings)} | {
    HOME_VARIABLE,
    "CORPUS2SKILL_MASTER_KEY",
}


def _text(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


@pytest.mark.requirement("S-140")
def test_every_variable_that_is_named_is_a_setting() -> None:
    """Nothing is set that nobody reads."""
    for file in (file for file in DEPLOY.rglob("*") if file.is_file()):
        text = file.read_text(encoding="utf-8")
        named = set(re.findall(r"\bCORPUS2SKILL_[A-Z_]+", text))
        assert named <= KNOWN, file.name


@pytest.mark.requirement("S-140")
def test_the_container_runs_as_nobody_special_on_a_home_of_its_own() -> None:
    """Task: non-root user, a volume for the home, a health check, a stop that is graceful."""
    steps = _text("Containerfile").partition("\n\nFROM ")[2]
    assert re.search(r"^USER [1-9][0-9]+$", steps, re.MULTILINE)
    assert re.search(r"^VOLUME /srv/corpus2skill$", steps, re.MULTILINE)
    assert "CORPUS2SKILL_HOME=/srv/corpus2skill" in steps
    assert re.search(r"^STOPSIGNAL SIGTERM$", steps, re.MULTILINE)
    assert steps.index("\nUSER ") < steps.index("\nCMD ")
    assert not re.search(r"^ADD |curl .*\| *sh|--privileged", steps, re.MULTILINE)
    asked = re.search(r"HEALTHCHECK.*?127\.0\.0\.1:\d+(/\w+)", steps, re.DOTALL)
    assert asked is not None
    assert asked[1] in {route.path for route in router.routes}  # type: ignore[attr-defined]
    assert f"EXPOSE {ServerSettings().port}" in steps


@pytest.mark.requirement("S-140")
def test_the_service_may_do_no_more_than_it_needs() -> None:
    """Task: hardened."""
    text = _text("systemd/corpus2skill.service")
    for line in ("NoNewPrivileges=yes", "ProtectSystem=strict", "CapabilityBoundingSet=", "UMask=0077"):
        assert f"\n{line}\n" in text
    stop = re.search(r"TimeoutStopSec=(\d+)", text)
    assert stop is not None
    assert int(stop[1]) > ServerSettings().stop_seconds + 20


@pytest.mark.requirement("S-140")
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_takes_the_unit(unit: Path, tmp_path: Path) -> None:
    """`systemd-analyze verify`, where it is installed; the program itself is not where the unit looks for it."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    for each in UNITS:
        text = each.read_text(encoding="utf-8")
        text = text.replace("/opt/corpus2skill/bin/corpus2skill", "/bin/true")
        (tmp_path / each.name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [program, "verify", "--man=no", str(tmp_path / unit.name)],
        capture_output=True,
        text=True,
        check=False,
    )
    said = [line for line in done.stderr.splitlines() if str(tmp_path) in line or "corpus2skill" in line]
    assert said == []


@pytest.mark.requirement("S-140")
def test_the_proxies_hold_no_event_back_and_pass_on_who_asks() -> None:
    """Task: SSE buffering off; big uploads; counts are not for the world."""
    nginx, caddy = _text("proxy/nginx.conf"), _text("proxy/Caddyfile")
    for line in (
        "proxy_buffering off;",
        "proxy_request_buffering off;",
        "client_max_body_size 1g;",
        "proxy_set_header Host $host;",
        "proxy_set_header X-Forwarded-For $remote_addr;",
        "proxy_set_header X-Forwarded-Proto $scheme;",
        "location = /metrics { return 404; }",
    ):
        assert line in nginx
    assert nginx.count("{") == nginx.count("}")
    for line in ("flush_interval -1", "max_size 1GB", "respond /metrics 404"):
        assert line in caddy
    assert caddy.count("{") == caddy.count("}")


@pytest.mark.requirement("S-140")
def test_what_was_not_run_says_so() -> None:
    """Task: marked "not run"."""
    for name in ("Containerfile", "systemd/corpus2skill.service", "proxy/Caddyfile", "proxy/nginx.conf"):
        assert "Not run where this project is tested" in _text(name), name
