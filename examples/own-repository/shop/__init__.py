"""The Tasks of a shop, in a repository of their own."""
