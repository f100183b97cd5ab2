"""Pages for tools: catalogue, tool detail, editor and history."""
