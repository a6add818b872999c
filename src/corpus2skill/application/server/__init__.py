"""The use cases of the server: many tenants, people and programs, jobs and conversations."""
