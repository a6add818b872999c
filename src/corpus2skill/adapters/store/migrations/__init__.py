"""How the server's state comes from an older release's tables to today's (Alembic).

A new database is made from `METADATA` as it stands; one that is there is brought up by these revisions. Both ways
lead to the same tables, which a test holds. A revision is never changed once it was released.
"""
