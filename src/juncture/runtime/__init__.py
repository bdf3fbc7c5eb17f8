"""How the work is done: threads, processes, memory, and the one reader and writer of files."""
