"""The pages, as those have them who look at them and press what is there."""
