from django.db import migrations

from tenancy.rls import tenant_table

PROJECT = {"project_id": "projects_project"}


class Migration(migrations.Migration):
    dependencies = [("tools", "0003_promises_kept"), ("projects", "0007_source_walls")]

    operations = [
        tenant_table("tools_afteraction", parents={"effect_id": "tools_effect"}),
        tenant_table("tools_promise", parents={**PROJECT, "effect_id": "tools_effect"}),
        tenant_table("tools_customtool", parents=PROJECT),
        tenant_table("tools_customtoolversion", parents={"tool_id": "tools_customtool"}, append_only=True),
        tenant_table("tools_resource", parents=PROJECT),
        tenant_table("tools_booking", parents={**PROJECT, "resource_id": "tools_resource"}),
    ]
