"""What commands print: tables, facts, answers, progress, and messages in the words of the command line."""
