from django.apps import AppConfig


class ConversationsConfig(AppConfig):
    name = "conversations"
    verbose_name = "Conversations"

    def ready(self) -> None:
        from conversations.flows.lanes import register_lanes
        from conversations.registration import register

        register_lanes()
        register()
