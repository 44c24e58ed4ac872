// A camera that turns about a place of the scene: drag to orbit, wheel to zoom, right or shift drag to pan. z is up.

const HALF_ANGLE = 0.22; // of what it takes in, from the middle to the top [rad]

export class Camera {
    constructor() {
        this.azimuth = 0.5;
        this.elevation = 0.3;
        this.centre = [0, 0, 0];
        this.size = 1; // half of what is seen, the smaller way [m]
        this.moved = () => {};
    }

    // Looks at a box from its corners.
    fit([min, max]) {
        const half = min.map((low, axis) => 0.5 * (max[axis] - low));
        this.centre = min.map((low, axis) => 0.5 * (low + max[axis]));
        this.size = 1.02 * Math.hypot(...half) || 1;
        this.box = [min, max];
    }

    // Directions of the camera in the scene: to the right, up, and towards the eye.
    axes() {
        const [s, c] = [Math.sin(this.azimuth), Math.cos(this.azimuth)];
        const [se, ce] = [Math.sin(this.elevation), Math.cos(this.elevation)];
        return [[c, s, 0], [-se * s, se * c, ce], [ce * s, -ce * c, se]];
    }

    // Matrices of a view with this width over height, and the scale that its depth is taken with.
    matrices(aspect) {
        const [right, up, back] = this.axes();
        const narrow = Math.min(aspect, 1);
        const distance = this.size / (Math.sin(HALF_ANGLE) * narrow);
        const eye = this.centre.map((value, axis) => value + distance * back[axis]);
        const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        const view = [0, 1, 2].flatMap((axis) => [right[axis], up[axis], back[axis], 0])
            .concat([-dot(right, eye), -dot(up, eye), -dot(back, eye), 1]);
        const reach = 6 * Math.max(this.size, ...this.box[0].map((low, axis) => this.box[1][axis] - low));
        const [near, far] = [Math.max(0.02 * distance, distance - reach), distance + reach];
        const f = 1 / Math.tan(HALF_ANGLE);
        const projection = [
            f / aspect, 0, 0, 0, 0, f, 0, 0,
            0, 0, (far + near) / (near - far), -1, 0, 0, (2 * far * near) / (near - far), 0,
        ];
        return { view, projection };
    }

    // Follows the pointer over a canvas.
    attach(canvas) {
        const fingers = new Map();
        canvas.addEventListener("contextmenu", (event) => event.preventDefault());
        canvas.addEventListener("pointerdown", (event) => {
            canvas.setPointerCapture(event.pointerId);
            fingers.set(event.pointerId, event);
        });
        for (const end of ["pointerup", "pointercancel"]) {
            canvas.addEventListener(end, (event) => fingers.delete(event.pointerId));
        }
        canvas.addEventListener("pointermove", (event) => {
            const before = fingers.get(event.pointerId);
            if (!before) return;
            const distance = () => {
                const [a, b] = [...fingers.values()];
                return Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
            };
            const [dx, dy] = [event.clientX - before.clientX, event.clientY - before.clientY];
            const apart = fingers.size === 2 ? distance() : 0;
            fingers.set(event.pointerId, event);
            if (fingers.size === 2) this.zoom(apart / Math.max(distance(), 1));
            else if (event.shiftKey || event.buttons === 2) this.pan(dx, dy, canvas.clientHeight);
            else this.orbit(dx, dy);
        });
        canvas.addEventListener("wheel", (event) => {
            event.preventDefault();
            this.zoom(Math.exp(0.0012 * event.deltaY));
        }, { passive: false });
        canvas.addEventListener("dblclick", () => {
            this.fit(this.box);
            this.moved();
        });
    }

    orbit(dx, dy) {
        this.azimuth -= 0.008 * dx;
        this.elevation = Math.min(Math.max(this.elevation + 0.008 * dy, -1.57), 1.57);
        this.moved();
    }

    pan(dx, dy, height) {
        const [right, up] = this.axes();
        const scale = (2 * this.size) / height;
        this.centre = this.centre.map((value, axis) => value - scale * (dx * right[axis] - dy * up[axis]));
        this.moved();
    }

    zoom(factor) {
        this.size = Math.min(Math.max(this.size * factor, 1e-6), 1e6);
        this.moved();
    }
}
