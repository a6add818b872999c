"""A corpus with two versions, for tests of versions and of their tests."""

from __future__ import annotations

from pathlib import Path

import anyio

from corpus2skill.application.compile_documents import compile_documents
from corpus2skill.application.compile_engine import silent
from corpus2skill.application.compile_options import CompileOptions
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.wiring import TENANT
from tests.e2e.texts import JAPANESE
from tests.http.answering import CORPUS, compile_corpus

BASE = f"/v1/corpora/{CORPUS}"
NEW_TEXT = "# 返品\n\n返品は商品の到着から8日以内に限り受け付けます。送料はお客様の負担とします。\n"


def two_versions(server: Server, folder: Path, *, activate: bool = True) -> None:
    """Compile the little documents, then once more with one more and one changed."""
    compile_corpus(server, folder)
    (folder / "返品.md").write_text(NEW_TEXT, encoding="utf-8")
    hours = JAPANESE["案内/営業時間.txt"].replace("午後5時", "午後6時")
    (folder / "案内/営業時間.txt").write_text(hours, encoding="utf-8")

    async def work() -> None:
        options = CompileOptions(corpus=CORPUS, paths=(folder,), is_confirmed=True, activate=activate)
        await compile_documents(server.workspace(TENANT), options, silent)

    anyio.run(work)
