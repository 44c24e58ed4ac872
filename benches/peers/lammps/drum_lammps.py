"""The drum of scenarios/drum.toml in LAMMPS (29 Sep 2021, Debian package lammps, program lmp), to compare plug share and angle.

    python3 drum_lammps.py GRAINS.csv TIME_STEP RANKS WARM_UP DURATION [--restitution 0.18] [--modulus 6e6]
                           [--rolling MU_R] [--twisting MU_R] [--preload slider.so]

GRAINS.csv: x, y, z, radius [m] per line, for instance the first frame of an esker run. Writes drum.data, drum.in, drum.log,
average.txt (step, plug share, angle of the centre of mass [deg]) and dump.txt into the present folder. Needs numpy.

Hertz (nu 0.25, damping by Tsuji), Mindlin with friction 0.91; rolling `sds` is bounded by MU_R F_n on the arm R* = ra rb/(ra + rb),
twisting by the torque MU_R R* F_n of equal grains of 6.5 mm.

--restitution is what an impact gives. LAMMPS's polynomial for `damping tsuji` does not give the restitution that it is told (0.32 where
told 0.18): here the damping ratio of that restitution, alpha = -sqrt(5) ln e/sqrt(ln^2 e + pi^2), is turned into the number that the
polynomial makes it from (0.056 for 0.18).

--preload: a library with pair_granular.cpp and fix_wall_gran.cpp as patch.py changes them (build_slider.sh). Without it a contact that
slides at first touch gets half the impulse of Coulomb's law.

Two plug shares: that of the velocities at an instant, and that of the displacements over 0.05 s, over which contacts do not vibrate.
"""
import argparse, math, os, re, subprocess, sys
import numpy as np

R, LENGTH, RATE, PLUG, EVERY = 0.26, 0.091, 0.25, 0.15, 0.05
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument('grains'); parser.add_argument('time_step', type=float); parser.add_argument('ranks', type=int)
parser.add_argument('warm_up', type=float); parser.add_argument('duration', type=float)
parser.add_argument('--restitution', type=float, default=0.18); parser.add_argument('--modulus', type=float, default=6e6)
parser.add_argument('--rolling', type=float); parser.add_argument('--twisting', type=float); parser.add_argument('--preload', default='')
a = parser.parse_args()

TSUJI = [4.8218, -18.022, 27.467, -22.348, 11.087, -4.2783, 1.2728]


def told(e):
    """What LAMMPS must be told for a restitution of e; below 0.113 that is negative."""
    ratio = -math.sqrt(5) * math.log(e) / math.hypot(math.log(e), math.pi)
    low, high = -0.3, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if np.polyval(TSUJI, middle) > ratio else (low, middle)
    return low


grains = np.loadtxt(a.grains, delimiter=',')
with open('drum.data', 'w') as f:
    f.write(f'drum\n\n{len(grains)} atoms\n1 atom types\n-0.28 0.28 xlo xhi\n-0.06 0.06 ylo yhi\n-0.28 0.28 zlo zhi\n\nAtoms # sphere\n\n')
    for i, (x, y, z, r) in enumerate(grains):
        f.write(f'{i + 1} 1 {2 * r} 3700 {x} {y} {z}\n')
law = f'hertz/material {a.modulus} {told(a.restitution):.6f} 0.25 tangential mindlin NULL 1.0 0.91'
if a.rolling:
    law += f' rolling sds 2.0e3 0.5 {a.rolling}'
if a.twisting:
    law += f' twisting sds 2.0e-2 5e-6 {a.twisting * 0.00325}'
law += ' damping tsuji'
open('drum.in', 'w').write(f'''units si
atom_style sphere
boundary f f f
newton off
comm_modify vel yes
processors * * *
read_data drum.data
neighbor 0.0013 bin
neigh_modify delay 0 every 1 check yes
pair_style granular
pair_coeff * * {law}
variable theta equal {RATE}*step*{a.time_step}
region drum cylinder y 0 0 {R} {-LENGTH / 2} {LENGTH / 2} side in rotate v_theta 0 0 0 0 1 0
fix gravity all gravity 9.81 vector 0 0 -1
fix move all nve/sphere
fix wall all wall/gran/region granular {law} region drum
timestep {a.time_step}
variable rx atom vx-{RATE}*z
variable rz atom vz+{RATE}*x
variable in_plug atom "sqrt(v_rx*v_rx+vy*vy+v_rz*v_rz)<={PLUG * R * RATE}"
compute plug all reduce ave v_in_plug
variable mx equal xcm(all,x)
variable mz equal xcm(all,z)
variable angle equal atan2(-v_mx,-v_mz)*180/PI
fix average all ave/time {round(0.01 / a.time_step)} 1 {round(0.01 / a.time_step)} c_plug v_angle file average.txt
dump frames all custom {round(EVERY / a.time_step)} dump.txt id x y z
dump_modify frames sort id format float %.10g
thermo_style custom step c_plug v_angle
thermo {round(1 / a.time_step)}
run {round(a.warm_up / a.time_step)}
run {round(a.duration / a.time_step)}
''')
mpi = ['mpirun', '--allow-run-as-root', '--oversubscribe', '-np', str(a.ranks)] if a.ranks > 1 else []
done = subprocess.run([*mpi, 'lmp', '-in', 'drum.in', '-log', 'drum.log'], capture_output=True, text=True,
                      env=dict(os.environ, LD_PRELOAD=a.preload))
loops = re.findall(r'Loop time of ([\d.e+-]+) on', done.stdout)
if len(loops) < 2:
    sys.exit(done.stdout[-2000:] + done.stderr[-800:])


def frames():
    with open('dump.txt') as f:
        while f.readline():
            step = int(f.readline()); f.readline(); count = int(f.readline())
            for _ in range(5):
                f.readline()
            yield step * a.time_step, np.array([f.readline().split() for _ in range(count)], float)[:, 1:]


def by_displacement():
    last, shares = None, []
    c, s = math.cos(RATE * EVERY), math.sin(RATE * EVERY)
    for time, x in frames():
        if last is not None and time > a.warm_up + EVERY / 2:
            carried = np.column_stack([c * last[:, 0] + s * last[:, 2], last[:, 1], c * last[:, 2] - s * last[:, 0]])
            shares.append((np.linalg.norm(x - carried, axis=1) / EVERY <= PLUG * R * RATE).mean())
        last = x
    return np.array(shares)


def mean(x):
    blocks = [block.mean() for block in np.array_split(x, 6)]
    return f'{x.mean():.3f} +- {np.std(blocks, ddof=1) / math.sqrt(6):.3f} (sd {x.std():.3f})'


rows = np.loadtxt('average.txt')
rows = rows[rows[:, 0] * a.time_step > a.warm_up]
print(f'angle {mean(rows[:, 2])} deg; plug share {mean(rows[:, 1])} of velocities, {mean(by_displacement())} of displacements; '
      f'{float(loops[1]) / a.duration:.1f} wall seconds per simulated second')
