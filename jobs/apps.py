from django.apps import AppConfig

from projects.common.translation import lazy


class JobsConfig(AppConfig):
    name = "jobs"
    verbose_name = lazy("Jobs")

    def ready(self) -> None:
        from jobs.registration import register_figures

        register_figures()
