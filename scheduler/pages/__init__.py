"""The pages about the whole: the monitor."""
