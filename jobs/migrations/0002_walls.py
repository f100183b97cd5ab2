from django.db import migrations

from tenancy.rls import tenant_table


class Migration(migrations.Migration):
    dependencies = [("jobs", "0001_initial"), ("projects", "0002_walls")]

    operations = [
        tenant_table("jobs_job", parents={"project_id": "projects_project"}),
        tenant_table("jobs_modelcall", parents={"project_id": "projects_project", "job_id": "jobs_job"}),
    ]
