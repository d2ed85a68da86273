"""One small file for each library: `fit(X, y, seed=...)`, which returns how to predict."""
