"""Vacuum and statistics of the table of jobs.

Each job is updated three times, and only the newest jobs are looked for. By default, PostgreSQL cleans up when a fifth of
the table has changed. With ten million finished jobs that is after two million others, and until then every claim passes
the dead entries of its index.
"""

from django.db import migrations

SETTINGS = {
    "autovacuum_vacuum_scale_factor": 0.01,
    "autovacuum_vacuum_threshold": 10_000,
    "autovacuum_analyze_scale_factor": 0.02,
    "autovacuum_analyze_threshold": 10_000,
}


class Migration(migrations.Migration):
    dependencies = [("jobs", "0003_calls_by_subject")]

    operations = [
        migrations.RunSQL(
            f"alter table jobs_job set ({', '.join(f'{name} = {value}' for name, value in SETTINGS.items())})",
            reverse_sql=f"alter table jobs_job reset ({', '.join(SETTINGS)})",
        )
    ]
