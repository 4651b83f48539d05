"""Installs an agent's requirements and lists what was installed.

Runs with the interpreter that the agent will run with, and needs nothing but its standard library
(Python 3.9 and later) and ``uv``. See ``__main__`` for the command line and what it prints.
"""
