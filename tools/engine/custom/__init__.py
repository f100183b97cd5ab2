"""The tools that a project defines itself (N15, N50): one service behind the admin, the API, the editor and the attribute."""
