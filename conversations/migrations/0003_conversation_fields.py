from django.db import migrations, models

from tenancy.rls import foreign_key
from tenancy.tenant_models import TenantForeignKey


class Migration(migrations.Migration):
    dependencies = [("conversations", "0002_test_conversations")]

    operations = [
        migrations.AddField(
            "personafield",
            "conversation",
            TenantForeignKey(
                null=True,
                blank=True,
                db_index=False,
                related_name="fields",
                on_delete=models.CASCADE,
                to="conversations.conversation",
            ),
        ),
        migrations.RemoveConstraint("personafield", "one_persona_field"),
        migrations.AddConstraint(
            "personafield",
            models.UniqueConstraint(
                fields=("organization", "persona", "key", "conversation"),
                nulls_distinct=False,
                name="one_field_per_scope",
            ),
        ),
        migrations.AddIndex(
            "personafield",
            models.Index(
                fields=["organization", "conversation"],
                condition=models.Q(conversation__isnull=False),
                name="conversation_field",
            ),
        ),
        foreign_key("conversations_personafield", "conversation_id", "conversations_conversation", cascade=True),
    ]
