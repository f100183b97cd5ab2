from django.db import migrations, models
from django.utils import timezone


class Migration(migrations.Migration):
    """The accounts, which the migrations of other packages refer to before there are organizations."""

    initial = True

    dependencies = [("auth", "0012_alter_user_first_name_max_length")]

    operations = [
        migrations.CreateModel(
            "User",
            fields=[
                ("id", models.BigAutoField(verbose_name="ID", primary_key=True, serialize=False, auto_created=True)),
                ("password", models.CharField(verbose_name="password", max_length=128)),
                ("last_login", models.DateTimeField(verbose_name="last login", blank=True, null=True)),
                (
                    "is_superuser",
                    models.BooleanField(
                        verbose_name="superuser status",
                        default=False,
                        help_text="Designates that this user has all permissions without explicitly assigning them.",
                    ),
                ),
                ("first_name", models.CharField(verbose_name="first name", max_length=150, blank=True)),
                ("last_name", models.CharField(verbose_name="last name", max_length=150, blank=True)),
                (
                    "is_staff",
                    models.BooleanField(
                        verbose_name="staff status",
                        default=False,
                        help_text="Designates whether the user can log into this admin site.",
                    ),
                ),
                (
                    "is_active",
                    models.BooleanField(
                        verbose_name="active",
                        default=True,
                        help_text="Designates whether this user should be treated as active. Unselect this instead of deleting accounts.",
                    ),
                ),
                ("date_joined", models.DateTimeField(verbose_name="date joined", default=timezone.now)),
                ("email", models.EmailField(verbose_name="e-mail", max_length=254, unique=True)),
                (
                    "groups",
                    models.ManyToManyField(
                        verbose_name="groups",
                        blank=True,
                        help_text="The groups this user belongs to. A user will get all permissions granted to each of their groups.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.group",
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        verbose_name="user permissions",
                        blank=True,
                        help_text="Specific permissions for this user.",
                        related_name="user_set",
                        related_query_name="user",
                        to="auth.permission",
                    ),
                ),
            ],
            options={"verbose_name": "user", "verbose_name_plural": "users"},
        ),
    ]
