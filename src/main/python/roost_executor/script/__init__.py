"""The process forked for an execution: the script, what it is called with, and what it raises."""
