"""What workers can do: the Tasks and operations that ship with Dure. Your own go beside them."""
