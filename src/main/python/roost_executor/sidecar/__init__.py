"""The process that talks to the control plane."""
