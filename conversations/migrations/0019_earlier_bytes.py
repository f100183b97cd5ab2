"""The bytes of earlier messages, attachments and articles."""

from django.db import migrations

from tenancy.counted import count_earlier

# Beyond the triggers' slots.
SLOT = 100
COUNT = f"""
with stored as (
    select organization_id, project_id, 'messages' as kind, sum(octet_length(m.content)) as bytes
    from conversations_message m join conversations_conversation c using (organization_id)
    where c.id = m.conversation_id group by organization_id, project_id
    union all
    select organization_id, c.project_id, 'attachments', sum(a.size)
    from conversations_attachment a join conversations_conversation c using (organization_id)
    where c.id = a.conversation_id group by organization_id, c.project_id
    union all
    select organization_id, project_id, 'articles',
        sum(octet_length(title) + octet_length(excerpt) + octet_length(body))
    from projects_article group by organization_id, project_id
), counted as (
    select organization_id, project_id, kind, sum(bytes) as bytes from projects_storedbytes
    group by organization_id, project_id, kind
)
insert into projects_storedbytes (id, organization_id, project_id, kind, slot, bytes)
select gen_random_uuid(), organization_id, project_id, kind, {SLOT}, stored.bytes - coalesce(counted.bytes, 0)
from stored left join counted using (organization_id, project_id, kind)
where stored.bytes <> coalesce(counted.bytes, 0)
"""  # noqa: S608 - names of our own


class Migration(migrations.Migration):
    dependencies = [("conversations", "0018_storage")]

    operations = [count_earlier(COUNT)]
