"""The sums of model calls, kept by a trigger."""

from django.db import migrations, models

from tenancy.baseline import DENSE_ORGANIZATION, ID
from tenancy.rls import tenant_table
from tenancy.tenant_models import TenantForeignKey

SLOTS = 8
SUMS = """
    count(*), coalesce(sum(input_tokens), 0), coalesce(sum(cached_tokens), 0), coalesce(sum(output_tokens), 0),
    coalesce(sum(input_tokens + output_tokens) filter (where cost is null), 0), coalesce(sum(cost), 0)
"""
COLUMNS = """
    id, organization_id, day, project_id, model, skill, slot,
    calls, input_tokens, cached_tokens, output_tokens, unpriced_tokens, cost
"""
# In the order of the key, so that two transactions that add to the same sums don't lock them crosswise.
COUNT = f"""
create function count_model_calls() returns trigger language plpgsql as $$
begin
    insert into jobs_modelusage as known ({COLUMNS})
    select gen_random_uuid(), organization_id, (statement_timestamp() at time zone 'utc')::date, project_id, model, skill,
        pg_backend_pid() % {SLOTS}, {SUMS}
    from stored group by organization_id, project_id, model, skill order by project_id, model, skill
    on conflict (organization_id, project_id, day, model, skill, slot) do update set
        calls = known.calls + excluded.calls,
        input_tokens = known.input_tokens + excluded.input_tokens,
        cached_tokens = known.cached_tokens + excluded.cached_tokens,
        output_tokens = known.output_tokens + excluded.output_tokens,
        unpriced_tokens = known.unpriced_tokens + excluded.unpriced_tokens,
        cost = known.cost + excluded.cost;
    return null;
end $$
"""  # noqa: S608 - names of our own
TRIGGER = """
create trigger count_model_calls after insert on jobs_modelcall referencing new table as stored
for each statement execute function count_model_calls()
"""


class Migration(migrations.Migration):
    dependencies = [("projects", "0008_restored"), ("jobs", "0004_vacuum")]

    operations = [
        migrations.CreateModel(
            name="ModelUsage",
            fields=[
                ID,
                ("day", models.DateField()),
                ("model", models.CharField(max_length=120)),
                ("skill", models.CharField(max_length=20)),
                ("slot", models.PositiveSmallIntegerField()),
                ("calls", models.PositiveIntegerField()),
                ("input_tokens", models.PositiveBigIntegerField()),
                ("cached_tokens", models.PositiveBigIntegerField()),
                ("output_tokens", models.PositiveBigIntegerField()),
                ("unpriced_tokens", models.PositiveBigIntegerField()),
                ("cost", models.DecimalField(decimal_places=6, help_text="USD", max_digits=18)),
                DENSE_ORGANIZATION,
                (
                    "project",
                    TenantForeignKey(on_delete=models.CASCADE, related_name="+", to="projects.project", db_index=False),
                ),
            ],
            options={
                "ordering": ["-day", "model", "skill"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "project", "day", "model", "skill", "slot"), name="one_usage_per_slot"
                    )
                ],
            },
        ),
        tenant_table("jobs_modelusage", parents={"project_id": "projects_project"}, referenced=False),
        migrations.RunSQL(
            # Room for the new version of a row beside the old one, because each call changes one.
            ["alter table jobs_modelusage set (fillfactor = 60)", COUNT, TRIGGER],
            reverse_sql=["drop trigger count_model_calls on jobs_modelcall", "drop function count_model_calls()"],
        ),
    ]
