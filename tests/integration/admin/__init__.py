"""The admin: what it shows, how its lists read the tables, and what is done by it."""
