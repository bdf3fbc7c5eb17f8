"""What commands read: arguments, rows, numbers; and what the shell completes."""
