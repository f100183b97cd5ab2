from django.apps import AppConfig


class ProjectsConfig(AppConfig):
    name = "projects"
    verbose_name = "Organizations and projects"

    def ready(self) -> None:
        from projects.registration import register

        register()
