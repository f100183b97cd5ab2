from django.apps import AppConfig

from projects.common.translation import lazy


class TodosConfig(AppConfig):
    name = "todos"
    verbose_name = lazy("Todos")

    def ready(self) -> None:
        from todos.registration import register

        register()
