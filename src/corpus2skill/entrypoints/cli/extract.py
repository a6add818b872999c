"""`extract`: a file's text as chunks with their places, without compiling."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.desk import open_desk
from corpus2skill.entrypoints.cli.options import JsonOption, WorkspaceOption, named_path
from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.entrypoints.cli.verdicts import notice_sentence, refusal_sentence, verdict_name

if TYPE_CHECKING:
    from corpus2skill.application.extract_file import ExtractedFile


def extract_command(
    file: Annotated[Path, typer.Argument(parser=named_path, metavar="FILE", help="One document.")],
    chunk_limit: Annotated[
        int | None,
        typer.Option("--chunk-limit", metavar="N", min=1, help="Most characters.", show_default=False),
    ] = None,
    chunk_minimum: Annotated[
        int | None,
        typer.Option("--chunk-minimum", metavar="N", min=0, help="Fewest characters.", show_default=False),
    ] = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Show a file's verdict and its chunks with places.

    \b
    corpus2skill extract terms.docx
    corpus2skill extract fees.pdf --json
    """
    from corpus2skill.application.extract_file import extract_file

    desk = open_desk(workspace, is_json=json)
    work = extract_file(desk.workspace, file, chunk_limit=chunk_limit, chunk_minimum=chunk_minimum)
    extracted = asyncio.run(work)
    if json:
        desk.out.document(_document(desk.out, extracted))
    else:
        _write_chunks(desk.out, extracted)
    return _concluded(desk.out, extracted)


def _document(out: Output, extracted: ExtractedFile) -> dict[str, object]:
    refusal = extracted.refusal
    return {
        "file": extracted.file,
        "verdict": extracted.verdict,
        "reason": None if refusal is None else refusal_sentence(out, refusal),
        "characters": extracted.characters,
        "notices": [
            {"code": notice.code, "message": notice_sentence(out, notice)} for notice in extracted.notices
        ],
        "chunks": [
            {
                "id": chunk.chunk_id,
                "text": chunk.text,
                "place": str(chunk.place),
                "headings": chunk.place.headings,
                "pages": chunk.place.pages,
                "start": chunk.start,
                "end": chunk.end,
            }
            for chunk in extracted.chunks
        ],
        "members": [_document(out, member) for member in extracted.members],
    }


def _write_chunks(out: Output, extracted: ExtractedFile) -> None:
    for chunk in extracted.chunks:
        out.answer(f"=== {chunk.chunk_id}  {chunk.place}".rstrip())
        out.answer(chunk.text)
        out.answer()
    for member in extracted.members:
        if member.chunks:
            out.answer(f"##### {member.file}")
            out.answer()
            _write_chunks(out, member)


def _concluded(out: Output, extracted: ExtractedFile) -> int:
    within = [_concluded(out, member) for member in extracted.members]
    for notice in extracted.notices:
        out.note(f"{extracted.file}: {notice_sentence(out, notice)}")
    verdict = extracted.verdict
    if extracted.refusal is not None:
        sentence = refusal_sentence(out, extracted.refusal)
        out.note(f"{extracted.file}: {verdict_name(out, verdict)} [{verdict}] - {sentence}")
        return exit_codes.NOT_COMPILED
    if verdict != "accepted":
        out.note(f"{extracted.file}: {verdict_name(out, verdict)} - {out.say(f'verdict.{verdict}.reason')}")
        return exit_codes.OK if exit_codes.OK in within else exit_codes.NOT_COMPILED
    values = {"count": len(extracted.chunks), "characters": extracted.characters}
    out.note(f"{extracted.file}: {out.say('cli.extracted', **values)}")
    return exit_codes.OK
