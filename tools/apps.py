from django.apps import AppConfig

from projects.common.translation import lazy


class ToolsConfig(AppConfig):
    name = "tools"
    verbose_name = lazy("Tools")

    def ready(self) -> None:
        from tools.registration import register

        register()
