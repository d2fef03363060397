"""The algorithm in order: settings, graphs, sums, embedding, labels, and the model they make."""
