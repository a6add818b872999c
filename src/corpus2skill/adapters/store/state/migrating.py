"""Bringing the state of an older release up to date."""

from __future__ import annotations

from importlib import import_module

from sqlalchemy import Column, Connection, String, Table, event, insert

from corpus2skill.adapters.store.state.tables import METADATA, SCHEMA

_SCRIPTS = "corpus2skill.adapters.store:migrations"

ALEMBIC_VERSION = Table("alembic_version", METADATA, Column("version_num", String(32), primary_key=True))
"""Alembic's own: the newest revision that the tables have seen."""


def revision_of(schema: int) -> str:
    """Revisions are numbered as schemas are."""
    return f"{schema:04}"


def upgrade(connection: Connection, _came: int) -> None:
    """Run the revisions that are new to this database, in the caller's transaction."""
    # Read when it is needed: most who open a database find it as it should be.
    command, config = import_module("alembic.command"), import_module("alembic.config").Config()
    config.set_main_option("script_location", _SCRIPTS)
    config.attributes.update(connection=connection, metadata=METADATA)
    command.upgrade(config, revision_of(SCHEMA))


def _note_newest(target: Table, connection: Connection, **_: object) -> None:
    """A new database has seen every revision there is."""
    connection.execute(insert(target).values(version_num=revision_of(SCHEMA)))


event.listen(ALEMBIC_VERSION, "after_create", _note_newest)
