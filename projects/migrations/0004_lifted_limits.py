from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0003_idempotency_callers"),
    ]

    operations = [
        migrations.AlterField(
            model_name="auditentry",
            name="action",
            field=models.CharField(
                choices=[
                    ("invitation.sent", "invited"),
                    ("invitation.renewed", "invited again"),
                    ("invitation.revoked", "took back the invitation of"),
                    ("member.joined", "joined"),
                    ("member.added", "added"),
                    ("member.role", "gave another role to"),
                    ("member.removed", "removed"),
                    ("member.left", "left"),
                    ("factor.passkey_added", "added the passkey"),
                    ("factor.passkey_renamed", "renamed the passkey"),
                    ("factor.passkey_removed", "removed the passkey"),
                    ("factor.passkey_copied", "was refused with what may be a copy of the passkey"),
                    ("factor.app_on", "turned on the codes of an app"),
                    ("factor.app_off", "turned off the codes of an app"),
                    ("factor.recovery_codes", "made new recovery codes"),
                    ("factor.taken", "took a way of signing in from"),
                    ("key.made", "made the key"),
                    ("key.changed", "changed the key"),
                    ("key.revoked", "revoked the key"),
                    ("integration.connected", "connected"),
                    ("integration.changed", "changed the connection of"),
                    ("integration.disconnected", "disconnected"),
                    ("article.written", "wrote the article"),
                    ("article.changed", "changed the article"),
                    ("article.published", "published the article"),
                    ("article.unpublished", "took back the article"),
                    ("article.deleted", "deleted the article"),
                    ("widget.changed", "changed"),
                    ("widget.secret", "made a new shopper secret for"),
                    ("limit.lifted", "lifted for a day"),
                ],
                max_length=40,
            ),
        ),
    ]
