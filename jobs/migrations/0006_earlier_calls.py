"""Usage of this month's earlier model calls."""

from django.db import migrations

from tenancy.counted import count_earlier

# Beyond the trigger's slots.
SLOT = 100
SUMS = ("calls", "input_tokens", "cached_tokens", "output_tokens", "unpriced_tokens", "cost")
KEYS = "organization_id, day, project_id, model, skill"
# The smallest id of the month. Ids begin with their time in milliseconds, and are read in the order of their index.
FIRST = """
rpad(lpad(to_hex((extract(epoch from date_trunc('month', now() at time zone 'utc')) * 1000)::bigint), 12, '0'), 32, '0')::uuid
"""
COUNT = f"""
with stored as (
    select organization_id, (started_at at time zone 'utc')::date as day, project_id, model, skill, count(*) as calls,
        sum(input_tokens) as input_tokens, sum(cached_tokens) as cached_tokens, sum(output_tokens) as output_tokens,
        coalesce(sum(input_tokens + output_tokens) filter (where cost is null), 0) as unpriced_tokens,
        coalesce(sum(cost), 0) as cost
    from jobs_modelcall where id >= {FIRST} group by {KEYS}
), counted as (
    select {KEYS}, {", ".join(f"sum({name}) as {name}" for name in SUMS)} from jobs_modelusage group by {KEYS}
)
insert into jobs_modelusage (id, {KEYS}, slot, {", ".join(SUMS)})
select gen_random_uuid(), {KEYS}, {SLOT},
    {", ".join(f"greatest(stored.{name} - coalesce(counted.{name}, 0), 0)" for name in SUMS)}
from stored left join counted using ({KEYS})
where stored.calls > coalesce(counted.calls, 0)
"""  # noqa: S608 - names of our own


class Migration(migrations.Migration):
    dependencies = [("jobs", "0005_model_usage")]

    operations = [count_earlier(COUNT)]
