"""Built-in tools, one module each, with a `TOOL`. Delete the file to delete the tool."""
