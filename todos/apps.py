from django.apps import AppConfig


class TodosConfig(AppConfig):
    name = "todos"
    verbose_name = "Todos"

    def ready(self) -> None:
        from todos.registration import register

        register()
