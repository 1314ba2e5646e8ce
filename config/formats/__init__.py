"""How moments are written in the admin: to the second, and the same in both languages."""
