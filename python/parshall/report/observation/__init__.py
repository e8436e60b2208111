"""The page of an observation, and its figures."""
