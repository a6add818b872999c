"""Write the revision that leads from the newest one to the tables as they are now: `make_migration.py 'what for'`.

Read what it wrote before it is committed: a column that was renamed looks like one that went and one that came.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

from corpus2skill.adapters.store.state import migrating
from corpus2skill.adapters.store.state.state_database import open_state, state_url
from corpus2skill.adapters.store.state.tables import METADATA, SCHEMA

FOLDER = Path(migrating.__file__).parent.parent / "migrations"


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        open_state(state_url(Path(home), None))
        with create_engine(f"sqlite:///{home}/before.db").begin() as connection:
            config = Config()
            config.set_main_option("script_location", str(FOLDER))
            config.attributes.update(connection=connection, metadata=METADATA)
            command.upgrade(config, "head")
            command.revision(config, sys.argv[1], autogenerate=True, rev_id=migrating.revision_of(SCHEMA))


if __name__ == "__main__":
    main()
