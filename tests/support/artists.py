"""What was drawn, read back from the artists of an axis."""

import numpy as np


def words(ax):
    return {text.get_text() for text in ax.get_legend().get_texts()}


def named(artists, label):
    """The one artist of that name."""
    (artist,) = (a for a in artists if a.get_label() == label)
    return artist


def bars(ax, label):
    """Lower and upper ends of the bars of that name, from left to right."""
    corners = np.array([path.vertices[:4] for path in named(ax.collections, label).get_paths()])
    left = np.argsort(corners[:, 0, 0])
    heights = corners[left, :, 1]
    return np.column_stack([heights.min(axis=1), heights.max(axis=1)])


def band(ax, label):
    """Positions, and lower and upper edge there, of the band of that name."""
    vertices = named(ax.collections, label).get_paths()[0].vertices
    position = np.unique(vertices[:, 0])
    edges = [vertices[vertices[:, 0] == x, 1] for x in position]
    return position, np.array([(edge.min(), edge.max()) for edge in edges])


def lines(ax, label):
    """Positions, and lower and upper end there, of the vertical lines of that name."""
    segments = np.array(named(ax.collections, label).get_segments())
    return segments[:, 0, 0], segments[:, :, 1]
