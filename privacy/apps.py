from django.apps import AppConfig

from projects.common.translation import lazy


class PrivacyConfig(AppConfig):
    name = "privacy"
    verbose_name = lazy("Privacy")

    def ready(self) -> None:
        from privacy.registration import register

        register()
