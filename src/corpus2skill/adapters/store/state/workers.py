"""The worker processes in the server's database."""

from __future__ import annotations

from sqlalchemy import Column, Connection, Integer, String, Table, insert, select, update

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.ports.workers import Worker

WORKERS = Table(
    "workers",  # the server's own: no tenant's
    METADATA,
    Column("worker", String, primary_key=True),
    Column("place", String, nullable=False),
    Column("release", String, nullable=False),
    Column("started_at", String, nullable=False),
    Column("beats", Integer, nullable=False),
    Column("seen_at", String, nullable=False),
    Column("ended_at", String),
)


class SqlWorkerStore:
    """`ports.workers.WorkerStore` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def arrive(self, worker: Worker) -> None:
        row = {
            "worker": worker.worker,
            "place": worker.place,
            "release": worker.release,
            "started_at": worker.started_at,
            "beats": worker.beats,
            "seen_at": worker.seen_at,
            "ended_at": worker.ended_at,
        }
        self._database.write(lambda connection: connection.execute(insert(WORKERS).values(row)))

    def beat(self, worker: str, at: str) -> None:
        beaten = (
            update(WORKERS).where(WORKERS.c.worker == worker).values(beats=WORKERS.c.beats + 1, seen_at=at)
        )
        self._database.write(lambda connection: connection.execute(beaten), outlasts_power_cut=False)

    def leave(self, worker: str, at: str) -> None:
        is_meant = (WORKERS.c.worker == worker) & WORKERS.c.ended_at.is_(None)
        left = update(WORKERS).where(is_meant).values(ended_at=at)
        self._database.write(lambda connection: connection.execute(left))

    def alive(self) -> tuple[Worker, ...]:
        wanted = select(WORKERS).where(WORKERS.c.ended_at.is_(None)).order_by(WORKERS.c.worker)

        def work(connection: Connection) -> tuple[Worker, ...]:
            return tuple(Worker(**row) for row in connection.execute(wanted).mappings())

        return self._database.read(work, ())
