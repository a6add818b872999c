"""`records`: the audit records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

import typer

from corpus2skill.domain.run import Outcome, RunRecord
from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.desk import open_desk
from corpus2skill.entrypoints.cli.faults import fault_sentence
from corpus2skill.entrypoints.cli.options import JsonOption, WorkspaceOption
from corpus2skill.entrypoints.cli.output import Output, columns, one_line
from corpus2skill.entrypoints.cli.trail import answer_lines, ending_line, outcome_name, trail_lines
from corpus2skill.ports.store import RecordFilter

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)

_LISTED = 20
"""Records listed where no limit is given; an export has all."""

TenantOption = Annotated[
    str, typer.Option("--tenant", metavar="NAME", help="Whose records; `eval` keeps its own in `evaluation`.")
]


@app.callback()
def list_command(
    ctx: typer.Context,
    corpus: Annotated[
        str | None, typer.Option("--corpus", "-c", metavar="NAME", help="Of this corpus.", show_default=False)
    ] = None,
    session: Annotated[
        str | None,
        typer.Option("--session", "-s", metavar="ID", help="Of this conversation.", show_default=False),
    ] = None,
    outcome: Annotated[
        Outcome | None, typer.Option("--outcome", help="That ended this way.", show_default=False)
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            "-n",
            metavar="N",
            min=1,
            help="So many; else 20, an export all of them.",
            show_default=False,
        ),
    ] = None,
    export: Annotated[
        Literal["jsonl", "csv"] | None,
        typer.Option("--export", help="Write the records to stdout in this form.", show_default=False),
    ] = None,
    bom: Annotated[
        bool, typer.Option("--bom", help="Begin the CSV with a byte order mark, for Excel.")
    ] = False,
    tenant: TenantOption = "local",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """List, show, verify or export the audit records.

    \b
    corpus2skill records --outcome not_found --limit 50
    corpus2skill records --export csv --bom > records.csv
    corpus2skill records show run_01m8pky5kmy1g8hzyfbesbyjhv
    corpus2skill records verify
    """
    if ctx.invoked_subcommand is not None:
        return exit_codes.OK
    from corpus2skill.application.show_records import list_records

    desk = open_desk(workspace, is_json=json)
    some = limit or (None if export else _LISTED)
    which = RecordFilter(corpus=corpus, session=session, outcome=outcome, limit=some)
    records = list_records(desk.workspace, which, tenant)
    if export is not None:
        _export(desk.out, records, export, bom=bom)
    elif json:
        desk.out.document(records)
    else:
        _list(desk.out, list(records))
    return exit_codes.OK


@app.command("show")
def show_command(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run's id, or a beginning that only it has.")],
    tenant: TenantOption = "local",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Show one record: question, trail, answer, sources.

    \b
    corpus2skill records show run_01m8pky5kmy1 --json
    """
    from corpus2skill.application.show_records import show_record

    desk = open_desk(workspace, is_json=json)
    record = show_record(desk.workspace, run, tenant)
    if json:
        desk.out.document(record)
        return exit_codes.OK
    for line in _record_lines(desk.out, record):
        desk.out.answer(line)
    return exit_codes.OK


@app.command("verify")
def verify_command(
    tenant: TenantOption = "local", workspace: WorkspaceOption = None, json: JsonOption = False
) -> int:
    """Recompute the chain of records and print its head; a changed or missing record shows.

    \b
    corpus2skill records verify
    """
    from corpus2skill.application.show_records import verify_records

    desk = open_desk(workspace, is_json=json)
    verdict = verify_records(desk.workspace, tenant)
    if json:
        desk.out.document(verdict)
    else:
        key = "cli.chain_faults" if verdict.faults else "cli.chain_sound"
        desk.out.answer(desk.out.say(key, records=verdict.records, head=verdict.head))
        for fault in verdict.faults:
            desk.out.answer("  " + fault_sentence(desk.out, fault))
    return exit_codes.DAMAGED if verdict.faults else exit_codes.OK


def _export(out: Output, records: Iterable[RunRecord], form: Literal["jsonl", "csv"], *, bom: bool) -> None:
    from corpus2skill.application.show_records import export_csv, export_jsonl

    if bom and form == "csv":
        out.mark_byte_order()
    for line in export_csv(records) if form == "csv" else export_jsonl(records):
        out.raw(line)


def _list(out: Output, records: list[RunRecord]) -> None:
    if not records:
        out.note(out.say("cli.no_records"))
        return
    rows = [
        (record.ids.run, record.started_at, outcome_name(out, record), one_line(record.question, 60))
        for record in records
    ]
    for row in columns(rows):
        out.answer(row)


def _record_lines(out: Output, record: RunRecord) -> Iterable[str]:
    yield out.say(
        "cli.record",
        run=record.ids.run,
        corpus=record.ids.corpus,
        version=record.ids.version,
        turn=record.ids.turn,
        started=record.started_at,
        channel=record.channel,
        door=record.door,
        model=record.model,
    )
    yield from ("", out.say("cli.question", question=record.question), "")
    yield from trail_lines(out, record.visits)
    yield ""
    yield from answer_lines(out, record)
    yield from ("", ending_line(out, record))
    if record.error_class is not None:
        yield f"{record.error_class} {record.error_detail or ''}".rstrip()
