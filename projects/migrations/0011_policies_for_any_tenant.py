from django.db import migrations

from tenancy.rls import policies_for_any_tenant


class Migration(migrations.Migration):
    dependencies = [("projects", "0010_widget")]

    operations = [policies_for_any_tenant()]
