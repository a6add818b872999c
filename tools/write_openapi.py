"""Write the OpenAPI document of the HTTP API into the documentation: `make openapi`."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from corpus2skill.application.server_wiring import open_server
from corpus2skill.entrypoints.http.app import create_app
from corpus2skill.settings import ServerSettings

FILE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "openapi.json"


def document() -> str:
    """The document as it stands in the file: sorted where order means nothing, so that a change shows alone."""
    with tempfile.TemporaryDirectory() as home:
        app = create_app(open_server(Path(home), ServerSettings()))
        return json.dumps(app.openapi(), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(document(), encoding="utf-8")
