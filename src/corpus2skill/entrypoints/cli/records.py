"""`records`: the audit records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from corpus2skill.domain.run import RunRecord
from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.desk import open_desk
from corpus2skill.entrypoints.cli.faults import fault_sentence
from corpus2skill.entrypoints.cli.noting import noted
from corpus2skill.entrypoints.cli.options import JsonOption, WorkspaceOption, YesOption
from corpus2skill.entrypoints.cli.output import Output, columns, one_line
from corpus2skill.entrypoints.cli.record_filters import (
    ChannelFilter,
    CorpusFilter,
    DoorFilter,
    DoubtfulFilter,
    LimitFilter,
    ModelFilter,
    OutcomeFilter,
    SessionFilter,
    SinceFilter,
    TenantOption,
    UntilFilter,
    UserFilter,
    VersionFilter,
)
from corpus2skill.entrypoints.cli.trail import (
    answer_lines,
    cause_of,
    ending_line,
    outcome_name,
    quotation_lines,
    trail_lines,
)
from corpus2skill.errors import ConfirmationNeeded
from corpus2skill.ports.store import RecordFilter

if TYPE_CHECKING:
    from corpus2skill.application.delete_records import Deletion
    from corpus2skill.application.show_records import Judged

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)

_LISTED = 20
"""Records listed where no limit is given; an export has all."""

Form = Literal["jsonl", "csv"]
BomOption = Annotated[bool, typer.Option("--bom", help="Begin the CSV with a byte order mark, for Excel.")]


@app.callback()
def list_command(
    ctx: typer.Context,
    corpus: CorpusFilter = None,
    at: VersionFilter = None,
    session: SessionFilter = None,
    user: UserFilter = None,
    outcome: OutcomeFilter = None,
    channel: ChannelFilter = None,
    door: DoorFilter = None,
    model: ModelFilter = None,
    since: SinceFilter = None,
    until: UntilFilter = None,
    doubtful: DoubtfulFilter = False,
    limit: LimitFilter = None,
    export: Annotated[Form | None, typer.Option("--export", hidden=True)] = None,
    bom: Annotated[bool, typer.Option("--bom", hidden=True)] = False,
    tenant: TenantOption = "local",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """List, show, export, delete or verify the audit records.

    \b
    corpus2skill records --outcome not_found --limit 50
    corpus2skill records --since 2026-04-01 --doubtful
    corpus2skill records show run_01m8pky5kmy1g8hzyfbesbyjhv
    corpus2skill records export --format csv --bom > records.csv
    corpus2skill records delete --session session_01m8pky5km --yes
    corpus2skill records verify
    """
    if ctx.invoked_subcommand is not None:
        return exit_codes.OK
    from corpus2skill.application.show_records import judged_records, list_records

    desk = open_desk(workspace, is_json=json)
    which = RecordFilter(
        corpus=corpus,
        version=at,
        session=session,
        user=user,
        outcome=outcome,
        channel=channel,
        door=door,
        model=model,
        since=_begin(since),
        until=_end(until),
        is_doubtful=doubtful or None,
        limit=limit or (None if export else _LISTED),
    )
    records = list_records(desk.workspace, which, tenant)
    if export is not None:
        _export(desk.out, judged_records(desk.workspace, which, tenant), export, bom=bom)
    elif json:
        desk.out.document(records)
    else:
        _list(desk.out, list(records))
    return exit_codes.OK


@app.command("export")
def export_command(
    form: Annotated[
        Form, typer.Option("--format", "-f", help="jsonl has everything, csv is a table for people.")
    ] = "jsonl",
    bom: BomOption = False,
    corpus: CorpusFilter = None,
    at: VersionFilter = None,
    session: SessionFilter = None,
    user: UserFilter = None,
    outcome: OutcomeFilter = None,
    channel: ChannelFilter = None,
    door: DoorFilter = None,
    model: ModelFilter = None,
    since: SinceFilter = None,
    until: UntilFilter = None,
    doubtful: DoubtfulFilter = False,
    limit: LimitFilter = None,
    tenant: TenantOption = "local",
    workspace: WorkspaceOption = None,
) -> int:
    """Write records to standard output: all, or those that the options mean.

    \b
    corpus2skill records export > records.jsonl
    corpus2skill records export --format csv --bom --since 2026-04-01 --until 2026-04-30 > april.csv
    """
    from corpus2skill.application.show_records import judged_records

    desk = open_desk(workspace, is_json=False)
    which = RecordFilter(
        corpus=corpus,
        version=at,
        session=session,
        user=user,
        outcome=outcome,
        channel=channel,
        door=door,
        model=model,
        since=_begin(since),
        until=_end(until),
        is_doubtful=doubtful or None,
        limit=limit,
    )
    _export(desk.out, judged_records(desk.workspace, which, tenant), form, bom=bom)
    return exit_codes.OK


@app.command("delete")
def delete_command(
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="This record.", show_default=False)
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(
            "--session", "-s", metavar="ID", help="All records of this conversation.", show_default=False
        ),
    ] = None,
    user: Annotated[
        str | None,
        typer.Option("--user", "-u", metavar="ID", help="All records of this person.", show_default=False),
    ] = None,
    yes: YesOption = False,
    tenant: TenantOption = "local",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Delete what was said: one record, one conversation, or all of one person.

    \b
    corpus2skill records delete --run run_01m8pky5kmy1
    corpus2skill records delete --session session_01m8pky5km --yes
    corpus2skill records delete --user tanaka --yes

    Without --yes only what would be deleted is shown. Question, answer, trail and person are replaced by a
    dated mark, and nothing of them can be read in the workspace's files; the chain still verifies. This
    cannot be undone.
    """
    from corpus2skill.application.delete_records import Whose, delete_records

    desk = open_desk(workspace, is_json=json)
    whose = Whose(run=run, session=session, user=user)
    deletion = delete_records(desk.workspace, whose, is_confirmed=yes, tenant=tenant)
    if deletion.is_done and deletion.records:
        noted(desk, "records.deleted", tenant, count=len(deletion.records))
    if yes and json:
        desk.out.document(deletion)
    elif not json:
        for line in _deletion_lines(desk.out, deletion):
            desk.out.answer(line)
    if not yes:
        raise ConfirmationNeeded("delete_not_confirmed", records=len(deletion.records))
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
    head: Annotated[
        str | None,
        typer.Option(
            "--head",
            metavar="HASH",
            help="A head that was printed before and kept elsewhere: the chain must still have it.",
            show_default=False,
        ),
    ] = None,
    tenant: TenantOption = "local",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Recompute the chain of records and print its head; a changed or missing record shows.

    \b
    corpus2skill records verify
    corpus2skill records verify --head 3f1b...

    Keep the head somewhere else: that the newest records were cut off shows only against it.
    """
    from corpus2skill.application.show_records import verify_records

    desk = open_desk(workspace, is_json=json)
    verdict = verify_records(desk.workspace, tenant, kept_head=head)
    if json:
        desk.out.document(verdict)
    else:
        key = "cli.chain_faults" if verdict.faults else "cli.chain_sound"
        desk.out.answer(desk.out.say(key, records=verdict.records, head=verdict.head))
        for fault in verdict.faults:
            desk.out.answer("  " + fault_sentence(desk.out, fault))
        if verdict.kept_head_at is not None:
            key = "cli.head_kept" if verdict.kept_head_at else "cli.head_kept_empty"
            desk.out.answer(desk.out.say(key, seq=verdict.kept_head_at))
    return exit_codes.DAMAGED if verdict.faults else exit_codes.OK


def _begin(text: str | None) -> str | None:
    from corpus2skill.application.show_records import moment

    return None if text is None else moment(text)


def _end(text: str | None) -> str | None:
    from corpus2skill.application.show_records import moment

    return None if text is None else moment(text, is_end=True)


def _export(out: Output, records: Iterable[Judged], form: Form, *, bom: bool) -> None:
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


def _deletion_lines(out: Output, deletion: Deletion) -> Iterable[str]:
    for record in deletion.records:
        yield out.say(
            "cli.deleted_record",
            run=record.run,
            started=record.started_at,
            outcome=out.say(f"outcome.{record.outcome}"),
            session=record.session,
        )
    if deletion.is_done:
        yield out.say("cli.deleted", records=len(deletion.records))
    if deletion.under_way:
        yield out.say("cli.delete_under_way", count=deletion.under_way)


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
    if record.user is not None:
        yield out.say("cli.record_user", user=record.user)
    yield from ("", out.say("cli.question", question=record.question), "")
    yield from trail_lines(out, record.visits)
    yield ""
    yield from answer_lines(out, record)
    yield from quotation_lines(out, record)
    yield from ("", ending_line(out, record))
    if cause := cause_of(out, record):
        yield out.say("chat.cause", cause=cause)
