"""Sources of todos: the extraction from conversations, their customers, and the types of a new business."""
