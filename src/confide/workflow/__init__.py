"""From a file to a page: what the commands do, as functions."""
