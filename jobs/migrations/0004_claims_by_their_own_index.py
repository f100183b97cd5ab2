from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0003_fewer_indexes")]

    operations = [
        migrations.RemoveIndex(model_name="job", name="job_fairness"),
        migrations.AddIndex(
            model_name="job",
            index=models.Index(
                condition=models.Q(("state", "queued"), ("token__gte", 0)),
                fields=["organization", "lane"],
                name="job_fairness",
            ),
        ),
    ]
