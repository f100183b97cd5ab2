from django.db import migrations

# Under row-level security an index only serves comparisons that the database calls leakproof: those of text, uuid and
# time are, LIKE, trigrams and full text search are not, nor is any function over a column. So what a customer is found
# by is kept as they are looked for, in the collation that sorts by bytes, where a prefix is a range.
FOUND_BY = """
case key
  when 'name' then lower(value)
  when 'email' then lower(value)
  when 'phone' then reverse(regexp_replace(value, '[^0-9]', '', 'g'))
end
"""
LAST_WORD = "case key when 'name' then lower(substring(value from '[^[:space:]]+$')) end"


class Migration(migrations.Migration):
    dependencies = [("conversations", "0002_walls")]

    operations = [
        migrations.RunSQL(
            [
                "alter table conversations_personafield"
                f' add column found_by text collate "C" generated always as ({FOUND_BY}) stored,'
                f' add column found_by_last text collate "C" generated always as ({LAST_WORD}) stored',
                "create index persona_found on conversations_personafield (organization_id, key, found_by)"
                " where found_by is not null",
                "create index persona_found_last on conversations_personafield (organization_id, key, found_by_last)"
                " where found_by_last is not null",
                "create index conversation_flagged on conversations_conversation"
                " (organization_id, project_id, updated_at desc) where flag <> ''",
                "create index call_cost on jobs_modelcall (organization_id, project_id, started_at) include (cost)",
            ],
            reverse_sql=[
                "drop index call_cost, conversation_flagged, persona_found_last, persona_found",
                "alter table conversations_personafield drop column found_by, drop column found_by_last",
            ],
        )
    ]
