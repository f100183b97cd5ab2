import django.db.models.deletion
from django.db import migrations, models

import tenancy.scope
import tenancy.tenant_models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0012_turn_steps"),
        ("projects", "0008_audit_entry"),
    ]

    operations = [
        # Nothing refers to these rows, and a conversation's row, which each turn changes five times, finds room beside itself.
        migrations.RunSQL(
            [
                "alter table conversations_event drop constraint conversations_event_tenant",
                "alter table conversations_analysis drop constraint conversations_analysis_tenant",
                "alter table conversations_conversation set (fillfactor = 70)",
            ],
            reverse_sql=migrations.RunSQL.noop,
        ),
        migrations.AlterField(
            model_name="analysis",
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
            model_name="analysis",
            name="turn",
            field=tenancy.tenant_models.TenantForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="analyses",
                to="conversations.turn",
            ),
        ),
        migrations.AlterField(
            model_name="conversation",
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
            model_name="conversation",
            name="project",
            field=tenancy.tenant_models.TenantForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="conversations",
                to="projects.project",
            ),
        ),
        migrations.AlterField(
            model_name="directives",
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
            model_name="directives",
            name="turn",
            field=tenancy.tenant_models.TenantForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="conversations.turn",
            ),
        ),
        migrations.AlterField(
            model_name="event",
            name="conversation",
            field=tenancy.tenant_models.TenantForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="events",
                to="conversations.conversation",
            ),
        ),
        migrations.AlterField(
            model_name="event",
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
            model_name="message",
            name="conversation",
            field=tenancy.tenant_models.TenantForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="messages",
                to="conversations.conversation",
            ),
        ),
        migrations.AlterField(
            model_name="message",
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
            model_name="turn",
            name="conversation",
            field=tenancy.tenant_models.TenantForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="turns",
                to="conversations.conversation",
            ),
        ),
        migrations.AlterField(
            model_name="turn",
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
    ]
