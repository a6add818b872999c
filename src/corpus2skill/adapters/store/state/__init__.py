"""The server's state: people, uploads, jobs, runs and what else belongs to tenants, in one database."""
