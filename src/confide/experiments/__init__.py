"""The paper's experiments, and the numbers that it printed for them."""
