import django.db.models.deletion
from django.db import migrations, models

import tenancy.scope
import tenancy.tenant_models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0002_walls"),
        ("projects", "0008_audit_entry"),
    ]

    operations = [
        # Nothing refers to a model call.
        migrations.RunSQL("alter table jobs_modelcall drop constraint jobs_modelcall_tenant", migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="job",
            name="organization",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                default=tenancy.scope.current_organization_id,
                editable=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="projects.organization",
            ),
        ),
        migrations.AlterField(
            model_name="job",
            name="project",
            field=tenancy.tenant_models.TenantForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="projects.project",
            ),
        ),
        migrations.AlterField(
            model_name="modelcall",
            name="organization",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                default=tenancy.scope.current_organization_id,
                editable=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="projects.organization",
            ),
        ),
        migrations.AlterField(
            model_name="modelcall",
            name="project",
            field=tenancy.tenant_models.TenantForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="projects.project",
            ),
        ),
    ]
