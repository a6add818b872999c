"""Both ways to the tables of the state, made anew and brought up, lead to the same ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, inspect, text
from sqlalchemy.exc import DBAPIError

from corpus2skill.adapters.store import migrations
from corpus2skill.adapters.store.state import migrating
from corpus2skill.adapters.store.state.state_database import open_state, state_url
from corpus2skill.adapters.store.state.tables import METADATA, SCHEMA

FOLDER = Path(str(migrations.__file__)).parent


@pytest.fixture(params=["sqlite", "postgresql"])
def migrated(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Connection]:
    """A database that had nothing, brought up by the revisions alone."""
    url = f"sqlite:///{tmp_path}/old.db"
    if request.param == "postgresql":
        url = str(request.getfixturevalue("postgres_url"))
    open_state(state_url(tmp_path, None))  # every table is known
    engine = create_engine(url)
    with engine.begin() as connection:
        migrating.upgrade(connection, 0)
        yield connection
    engine.dispose()


def test_revisions_lead_to_the_tables_as_they_are(migrated: Connection) -> None:
    """Issue: migrations with Alembic."""
    assert compare_metadata(MigrationContext.configure(migrated), METADATA) == []


def test_a_migrated_log_of_operators_is_append_only_too(migrated: Connection) -> None:
    """Promised by ports.audit: there is no way to change or remove an event."""
    migrated.execute(
        text(
            "INSERT INTO audit_events VALUES ('local', 'audit_1', 'now', 'me', 'job.started', 'job_1', '{}')"
        )
    )
    with pytest.raises(DBAPIError), migrated.begin_nested():
        migrated.execute(text("UPDATE audit_events SET actor = 'nobody'"))
    with pytest.raises(DBAPIError), migrated.begin_nested():
        migrated.execute(text("DELETE FROM audit_events"))


def test_the_newest_revision_has_the_number_of_the_schema() -> None:
    """A table that was changed without a revision shows in the first test, a number that was not here."""
    assert ScriptDirectory(str(FOLDER)).get_heads() == [migrating.revision_of(SCHEMA)]


def test_a_new_database_has_seen_every_revision(tmp_path: Path) -> None:
    """Else the next release would make its tables a second time."""
    database = open_state(state_url(tmp_path, None))
    database.write(lambda connection: None)
    with create_engine(f"sqlite:///{tmp_path}/state.db").begin() as connection:
        assert inspect(connection).has_table("audit_events")
        seen = connection.scalar(text("SELECT version_num FROM alembic_version"))
    assert seen == migrating.revision_of(SCHEMA)
