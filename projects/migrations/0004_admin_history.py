from django.db import migrations

from tenancy.rls import borrowed_table


class Migration(migrations.Migration):
    dependencies = [("projects", "0003_agent_version"), ("admin", "0003_logentry_add_action_flag_choices")]

    operations = [borrowed_table("django_admin_log")]
