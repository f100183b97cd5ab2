from django.db import migrations, models

from tenancy.rls import foreign_key


class Migration(migrations.Migration):
    dependencies = [
        ("todos", "0003_repeats"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="approvernotice", name="one_notice_per_approver"),
        migrations.RenameField(model_name="approvernotice", old_name="user_id", new_name="member_id"),
        migrations.AddConstraint(
            model_name="approvernotice",
            constraint=models.UniqueConstraint(
                fields=("organization", "project", "member_id"), name="one_notice_per_approver"
            ),
        ),
        # Who leaves is forgotten here.
        foreign_key("todos_approvernotice", "member_id", "projects_member", goes_with_it=True),
    ]
