"""The home page: metrics, charts, onboarding, and items that need attention."""
