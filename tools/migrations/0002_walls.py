from django.db import migrations

from tenancy.rls import tenant_table


class Migration(migrations.Migration):
    dependencies = [("tools", "0001_initial"), ("projects", "0002_walls")]

    operations = [
        tenant_table("tools_verdict", append_only=True),
        tenant_table("tools_effect", parents={"project_id": "projects_project"}),
    ]
