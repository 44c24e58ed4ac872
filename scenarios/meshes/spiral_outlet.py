"""The outlet of the drum of scenarios/circuit.toml: a cylinder with slots that run around it in spirals and grow wider.

    python3 scenarios/meshes/spiral_outlet.py            # writes spiral_outlet.stl beside this file

The axis is x, the outlet begins at x = 0. Lengths in metres.
"""

import math
import pathlib
import struct

RADIUS, LENGTH = 0.2, 0.3
SLOTS = 3
# Width of a slot along the circumference, at its beginning and at its end.
WIDTHS = 0.03, 0.05
# By how much of a turn a slot goes around over its length.
TURN = 1 / 3
# A ring without slots at the end, and how fine the mesh is.
RIM = 0.02
RINGS, SIDES = 24, 30


def corner(x, angle):
    return x, RADIUS * math.cos(angle), RADIUS * math.sin(angle)


def strip(slot, ring):
    """Angles of the wall between a slot and the next, at a ring."""
    share = ring / RINGS
    half = 0.5 * (WIDTHS[0] + share * (WIDTHS[1] - WIDTHS[0])) / RADIUS
    middle = [math.tau * (k / SLOTS + TURN * share) for k in (slot, slot + 1)]
    first, last = middle[0] + half, middle[1] - half
    return [first + (last - first) * side / SIDES for side in range(SIDES + 1)]


def ring_between(low, high, x_low, x_high):
    for side in range(len(low) - 1):
        a, b = corner(x_low, low[side]), corner(x_low, low[side + 1])
        c, d = corner(x_high, high[side + 1]), corner(x_high, high[side])
        yield a, b, c
        yield a, c, d


def triangles():
    step = (LENGTH - RIM) / RINGS
    for slot in range(SLOTS):
        for ring in range(RINGS):
            yield from ring_between(strip(slot, ring), strip(slot, ring + 1), ring * step, (ring + 1) * step)
    # The rim begins with the corners of the strips, and closes the slots.
    around = []
    for slot in range(SLOTS):
        around += strip(slot, RINGS)
    around += [around[0] + math.tau]
    yield from ring_between(around, around, LENGTH - RIM, LENGTH)


found = list(triangles())
data = bytes(80) + struct.pack("<I", len(found))
data += b"".join(struct.pack("<12fH", 0, 0, 0, *(x for point in corners for x in point), 0) for corners in found)
path = pathlib.Path(__file__).with_suffix(".stl")
path.write_bytes(data)
print(f"{len(found)} triangles in {path}")
