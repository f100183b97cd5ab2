from django.db import migrations

from tenancy.rls import tenant_table


class Migration(migrations.Migration):
    dependencies = [("projects", "0006_source")]

    operations = [tenant_table("projects_source", parents={"project_id": "projects_project"})]
