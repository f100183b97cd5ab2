from django.db import migrations

from tenancy.rls import foreign_key, tenant_table

PROJECT = {"project_id": "projects_project"}
TODO = {"todo_id": "todos_todo"}


class Migration(migrations.Migration):
    dependencies = [("todos", "0001_initial"), ("tools", "0008_effect_unknown"), ("projects", "0007_source_walls")]

    operations = [
        tenant_table("todos_todotype", parents=PROJECT),
        tenant_table("todos_standingrule", parents={**PROJECT, "type_id": "todos_todotype"}),
        tenant_table("todos_todo", parents={**PROJECT, "type_id": "todos_todotype"}),
        # What a todo comes from isn't deleted alone while the todo tells of it.
        foreign_key("todos_todo", "promise_id", "tools_promise"),
        foreign_key("todos_todo", "effect_id", "tools_effect"),
        tenant_table("todos_todoevent", parents=TODO, append_only=True),
        tenant_table("todos_approval", parents={**TODO, "rule_id": "todos_standingrule"}),
        tenant_table("todos_todostep", parents={**TODO, "approval_id": "todos_approval"}),
        tenant_table("todos_todocall", parents={"step_id": "todos_todostep"}),
        foreign_key("todos_todocall", "effect_id", "tools_effect"),
        tenant_table("todos_approvernotice", parents=PROJECT),
    ]
