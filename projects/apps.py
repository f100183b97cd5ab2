from django.apps import AppConfig

from projects.common.translation import lazy


class ProjectsConfig(AppConfig):
    name = "projects"
    verbose_name = lazy("Organizations and projects")

    def ready(self) -> None:
        from projects.registration import register

        register()
