"""Writes bucket.stl: the bucket of an excavator, of plates 50 mm thick. Lengths in metres, origin at the pin of the stick.

    python scenarios/meshes/bucket.py
"""

import struct
from pathlib import Path

import numpy as np

THICKNESS, HALF_WIDTH = 0.05, 0.8
# The back plate in x and z, from the pin to the cutting edge.
OUTER = np.array(
    [(-0.12, 0.12), (0.5, 0.22), (0.72, -0.1), (0.78, -0.55), (0.6, -1.1), (0.2, -1.45), (-0.3, -1.55), (-0.55, -1.45)]
)


def crossing(start, along, other_start, other_along):
    """Point in which two lines cross."""
    share, _ = np.linalg.solve(np.column_stack([along, -other_along]), other_start - start)
    return start + share * along


def inner(outer):
    """The inner side of the plate, which ends on the line across the opening."""
    along = np.diff(outer, axis=0)
    across = np.column_stack([along[:, 1], -along[:, 0]]) / np.linalg.norm(along, axis=1)[:, None]
    lines = [(start + THICKNESS * normal, way) for start, normal, way in zip(outer, across, along)]
    opening = (outer[0], outer[-1] - outer[0])
    lines = [opening, *lines, opening]
    return np.array([crossing(*one, *other) for one, other in zip(lines, lines[1:])])


def triangles():
    """All triangles, seen from outside."""
    found = []

    def at(place, y):
        return (place[0], y, place[1])

    def add(*corners):
        found.extend([corners[0], corners[i], corners[i + 1]] for i in range(1, len(corners) - 1))

    inside, w, v = inner(OUTER), HALF_WIDTH, HALF_WIDTH - THICKNESS
    for (a, b), (c, d) in zip(zip(OUTER, OUTER[1:]), zip(inside, inside[1:])):
        add(at(a, -w), at(b, -w), at(b, w), at(a, w))
        add(at(c, -v), at(c, v), at(d, v), at(d, -v))
    add(*(at(place, -w) for place in OUTER[::-1]))
    add(*(at(place, w) for place in OUTER))
    add(*(at(place, -v) for place in inside))
    add(*(at(place, v) for place in inside[::-1]))
    # Around the opening.
    (a, *_, b), (c, *_, d) = OUTER, inside
    add(at(a, -w), at(a, w), at(c, v), at(c, -v))
    add(at(b, w), at(b, -w), at(d, -v), at(d, v))
    add(at(b, -w), at(a, -w), at(c, -v), at(d, -v))
    add(at(a, w), at(b, w), at(d, v), at(c, v))
    return np.array(found)


def main():
    """Writes the file beside this script, as binary STL."""
    faces = triangles()
    normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    with Path(__file__).with_suffix(".stl").open("wb") as file:
        file.write(b"bucket of an excavator, plates of 50 mm".ljust(80))
        file.write(struct.pack("<I", len(faces)))
        for normal, corners in zip(normals, faces):
            file.write(struct.pack("<12fH", *normal, *corners.ravel(), 0))


if __name__ == "__main__":
    main()
