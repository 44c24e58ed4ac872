"""Makes the sliding rule of LAMMPS 29Sep2021 (pair granular, fix wall/gran granular) that of a spring and dashpot behind a slider.

    python3 patch.py SRC        # the folder of pair_granular.cpp and fix_wall_gran.cpp, which are changed in place
"""
import re
import sys

FILES = {
    "pair_granular": ("history[{}]", "historyupdate"),
    "fix_wall_gran": ("history[thist{}]", "history_update"),
}

for name, (history, update) in FILES.items():
    path = f"{sys.argv[1]}/{name}.cpp"
    text = open(path).read()
    for axis in range(3):
        spring, number = history.format(axis), axis + 1
        wound = re.escape(spring) + (
            rf"\s*=\s*-1\.0/k_tangential\*\(Fscrit\*fs{number}/fs\s*\+\s*damp_tangential\*vtr{number}\);"
        )
        # s <- (gamma s_before - dt F_crit f/|f|)/(gamma + k dt)
        own = (
            f"{spring} = (damp_tangential*({spring} - ({update} ? vtr{number}*dt : 0.0))"
            f" - dt*Fscrit*fs{number}/fs)/(damp_tangential + k_tangential*dt + 1e-300);"
        )
        text, changes = re.subn(wound, lambda _: own, text)
        if changes == 0:
            sys.exit(f"{path}: no sliding rule for axis {number}: is this LAMMPS 29Sep2021?")
    open(path, "w").write(text)
