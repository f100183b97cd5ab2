from django.apps import AppConfig

from projects.common.translation import lazy


class ConversationsConfig(AppConfig):
    name = "conversations"
    verbose_name = lazy("Conversations")

    def ready(self) -> None:
        from conversations.flows.lanes import register_conversation_lanes
        from conversations.registration import register

        register_conversation_lanes()
        register()
