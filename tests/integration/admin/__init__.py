"""The admin: its pages, its lists and its actions."""
