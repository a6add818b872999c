"""The tables of the first release."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "announcements",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("announcement", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "announcement"),
    )
    op.create_table(
        "api_tokens",
        sa.Column("token", sa.String(), nullable=False),
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("scopes", sa.String(), nullable=False),
        sa.Column("beginning", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("expires_at", sa.String(), nullable=True),
        sa.Column("revoked_at", sa.String(), nullable=True),
        sa.Column("last_used_at", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("token"),
        sa.UniqueConstraint("digest"),
    )
    with op.batch_alter_table("api_tokens", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_api_tokens_tenant"), ["tenant"], unique=False)

    op.create_table(
        "audit_events",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("event", sa.String(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("object", sa.String(), nullable=False),
        sa.Column("particulars", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "event"),
    )
    op.create_table(
        "branch_visits",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("corpus", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("path", sa.String(), nullable=False),
        sa.Column("visits", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "corpus", "version", "path"),
    )
    op.create_table(
        "corpora",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("corpus", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "corpus"),
    )
    op.create_table(
        "estimates",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("estimate", sa.String(), nullable=False),
        sa.Column("corpus", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "estimate"),
    )
    op.create_table(
        "events",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("topic", sa.String(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("at", sa.String(), nullable=False),
        sa.Column("payload", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "topic", "number"),
    )
    op.create_table(
        "exam_questions",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("question", sa.String(), nullable=False),
        sa.Column("corpus", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("expected", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("changed_at", sa.String(), nullable=False),
        sa.Column("changed_by", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "question"),
    )
    with op.batch_alter_table("exam_questions", schema=None) as batch_op:
        batch_op.create_index("exam_questions_of_corpus", ["tenant", "corpus", "question"], unique=False)

    op.create_table(
        "exam_results",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("exam", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("question", sa.String(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("expected", sa.Text(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=True),
        sa.Column("is_passed", sa.Boolean(), nullable=False),
        sa.Column("source_hit", sa.Boolean(), nullable=True),
        sa.Column("fetches", sa.Integer(), nullable=False),
        sa.Column("ms", sa.Integer(), nullable=False),
        sa.Column("usd", sa.Float(), nullable=True),
        sa.Column("run", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "exam", "position"),
    )
    op.create_table(
        "exams",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("exam", sa.String(), nullable=False),
        sa.Column("corpus", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("max_cost", sa.Float(), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=True),
        sa.Column("questions", sa.Integer(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("passed", sa.Integer(), nullable=False),
        sa.Column("dollars", sa.Float(), nullable=False),
        sa.Column("job", sa.String(), nullable=True),
        sa.Column("switches_from", sa.Integer(), nullable=True),
        sa.Column("is_switched", sa.Boolean(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("started_at", sa.String(), nullable=True),
        sa.Column("ended_at", sa.String(), nullable=True),
        sa.Column("owner", sa.String(), nullable=True),
        sa.Column("lease_until", sa.Float(), nullable=False),
        sa.Column("turned_at", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "exam"),
    )
    with op.batch_alter_table("exams", schema=None) as batch_op:
        batch_op.create_index("exams_by_state", ["state", "turned_at"], unique=False)
        batch_op.create_index("exams_of_corpus", ["tenant", "corpus", "exam"], unique=False)
        batch_op.create_index("exams_of_job", ["tenant", "job"], unique=False)

    op.create_table(
        "jobs",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("job", sa.String(), nullable=False),
        sa.Column("corpus", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("options", sa.Text(), nullable=False),
        sa.Column("estimate", sa.Text(), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("state_at", sa.String(), nullable=False),
        sa.Column("cause", sa.Text(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(), nullable=True),
        sa.Column("beats", sa.Integer(), nullable=False),
        sa.Column("is_cancelling", sa.Boolean(), nullable=False),
        sa.Column("is_quiet", sa.Boolean(), nullable=False),
        sa.Column("progress", sa.Text(), nullable=False),
        sa.Column("paid_before", sa.Text(), nullable=True),
        sa.Column("started_at", sa.String(), nullable=True),
        sa.Column("ended_at", sa.String(), nullable=True),
        sa.Column("retry_at", sa.String(), nullable=True),
        sa.Column("retries_left", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("is_new", sa.Boolean(), nullable=False),
        sa.Column("is_activated", sa.Boolean(), nullable=False),
        sa.Column("warnings", sa.Integer(), nullable=False),
        sa.Column("stand_ins", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "job"),
    )
    with op.batch_alter_table("jobs", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_jobs_state"), ["state"], unique=False)
        batch_op.create_index("jobs_of_corpus", ["tenant", "corpus", "job"], unique=False)

    op.create_table(
        "kept_answers",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("route", sa.String(), nullable=False),
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("body", sa.String(length=64), nullable=False),
        sa.Column("began_at", sa.String(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "actor", "route", "key"),
    )
    with op.batch_alter_table("kept_answers", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_kept_answers_began_at"), ["began_at"], unique=False)

    op.create_table(
        "legal_holds",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("hold", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("placed_at", sa.String(), nullable=False),
        sa.Column("placed_by", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "hold"),
    )
    op.create_table(
        "links",
        sa.Column("link", sa.String(), nullable=False),
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("expires_at", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=True),
        sa.Column("role", sa.String(), nullable=True),
        sa.Column("used_at", sa.String(), nullable=True),
        sa.Column("revoked_at", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("link"),
        sa.UniqueConstraint("digest"),
    )
    with op.batch_alter_table("links", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_links_person"), ["person"], unique=False)
        batch_op.create_index(batch_op.f("ix_links_tenant"), ["tenant"], unique=False)

    op.create_table(
        "master_keys",
        sa.Column("use", sa.String(), nullable=False),
        sa.Column("master_key", sa.String(), nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("use"),
    )
    op.create_table(
        "members",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("since", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "person"),
    )
    with op.batch_alter_table("members", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_members_person"), ["person"], unique=False)

    op.create_table(
        "people",
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("name_key", sa.String(), nullable=False),
        sa.Column("password", sa.Text(), nullable=True),
        sa.Column("language", sa.String(length=2), nullable=True),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("person"),
        sa.UniqueConstraint("name_key"),
    )
    op.create_table(
        "provider_credentials",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("provider", sa.String(), nullable=False),
        sa.Column("revision", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("changed_at", sa.String(), nullable=False),
        sa.Column("changed_by", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=True),
        sa.Column("base_url", sa.String(), nullable=True),
        sa.Column("has_secret", sa.Boolean(), nullable=False),
        sa.Column("last_four", sa.String(), nullable=False),
        sa.Column("last_used_at", sa.String(), nullable=True),
        sa.Column("last_test", sa.Text(), nullable=True),
        sa.Column("master_key", sa.String(), nullable=True),
        sa.Column("sealed", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "provider"),
    )
    with op.batch_alter_table("provider_credentials", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_provider_credentials_master_key"), ["master_key"], unique=False)

    op.create_table(
        "retention",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("changed_at", sa.String(), nullable=False),
        sa.Column("ran_at", sa.String(), nullable=True),
        sa.Column("counts", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant"),
    )
    op.create_table(
        "reviews",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("run", sa.String(), nullable=False),
        sa.Column("corpus", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("door", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("user_name", sa.String(), nullable=True),
        sa.Column("started_at", sa.String(), nullable=False),
        sa.Column("branch", sa.String(), nullable=False),
        sa.Column("branch_title", sa.Text(), nullable=False),
        sa.Column("is_unhelpful", sa.Boolean(), nullable=False),
        sa.Column("is_doubtful", sa.Boolean(), nullable=False),
        sa.Column("has_comment", sa.Boolean(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("note", sa.Text(), nullable=True),
        sa.Column("question", sa.String(), nullable=True),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("changed_at", sa.String(), nullable=True),
        sa.Column("changed_by", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "run"),
    )
    with op.batch_alter_table("reviews", schema=None) as batch_op:
        batch_op.create_index(
            "reviews_by_branch", ["tenant", "corpus", "branch", "state", "run"], unique=False
        )
        batch_op.create_index("reviews_by_state", ["tenant", "state", "run"], unique=False)

    op.create_table(
        "runs",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("run", sa.String(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("corpus", sa.String(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("door", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("end_user", sa.String(), nullable=True),
        sa.Column("asked_at", sa.String(), nullable=False),
        sa.Column("owner", sa.String(), nullable=False),
        sa.Column("lease_until", sa.Float(), nullable=False),
        sa.Column("finished_at", sa.String(), nullable=True),
        sa.Column("is_pending", sa.Integer(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "run"),
    )
    with op.batch_alter_table("runs", schema=None) as batch_op:
        batch_op.create_index("runs_by_session", ["tenant", "session", "run"], unique=False)
        batch_op.create_index("runs_pending", ["is_pending", "finished_at"], unique=False)

    op.create_table(
        "sessions",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("corpus", sa.String(), nullable=False),
        sa.Column("channel", sa.String(), nullable=False),
        sa.Column("actor", sa.String(), nullable=False),
        sa.Column("end_user", sa.String(), nullable=True),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("asked_at", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "session"),
    )
    with op.batch_alter_table("sessions", schema=None) as batch_op:
        batch_op.create_index("sessions_by_asker", ["tenant", "actor", "session"], unique=False)
        batch_op.create_index("sessions_by_end_user", ["tenant", "end_user"], unique=False)

    op.create_table(
        "state_meta",
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
    )
    op.create_table(
        "tenant_settings",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("settings", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant"),
    )
    op.create_table(
        "tenants",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("tenant"),
    )
    op.create_table(
        "uploads",
        sa.Column("document", sa.String(), nullable=False),
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("corpus", sa.String(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("name_digest", sa.String(length=64), nullable=False),
        sa.Column("name_folded", sa.Text(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=True),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("received_at", sa.String(), nullable=False),
        sa.Column("received_by", sa.String(), nullable=False),
        sa.Column("changed_at", sa.String(), nullable=False),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("judgement", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("document"),
        sa.UniqueConstraint("tenant", "corpus", "name_digest"),
    )
    with op.batch_alter_table("uploads", schema=None) as batch_op:
        batch_op.create_index("uploads_equal", ["tenant", "sha256"], unique=False)
        batch_op.create_index("uploads_listed", ["tenant", "corpus", "state", "document"], unique=False)
        batch_op.create_index("uploads_waiting", ["state", "tenant", "received_at"], unique=False)

    op.create_table(
        "web_sessions",
        sa.Column("session", sa.String(), nullable=False),
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("person", sa.String(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("seen_at", sa.String(), nullable=False),
        sa.Column("expires_at", sa.String(), nullable=False),
        sa.Column("agent", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("session"),
        sa.UniqueConstraint("digest"),
    )
    with op.batch_alter_table("web_sessions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_web_sessions_person"), ["person"], unique=False)

    op.create_table(
        "webhook_deliveries",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("delivery", sa.String(), nullable=False),
        sa.Column("endpoint", sa.String(), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("next_at", sa.String(), nullable=True),
        sa.Column("tries", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("tenant", "delivery"),
    )
    with op.batch_alter_table("webhook_deliveries", schema=None) as batch_op:
        batch_op.create_index(
            "webhook_deliveries_by_endpoint", ["tenant", "endpoint", "delivery"], unique=False
        )
        batch_op.create_index("webhook_deliveries_due", ["state", "next_at"], unique=False)

    op.create_table(
        "webhook_endpoints",
        sa.Column("tenant", sa.String(), nullable=False),
        sa.Column("endpoint", sa.String(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("kinds", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("created_at", sa.String(), nullable=False),
        sa.Column("created_by", sa.String(), nullable=False),
        sa.Column("off_reason", sa.String(), nullable=True),
        sa.Column("off_at", sa.String(), nullable=True),
        sa.Column("failing_since", sa.String(), nullable=True),
        sa.Column("both_until", sa.String(), nullable=True),
        sa.Column("master_key", sa.String(), nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("old_master_key", sa.String(), nullable=True),
        sa.Column("old_secret", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("tenant", "endpoint"),
    )
    op.create_table(
        "workers",
        sa.Column("worker", sa.String(), nullable=False),
        sa.Column("place", sa.String(), nullable=False),
        sa.Column("release", sa.String(), nullable=False),
        sa.Column("started_at", sa.String(), nullable=False),
        sa.Column("beats", sa.Integer(), nullable=False),
        sa.Column("seen_at", sa.String(), nullable=False),
        sa.Column("ended_at", sa.String(), nullable=True),
        sa.PrimaryKeyConstraint("worker"),
    )
    for statement in _REFUSALS[op.get_bind().dialect.name]:
        op.execute(statement)


_SAYING = "'the operators'' log is append-only'"
_ON_SQLITE = (
    "CREATE TRIGGER audit_events_no_{0} BEFORE {0} ON audit_events"
    f" BEGIN SELECT RAISE(ABORT, {_SAYING}); END"
)
_REFUSALS = {
    "sqlite": (_ON_SQLITE.format("UPDATE"), _ON_SQLITE.format("DELETE")),
    "postgresql": (
        (
            "CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql"
            f" AS $$ BEGIN RAISE EXCEPTION {_SAYING}; END $$"
        ),
        (
            "CREATE TRIGGER audit_events_no_change BEFORE UPDATE OR DELETE ON audit_events"
            " FOR EACH ROW EXECUTE FUNCTION refuse_audit_change()"
        ),
        (
            "CREATE TRIGGER audit_events_no_truncate BEFORE TRUNCATE ON audit_events"
            " FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change()"
        ),
    ),
}
"""The database itself refuses to change or remove an event: the statements as they were in this release."""
