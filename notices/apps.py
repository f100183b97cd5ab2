from django.apps import AppConfig

from projects.common.translation import lazy


class NoticesConfig(AppConfig):
    name = "notices"
    verbose_name = lazy("Notices")

    def ready(self) -> None:
        from notices.registration import register

        register()
