"""One contact as differential equations: springs, dampers and limits of the smooth methods of esker, LAMMPS and LIGGGHTS, integrated by the
Runge-Kutta method of eighth order (Dormand & Prince, scipy) with relative errors of 1e-9 per step, from event to event: a spring that
begins to slip or to stick again, an overlap that begins to shrink, a normal force that changes its sign, a contact that ends. No step of a
program goes into it. A grain a touches a floor (z = 0) or a grain b; the normal points from b to a.

    f_n = k δ^(3/2) or k δ, + η_n dδ/dt        S = df_n/dδ of the spring, η_n = c √(m* S)
    ds/dt = Ω × s - k_t u + p (da/dt)/a s      k_t = κ S, a = √(R* δ); p of loading and of unloading is a matter of the law
    dm/dt = Ω × m - k_r w + p (da/dt)/a m      k_r = R*² k_t or a constant, w = ω_a - ω_b
    Ω     = n × dn/dt (+ n (ω_a + ω_b)·n/2)

u is the slip, at arms R - c_v δ; the friction acts at arms R - c_t δ. Three rules of slip are known, with the bound B = μ max(f_n, 0) or μ |f_n|:

    "spring"   s is kept within B, and the damper acts while s is inside; spring and damper together are kept within B (esker)
    "open"     the same, but spring and damper together may be more than B (LIGGGHTS)
    "total"    spring and damper together are kept within B; s is then that force less the damper (LAMMPS)
"""

import dataclasses
import math

import numpy as np
from scipy.integrate import solve_ivp

X, V, W, XB, VB, WB = (slice(3 * k, 3 * k + 3) for k in range(6))
S, M = "friction", "rolling"
AT = {S: slice(18, 21), M: slice(21, 24)}  # places of the springs in a state
UP = np.array([0.0, 0.0, 1.0])
TINY = 1e-300


@dataclasses.dataclass(frozen=True)
class Law:
    """What of a contact law the programs agree on (first line), and what is a matter of the program."""

    is_hertz: bool
    stiffness: float  # k [N/m^1.5 or N/m]
    damping: float  # c: η_n over √(m* S) [-]
    kappa: float  # k_t/S [-]
    friction: float  # μ [-]
    rolling: float = 0.0  # bound of the moment over f_n [m]
    tangential_damping: float = 0.0  # η_t over η_n [-]
    powers: tuple = (0, 1)  # p while δ grows, while it shrinks
    slip: str = "spring"
    takes_size: bool = False  # B = μ |f_n| in place of μ max(f_n, 0)
    arms: tuple = (0.5, 0.5)  # c_v, c_t
    turns: bool = True  # springs turn about the normal with the mean spin
    rolling_spring: tuple = None  # constant k_r [N m] and η_r [N m s]; None: R*² k_t, R*² η_t
    is_rolling_damped: bool = True
    twists: bool = True  # whether the moment has a part along the normal


def cross(a, b):
    """Vector product; that of NumPy takes ten times as long for one pair."""
    (ax, ay, az), (bx, by, bz) = a, b
    return np.array([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx])


def size(vector):
    return math.sqrt(vector @ vector)


def cut(vector, bound):
    """Vector no longer than a bound."""
    length = size(vector)
    return vector if length <= bound else vector * (bound / length)


def along(vector):
    """Direction of a vector; zero for none."""
    return vector / max(size(vector), TINY)


class Contact:
    """Grain a of radius and mass, and grain b of radius and mass or the floor (`None`)."""

    def __init__(self, law, a, b=None, gravity=0.0):
        self.law, self.a, self.b, self.gravity = law, a, b, gravity
        self.radius = a[0] if b is None else a[0] * b[0] / (a[0] + b[0])
        self.mass = a[1] if b is None else a[1] * b[1] / (a[1] + b[1])
        self.modes = {S: "stick", M: "stick"}
        self.is_loading, self.is_pulled = True, False

    def place(self, y):
        """Normal, overlap, relative velocity, rate of the overlap, and rate of the normal."""
        velocity = y[V] - y[VB]
        if self.b is None:
            return UP, self.a[0] - y[X][2], velocity, -velocity[2], np.zeros(3)
        apart = y[X] - y[XB]
        distance = size(apart)
        normal = apart / distance
        speed = velocity @ normal
        return normal, self.a[0] + self.b[0] - distance, velocity, -speed, (velocity - speed * normal) / distance

    def known(self, y):
        """All that follows from positions and velocities alone."""
        law = self.law
        normal, overlap, velocity, closing, turning = self.place(y)
        overlap = max(overlap, 1e-13 * self.radius)
        force, slope = law.stiffness * overlap, law.stiffness
        if law.is_hertz:
            force, slope = force * math.sqrt(overlap), 1.5 * slope * math.sqrt(overlap)
        damper = law.damping * math.sqrt(self.mass * slope)
        force += damper * closing
        pressed = abs(force) if law.takes_size else max(force, 0.0)
        arm, other = self.arms(normal, overlap, law.arms[0])
        slip = velocity + cross(y[W], arm) - cross(y[WB], other)
        slip = slip - (slip @ normal) * normal
        spin = y[W] - y[WB]
        if not law.twists:
            spin = spin - (spin @ normal) * normal
        roll = (self.radius**2 * law.kappa * slope, self.radius**2 * law.tangential_damping * damper)
        if law.rolling_spring is not None:
            roll = law.rolling_spring
        about = normal @ (y[W] + y[WB]) / 2 if law.turns else 0.0
        return {
            "normal": normal,
            "overlap": overlap,
            "closing": closing,
            "turning": turning,
            "slope": slope,
            "damper": damper,
            "force": force,
            "frame": cross(normal, turning) + about * normal,
            S: (law.friction * pressed, law.kappa * slope, law.tangential_damping * damper, slip),
            M: (law.rolling * pressed, roll[0], roll[1] if law.is_rolling_damped else 0.0, spin),
        }

    def arms(self, normal, overlap, share):
        other = 0.0 if self.b is None else self.b[0] - share * overlap
        return -(self.a[0] - share * overlap) * normal, other * normal

    def given(self, y, known, part):
        """Force or moment on a of one spring and its damper."""
        bound, _, damper, motion = known[part]
        if self.modes[part] == "slip":
            return bound * along(y[AT[part]])
        total = y[AT[part]] - damper * motion
        return cut(total, bound) if self.law.slip == "spring" else total

    def accelerations(self, y, known):
        """Rates of everything but the springs."""
        normal, friction = known["normal"], self.given(y, known, S)
        moment = self.given(y, known, M) if self.law.rolling > 0 else np.zeros(3)
        arm, other = self.arms(normal, known["overlap"], self.law.arms[1])
        push = known["force"] * normal + friction
        rates = np.zeros(24)
        rates[X] = y[V]
        rates[V] = push / self.a[1] - self.gravity * UP
        rates[W] = (cross(arm, friction) + moment) / (0.4 * self.a[1] * self.a[0] ** 2)
        if self.b is not None:
            rates[XB] = y[VB]
            rates[VB] = -push / self.b[1]
            rates[WB] = (-cross(other, friction) - moment) / (0.4 * self.b[1] * self.b[0] ** 2)
        return rates

    def changes(self, y, known, rates):
        """Rates of the bound and of damping times motion, for both springs."""
        law, normal, closing, turning = self.law, known["normal"], known["closing"], known["turning"]
        velocity, pull = y[V] - y[VB], rates[V] - rates[VB]
        rebound = -(pull @ normal) - (0.0 if self.b is None else (velocity @ velocity - closing**2) / (self.a[0] + self.b[0] - known["overlap"]))
        # η_n grows as δ^(1/4) under Hertz's law.
        growth = closing / (4 * known["overlap"]) if law.is_hertz else 0.0
        damper = known["damper"]
        force = known["slope"] * closing + damper * (growth * closing + rebound)
        if self.is_pulled:
            force *= -1.0 if law.takes_size else 0.0
        arm, other = self.arms(normal, known["overlap"], law.arms[0])
        # Arms grow with the overlap, and turn with the normal.
        arm_rate = law.arms[0] * closing * normal - (self.a[0] - law.arms[0] * known["overlap"]) * turning
        slip = velocity + cross(y[W], arm) - cross(y[WB], other)
        slip_rate = pull + cross(rates[W], arm) + cross(y[W], arm_rate) - cross(rates[WB], other)
        if self.b is not None:
            other_rate = -law.arms[0] * closing * normal + (self.b[0] - law.arms[0] * known["overlap"]) * turning
            slip_rate = slip_rate - cross(y[WB], other_rate)
        slip_rate = slip_rate - (slip_rate @ normal + slip @ turning) * normal - (slip @ normal) * turning
        _, _, friction_damper, motion = known[S]
        spin_rate = rates[W] - rates[WB]
        if not law.twists:
            spin_rate = spin_rate - (spin_rate @ normal) * normal
        return {
            S: (law.friction * force, friction_damper * (growth * motion + slip_rate)),
            M: (law.rolling * force, known[M][2] * spin_rate),
        }

    def pulls(self, y, known, rates):
        """Rates of both springs, and how fast a slipping one would outgrow its bound (negative: it sticks again)."""
        law, outgrows = self.law, {}
        changes = self.changes(y, known, rates) if "slip" in self.modes.values() else {}
        power = law.powers[0 if self.is_loading else 1] if law.is_hertz and self.place(y)[1] > 0 else 0
        for part in (S, M):
            if self.modes[part] == "none":
                continue
            bound, stiffness, damper, motion = known[part]
            is_slipping = self.modes[part] == "slip"
            spring = self.held(y, known, part)
            free = cross(known["frame"], spring) - stiffness * motion + power * known["closing"] / (2 * known["overlap"]) * spring
            if is_slipping:
                growth, drag = changes[part]
                if law.slip == "total":
                    free = free - drag
                direction = along(y[AT[part]])
                outgrows[part] = free @ direction - growth
                # Only the direction is integrated. It turns to that of the motion the faster the smaller the bound is, and below a
                # thousandth of the forces of the contact it matters no more.
                free = (free - (free @ direction) * direction) / max(bound, self.least[part])
            rates[AT[part]] = free
        return rates, outgrows

    def rates(self, _, y):
        known = self.known(y)
        return self.pulls(y, known, self.accelerations(y, known))[0]

    def excess(self, y, part):
        """How far a spring that sticks is beyond its bound; for one that slips, how fast it would outgrow it."""
        known = self.known(y)
        if self.modes[part] == "slip":
            return self.pulls(y, known, self.accelerations(y, known))[1][part]
        bound, _, damper, motion = known[part]
        held = y[AT[part]] - damper * motion if self.law.slip == "total" else y[AT[part]]
        return size(held) - bound

    def held(self, y, known, part):
        """Force or moment of a spring without its damper; the state of one that slips is a direction."""
        bound, _, damper, motion = known[part]
        if self.modes[part] != "slip":
            return y[AT[part]]
        return bound * along(y[AT[part]]) + (damper * motion if self.law.slip == "total" else 0.0)

    def switch(self, y, part):
        """From sticking to slipping, or back."""
        known = self.known(y)
        if self.modes[part] == "slip":
            y[AT[part]] = self.held(y, known, part)
            self.modes[part] = "stick"
        else:
            y[AT[part]] = along(y[AT[part]] - (known[part][2] * known[part][3] if self.law.slip == "total" else 0.0))
            self.modes[part] = "slip"

    def begin(self, y):
        """Springs after a very short time from first touch."""
        known = self.known(y)
        for part in (S, M):
            bound, stiffness, damper, motion = known[part]
            if bound == 0 and (part == M or self.law.friction == 0):
                self.modes[part] = "none"
                continue
            y[AT[part]] = -stiffness * motion * self.time * START * (2 / 3 if self.law.is_hertz else 1)
            if self.excess(y, part) > 0:
                self.modes[part] = "slip"
                y[AT[part]] = -along(motion)

    def after(self, y, until, resting=False, accuracy=1e-9):
        """State after the contact, or at the time `until` [s]. Starts at first touch, or, resting, in equilibrium with springs at ease."""
        y, now = np.concatenate([np.asarray(y, float), np.zeros(6)]), 0.0
        self.time = until
        force = self.mass * (self.gravity if resting else 3 * size(y[V] - y[VB]) / until)
        self.none = 1e-9 * force  # a normal force that is none
        self.least = {S: 1e-3 * self.law.friction * force, M: 1e-3 * self.law.rolling * force}
        if not resting:
            now = START * until
            y[X] += now * y[V]
            y[XB] += now * y[VB]
            self.begin(y)
        else:
            if self.law.rolling == 0:
                self.modes[M] = "none"
            for part in (S, M):
                # Under the rule "total" a damper alone may be beyond the bound.
                if self.modes[part] == "stick" and self.excess(y, part) > 0:
                    self.switch(y, part)
        scale = np.concatenate([np.full(3, 1e-3), np.full(3, 1.0), np.full(3, 1e2)] * 2 + [np.full(3, 1.0), np.full(3, 1e-3)])
        for _ in range(1000):
            events = self.events()
            found = solve_ivp(
                self.rates, (now, until), y, "DOP853", rtol=accuracy, atol=accuracy * 1e-3 * scale, events=[event for _, event in events],
                max_step=until / 200,
            )
            y, now = found.y[:, -1].copy(), found.t[-1]
            if found.status < 0:
                raise RuntimeError(found.message)
            if found.status == 0:
                return y
            which = next(k for k, times in enumerate(found.t_events) if len(times))
            what = events[which][0]
            if what == "end":
                return y
            if what == "turn":
                self.is_loading = not self.is_loading
            elif what == "sign":
                self.turn_over(y)
            elif what in (S, M):
                self.switch(y, what)
        raise RuntimeError("the contact does not end")

    def turn_over(self, y):
        """The normal force changes its sign: springs let go, or under |f_n| slip on against the motion."""
        self.is_pulled = not self.is_pulled
        known = self.known(y)
        for part in (S, M):
            if self.modes[part] != "none":
                self.modes[part] = "slip" if self.law.takes_size else "none"
                y[AT[part]] = -along(known[part][3]) if self.law.takes_size else 0.0
        for part in (S, M):
            if self.modes[part] == "slip" and self.excess(y, part) < 0:
                self.switch(y, part)

    def events(self):
        def event(function, direction):
            function.terminal, function.direction = True, direction
            return function

        found = [
            ("end", event(lambda _, y: self.place(y)[1] - END * self.radius, -1)),
            ("turn", event(lambda _, y: self.place(y)[3], -1 if self.is_loading else 1)),
        ]
        if self.law.damping > 0:
            found.append(("sign", event(lambda _, y: self.known(y)["force"] - self.none, 1 if self.is_pulled else -1)))
        for part in (S, M):
            if self.modes[part] != "none":
                found.append((part, event(lambda _, y, part=part: self.excess(y, part), -1 if self.modes[part] == "slip" else 1)))
        return found


END = 1e-10  # overlap at which a contact ends, over R*: the forces of dampers have no slope at zero
START = 1e-10  # time after first touch at which the integration begins, over the whole
