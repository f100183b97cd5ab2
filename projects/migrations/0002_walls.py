from django.db import migrations

from tenancy.rls import organization_table, tenant_table


class Migration(migrations.Migration):
    dependencies = [("projects", "0001_initial")]

    operations = [
        organization_table("projects_organization"),
        tenant_table("projects_member"),
        tenant_table("projects_project"),
        tenant_table("projects_agentversion", parents={"project_id": "projects_project"}, append_only=True),
        tenant_table("projects_attribute", parents={"project_id": "projects_project"}),
        tenant_table("projects_apikey", parents={"project_id": "projects_project"}),
        tenant_table("projects_idempotentrequest", parents={"project_id": "projects_project"}),
    ]
