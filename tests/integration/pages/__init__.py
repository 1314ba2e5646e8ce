"""The pages, as their users see them."""
