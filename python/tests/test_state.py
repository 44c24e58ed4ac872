"""Arrays of grains and contacts, and changes between steps."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import esker
from conftest import GLASS, Word

ARRAYS: dict[str, Callable[[esker.Simulation], np.ndarray]] = {
    "ids": lambda simulation: simulation.ids(),
    "positions": lambda simulation: simulation.positions(),
    "velocities": lambda simulation: simulation.velocities(),
    "angular_velocities": lambda simulation: simulation.angular_velocities(),
    "orientations": lambda simulation: simulation.orientations(),
    "radii": lambda simulation: simulation.radii(),
    "masses": lambda simulation: simulation.masses(),
    "gaps": lambda simulation: simulation.contacts().gaps,
    "normal_forces": lambda simulation: simulation.contacts().normal_forces,
    "friction_forces": lambda simulation: simulation.contacts().friction_forces,
    "box": lambda simulation: simulation.boundary("box").position,
}


def test_every_array_is_a_snapshot_of_its_own(bed: dict[str, Any], device: Word) -> None:
    simulation = esker.Simulation.from_dict(bed, device=device)
    simulation.step(20)
    first = {name: array(simulation) for name, array in ARRAYS.items()}
    kept = copy.deepcopy(first)
    simulation.step(20)
    simulation.remove_grains([0])
    for name, held in first.items():
        assert np.array_equal(held, kept[name]), f"{name} changed under the user"
    later = simulation.positions()
    assert later.shape == (63, 3) and not np.array_equal(later, kept["positions"][1:]), "the scene did move"
    for name, array in ARRAYS.items():
        mine = array(simulation)
        before = mine.copy()
        mine[...] = 7
        assert np.array_equal(array(simulation), before), f"{name} is the simulation's own"


def test_arrays_have_their_shapes_units_and_values(bed: dict[str, Any], device: Word) -> None:
    simulation = esker.Simulation.from_dict(bed, device=device)
    assert simulation.positions().dtype == np.float64 and simulation.ids().tolist() == list(range(64))
    assert np.allclose(simulation.positions()[0], [0, 0, 0.0055], atol=0.0002), "the corner of the packing and its jitter"
    assert np.allclose(simulation.radii(), 0.005, rtol=1e-7)
    assert np.allclose(simulation.masses(), 2500 * 4 / 3 * np.pi * 0.005**3, rtol=1e-6)
    assert np.array_equal(simulation.orientations(), np.tile([0.0, 0.0, 0.0, 1.0], (64, 1)))
    simulation.step(10)
    free = simulation.positions()[:, 2].argmax()
    assert simulation.velocities()[free, 2] == pytest.approx(-9.81 * 0.01, rel=1e-5)


def test_the_box_carries_the_weight_by_contacts_and_by_quantity(bed: dict[str, Any], device: Word) -> None:
    simulation = esker.Simulation.from_dict(bed, device=device, set={"duration": 2.0})
    simulation.run(until=0.4)
    weight = 9.81 * simulation.masses().sum()
    contacts = simulation.contacts()
    walls = contacts.of("box")
    assert walls.dtype == np.bool_ and len(contacts) == len(walls)
    assert set(contacts.bodies[walls, 1]) == {-1}, "boundary 0"
    carried = contacts.normal_forces[walls] @ contacts.normals[walls] + contacts.friction_forces[walls].sum(axis=0)
    # At rest: the mean acceleration of the bed in a step is below 1 % of g.
    assert carried[2] == pytest.approx(weight, rel=0.01)
    assert -simulation.quantity("force_z:box") == pytest.approx(carried[2], rel=1e-6)
    assert simulation.quantities["force_z:box"] == "N"
    others = contacts.normal_forces[~walls] @ contacts.normals[~walls]
    assert abs(others[2] - weight) > 0.1 * weight, "contacts between grains carry something else: the mask matters"
    lengths = np.linalg.norm(contacts.normals, axis=1)
    assert np.allclose(lengths, 1.0, atol=1e-6)
    friction = np.linalg.norm(contacts.friction_forces, axis=1)
    assert (friction <= 0.4 * contacts.normal_forces * (1 + 1e-6) + 1e-12).all(), "Coulomb's law"
    grain = int(contacts.bodies[0, 0])
    assert contacts.of(grain).sum() == (contacts.bodies == grain).any(axis=1).sum() > 0
    with pytest.raises(esker.Error, match='there is no boundary "bax"; the scene has "box"'):
        contacts.of("bax")
    with pytest.raises(TypeError, match="expected the id of a grain or the name of a boundary"):
        contacts.of(1.5)  # type: ignore[arg-type]


def test_names_that_are_not_there_are_errors_that_list_those_that_are(bed: dict[str, Any]) -> None:
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    with pytest.raises(esker.Error, match="did you mean `height`?"):
        simulation.quantity("hieght")
    with pytest.raises(esker.Error, match='no boundary "wall"'):
        simulation.boundary("wall")
    with pytest.raises(esker.Error, match='no boundary "wall"'):
        simulation.set_velocity("wall", [0, 0, 1])
    with pytest.raises(esker.Error, match='no joint "hinge"'):
        simulation.set_drive("hinge", force=1.0)
    with pytest.raises(esker.Error, match="has no axis to turn about"):
        simulation.set_angular_velocity("box", [0, 0, 1])


def test_grains_come_and_go_and_keep_their_ids(bed: dict[str, Any], device: Word) -> None:
    simulation = esker.Simulation.from_dict(bed, device=device)
    simulation.step(5)
    simulation.remove_grains(np.array([3, 60]))
    assert simulation.ids().tolist() == [i for i in range(64) if i not in (3, 60)]
    places = [[0.0, 0.0, 0.2], [0.03, 0.0, 0.2]]
    new = simulation.add_grains(places, [0.004, 0.006], "glass", velocities=np.array([[0, 0, 1.0], [0, 0, 2.0]]))
    assert new.tolist() == [64, 65]
    simulation.step(1)
    ids = simulation.ids().tolist()
    rows = [ids.index(64), ids.index(65)]
    assert np.allclose(simulation.radii()[rows], [0.004, 0.006], rtol=1e-6)
    assert np.allclose(simulation.velocities()[rows, 2], [1 - 9.81e-3, 2 - 9.81e-3], rtol=1e-5)
    simulation.set_force(64, force=[1.0, 0, 0], torque=[0, 1e-6, 0])
    simulation.step(1)
    mass = simulation.masses()[rows[0]]
    assert simulation.velocities()[rows, 0] == pytest.approx([1e-3 / mass, 0.0], rel=1e-5)
    spin = 1e-6 * 1e-3 / (0.4 * mass * 0.004**2)
    assert simulation.angular_velocities()[rows[0], 1] == pytest.approx(spin, rel=1e-5)
    simulation.remove_grains([65])
    others = simulation.add_grains([[0.01, 0, 0.3], [0.02, 0, 0.3], [0.03, 0, 0.3]], 0.005, "glass")
    simulation.step(1)
    assert others.tolist() == [66, 67, 68] and len(set(simulation.ids().tolist())) == len(simulation.ids()) == 66
    with pytest.raises(esker.Error, match="there is no grain of id 65"):
        simulation.set_force(65, force=[1, 0, 0])
    with pytest.raises(esker.Error, match="there is no grain of id -1"):
        simulation.remove_grains([-1])
    with pytest.raises(ValueError, match="expected whole numbers, found 1.5"):
        simulation.remove_grains(np.array([1.5]))
    with pytest.raises(TypeError, match="expected a list or an array of ids, found 3"):
        simulation.remove_grains(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"positions": [[0, 0]]}, ValueError, r"positions \[m\]: expected an array of shape \(n, 3\)"),
        ({"positions": [[0, 0, np.nan]]}, ValueError, r"positions \[m\]: expected finite numbers, found NaN"),
        ({"positions": "here"}, TypeError, r"positions \[m\]: expected an array"),
        ({"radius": -1.0}, ValueError, r"radius \[m\]: expected a positive radius"),
        ({"radius": [0.1, 0.2]}, ValueError, r"radius \[m\]: expected a number or an array of shape \(1,\)"),
        ({"material": "gold"}, esker.Error, 'there is no material "gold"; the scene has "glass"'),
        ({"clump": "peanut"}, esker.Error, 'there is no clump "peanut"; the scene has none'),
        ({"velocities": [[0, 0, 0]] * 2}, ValueError, r"velocities \[m/s\]: expected 1 rows"),
        ({"positions": [[0, 0, 1.0], [0, 0, 1.005]]}, esker.Error, "overlaps grain 0 of them by 5.000e-3 m, 100.0 %"),
    ],
)
def test_grains_that_cannot_be_are_refused(
    bed: dict[str, Any], changes: dict[str, Any], error: type[Exception], message: str
) -> None:
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    arguments: dict[str, Any] = {"positions": [[0, 0, 1.0]], "radius": 0.005, "material": "glass"} | changes
    with pytest.raises(error, match=message):
        simulation.add_grains(**arguments)
    assert len(simulation.ids()) == 64


def test_overlaps_of_new_grains_can_be_allowed(bed: dict[str, Any]) -> None:
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    new = simulation.add_grains([[0, 0, 1.0], [0, 0, 1.005]], 0.005, "glass", allow_overlap=True)
    assert new.tolist() == [64, 65]


@pytest.mark.parametrize("gravity", [[0, 0], "down", [0, 0, "g"], 9.81, None])
def test_gravity_that_is_no_vector_is_refused(bed: dict[str, Any], gravity: Any) -> None:
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    with pytest.raises(TypeError, match=r"gravity \[m/s²\]: expected"):
        simulation.set_gravity(gravity)
    with pytest.raises(ValueError, match="expected a finite number, found inf"):
        simulation.set_gravity([0, 0, np.inf])


FAR = 1e9
"""Largest coordinate and velocity of a world: [m], [m/s], [rad/s]."""

ABOVE = [0.015, 0.015, 0.09]
"""A free place in the box [m]."""

BEYOND: dict[str, tuple[Callable[[esker.Simulation, float], object], str]] = {
    "gravity": (lambda simulation, x: simulation.set_gravity([0, 0, -x]), "gravity"),
    "velocity": (lambda simulation, x: simulation.set_velocity("box", [x, 0, 0]), "velocity"),
    "angular_velocity": (lambda simulation, x: simulation.set_angular_velocity("drum", [0, x, 0]), "angular velocity"),
    "position": (lambda simulation, x: simulation.add_grains([[0.015, 0.015, x]], 0.005, "glass"), "position"),
    "grain_velocity": (lambda simulation, x: simulation.add_grains([ABOVE], 0.005, "glass", velocities=[[0, 0, x]]), "velocity"),
    "grain_spin": (
        lambda simulation, x: simulation.add_grains([ABOVE], 0.005, "glass", angular_velocities=[[x, 0, 0]]),
        "angular velocity",
    ),
}


@pytest.mark.parametrize("name", list(BEYOND))
def test_a_number_beyond_the_bound_is_refused_with_its_value_and_changes_nothing(bed: dict[str, Any], name: str) -> None:
    drum = {"kind": "cylinder", "base": [1, 0, 0], "axis": [0, 1, 0], "length": 0.1, "radius": 0.1}
    bed["boundaries"].append(
        {"name": "drum", "material": "glass", "shape": drum, "motion": {"kind": "rotation", "rate": 0.0}}
    )
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    change, what = BEYOND[name]
    for found in (1.0001 * FAR, -2e9, 1e300):
        with pytest.raises(esker.Error, match=what) as caught:
            change(simulation, found if name != "position" else abs(found))
        assert isinstance(caught.value, ValueError)
        assert "1e9" in str(caught.value), "it says how large a number may be"
    assert len(simulation.ids()) == 64
    assert np.all(simulation.boundary("box").velocity == 0) and np.all(simulation.boundary("drum").angular_velocity == 0)
    # The bound itself is in range.
    change(simulation, FAR)


def test_walls_are_moved(bed: dict[str, Any], device: Word) -> None:
    bed["boundaries"].append(
        {
            "name": "drum",
            "material": "glass",
            "shape": {"kind": "cylinder", "base": [1, 0, 0], "axis": [0, 1, 0], "length": 0.1, "radius": 0.1},
            "motion": {"kind": "rotation", "rate": 0.0},
        }
    )
    simulation = esker.Simulation.from_dict(bed, device=device)
    assert simulation.boundaries == ["box", "drum"]
    start = simulation.boundary("box").position[2]
    simulation.set_velocity("box", (0, 0, -0.5))
    simulation.set_angular_velocity("drum", np.array([0, 2.0, 0]))
    simulation.step(100)
    box, drum = simulation.boundary("box"), simulation.boundary("drum")
    assert box.position[2] - start == pytest.approx(-0.05, rel=1e-4) and box.velocity[2] == pytest.approx(-0.5, rel=1e-4)
    assert drum.orientation == pytest.approx([0, np.sin(0.1), 0, np.cos(0.1)], abs=1e-5)
    assert drum.angular_velocity == pytest.approx([0, 2, 0]) and drum.name == "drum"


def lift() -> dict[str, Any]:
    """A box on a vertical slider, without grains."""
    return {
        "duration": 2.0,
        "solver": {"time_step": 1e-3},
        "materials": {"steel": GLASS},
        "boundaries": [
            {
                "name": "box",
                "material": "steel",
                "shape": {"kind": "box", "min": [0, 0, 1], "max": [0.1, 0.1, 1.1], "side": "outside"},
                "motion": {"kind": "dynamic", "mass": 2.0},
            }
        ],
        "joints": [
            {"name": "rail", "kind": "slider", "bodies": ["ground", "box"], "point": [0.05, 0.05, 1.05], "axis": [0, 0, 1]}
        ],
    }


def test_a_joint_is_driven_by_force_velocity_position_and_table(device: Word) -> None:
    simulation = esker.Simulation.from_dict(lift(), device=device)
    assert simulation.joints == ["rail"]

    def speed() -> float:
        return simulation.quantity("joint_speed:rail")

    simulation.set_drive("rail", force=2.0 * 9.81)
    simulation.step(50)
    assert speed() == pytest.approx(0.0, abs=1e-5), "its weight is carried"
    simulation.set_drive("rail", velocity=0.3, force_limit=1e3)
    simulation.step(50)
    assert speed() == pytest.approx(0.3, rel=1e-4)
    now = simulation.time
    simulation.set_drive("rail", velocity=([now, now + 0.05], np.array([0.3, 0.1])))
    simulation.step(60)
    assert speed() == pytest.approx(0.1, rel=1e-4)
    simulation.set_drive("rail", position=0.05, response_time=0.005)
    simulation.step(100)
    assert simulation.quantity("joint_position:rail") == pytest.approx(0.05, abs=1e-5)
    simulation.set_drive("rail")
    before = speed()
    simulation.step(50)
    assert speed() - before == pytest.approx(-0.4905, rel=1e-3), "let go, it falls"
    simulation.set_force("box", force=[0, 0, 2.0 * 9.81])
    before = speed()
    simulation.step(50)
    assert speed() == pytest.approx(before, abs=1e-4)


def test_a_drive_that_is_none_is_refused() -> None:
    simulation = esker.Simulation.from_dict(lift(), device="cpu")
    with pytest.raises(TypeError, match="expected one of force, pressure, velocity and position"):
        simulation.set_drive("rail", force=1.0, velocity=1.0)
    with pytest.raises(ValueError, match=r"force_limit \[N, N m\]: expected a positive number"):
        simulation.set_drive("rail", velocity=1.0, force_limit=0.0)
    with pytest.raises(ValueError, match=r"response_time \[s\]: expected a positive time"):
        simulation.set_drive("rail", position=1.0, response_time=0.0)
    with pytest.raises(ValueError, match="expected ascending times and as many values"):
        simulation.set_drive("rail", velocity=([0, 0], [1, 2]))


def test_the_report_tells_of_the_last_steps(bed: dict[str, Any], device: Word) -> None:
    simulation = esker.Simulation.from_dict(bed, device=device)
    simulation.step(30)
    report = simulation.report
    assert report["sweeps"] == 30 and report["contacts"] == len(simulation.contacts()) > 16
    assert 0 <= report["residual_mean"] <= report["residual_max"] < 0.1
    assert simulation.memory > 64 * 100


def test_forces_and_velocities_of_many_grains_are_set_at_once(bed: dict[str, Any], device: Word) -> None:
    one = esker.Simulation.from_dict(bed, device=device)
    other = esker.Simulation.from_dict(bed, device=device)
    count = len(one.ids())
    forces = 1e-3 * np.random.default_rng(1).normal(size=(count, 3))
    torques = 1e-6 * forces[::-1]
    one.set_forces(forces, torques)
    for grain, force, torque in zip(one.ids(), forces, torques, strict=True):
        other.set_force(int(grain), force, torque)
    for simulation in one, other:
        simulation.step(20)
    assert (one.positions() == other.positions()).all() and (one.velocities() == other.velocities()).all()
    # Forces of some replace those that they had, and leave those of others.
    one.set_forces([[0.0, 0.0, 0.0]], ids=[7])
    other.set_force(7)
    assert one.ids()[7] == 7
    for simulation in one, other:
        simulation.step(20)
    assert (one.positions() == other.positions()).all()
    # A body in free fall takes the velocity that it is given, and keeps its spin.
    high = one.add_grains([[0, 0, 0.5], [0, 0, 0.6]], 0.005, "glass", angular_velocities=[[1.0, 2.0, 3.0]] * 2)
    one.set_velocities([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]], ids=high)
    one.step(1)
    assert np.allclose(one.velocities()[-2:], [[1.0, 0.0, 2 - 9.81e-3], [0.0, 1.0, -9.81e-3]], atol=1e-6)
    assert np.allclose(one.angular_velocities()[-2:], [[1.0, 2.0, 3.0]] * 2, atol=1e-6)
    one.set_velocities(angular_velocities=np.zeros((count + 2, 3)))
    assert (one.angular_velocities() == 0).all() and np.allclose(one.velocities()[-2, 0], 1.0)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (lambda s: s.set_forces([[0, 0, 1]]), ValueError, r"forces \[N\]: expected one row for each of 64 grains, found 1 rows"),
        (lambda s: s.set_forces([[0, 0, np.inf]], ids=[3]), ValueError, r"forces \[N\]: expected finite numbers, found inf"),
        (lambda s: s.set_forces([[0, 0, 1]], ids=[64]), esker.Error, "there is no grain of id 64"),
        (lambda s: s.set_forces([[0, 0, 1]] * 2, ids=[3, 3]), ValueError, "expected each id once, found 3 twice"),
        (lambda s: s.set_velocities([[0, 0]], ids=[3]), ValueError, r"expected an array of shape \(n, 3\)"),
        (lambda s: s.set_velocities([[1e300, 0, 0]], ids=[3]), esker.Error, r"velocity \[m/s\]"),
    ],
)
def test_forces_that_cannot_be_are_refused(
    bed: dict[str, Any], change: Callable[[esker.Simulation], None], error: type[Exception], message: str
) -> None:
    simulation = esker.Simulation.from_dict(bed, device="cpu")
    with pytest.raises(error, match=message):
        change(simulation)


def turned(quaternion: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Places turned by a quaternion (x, y, z, w)."""
    axis, w = quaternion[:3], quaternion[3]
    across = 2 * np.cross(axis, places)
    return np.asarray(places + w * across + np.cross(axis, across))


def test_polyhedra_have_corners_and_faces_where_they_lie(bed: dict[str, Any], device: Word) -> None:
    stone = [[0, 0, 0], [0.02, 0, 0], [0, 0.014, 0.001], [0.003, 0.004, 0.011]]
    bed["shapes"] = {"stone": {"points": stone}}
    stones = {
        "material": "glass",
        "shape": "stone",
        "packing": {"kind": "list", "positions": [[0.01, 0.01, 0.012]]},
    }
    bed["grains"] = [stones]
    simulation = esker.Simulation.from_dict(bed, device=device)
    ball = simulation.add_grains([[0.03, 0.03, 0.006]], 0.005, "glass")
    simulation.add_grains([[0.01, 0.01, 0.05]], 0.004, "glass", clump="stone")
    simulation.step(300)
    assert simulation.clumps() == ["stone", "", "stone"] and simulation.ids()[1] == ball[0]
    corners, faces = simulation.polyhedra["stone"]
    assert corners.shape == (4, 3) and sorted(map(len, faces)) == [3, 3, 3, 3]
    # The volume is that of a sphere of radius 1, and the edges are those of the file at the scale of the grain.
    a, b, c, d = corners
    assert abs(np.dot(b - a, np.cross(c - a, d - a))) / 6 == pytest.approx(4 / 3 * np.pi)
    lengths = simulation.radii()[0] * np.array([np.linalg.norm(corners[i] - corners[j]) for i in range(4) for j in range(i)])
    own = np.array(stone)
    expected = [np.linalg.norm(own[i] - own[j]) for i in range(4) for j in range(i)]
    assert sorted(lengths) == pytest.approx(sorted(expected))
    place, turn, radius = simulation.positions()[0], simulation.orientations()[0], simulation.radii()[0]
    heights = np.sort((place + radius * turned(turn, corners))[:, 2])
    # It lies on the floor with three corners.
    assert heights[:3] == pytest.approx(np.zeros(3), abs=1e-4) and heights[3] > 5e-3
