"""The analytics page: figures of a period by channel, topic, tool and hour."""
