from django.db import migrations

from tenancy.rls import foreign_key


class Migration(migrations.Migration):
    dependencies = [("projects", "0002_walls")]

    operations = [foreign_key("projects_project", "agent_version_id", "projects_agentversion")]
