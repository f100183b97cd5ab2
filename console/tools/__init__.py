"""The catalogue of tools and the editor of custom tools."""
