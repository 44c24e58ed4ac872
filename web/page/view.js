// The scene: one view, or two side by side that turn together, with what they are coloured by.

import { Camera } from "esker/camera.js";
import { gradient } from "esker/colours.js";
import { byId, choice, make, short } from "esker/dom.js";
import { boxOf, colourings, label, rangeOf, valuesOf } from "esker/frame.js";
import { Spheres } from "esker/spheres.js";

class View {
    constructor(camera) {
        this.canvas = make("canvas", { ariaLabel: "the scene: drag to turn, wheel to zoom, right drag to move" });
        this.caption = make("div", { className: "caption" });
        this.element = make("div", { className: "view" }, this.canvas, this.caption);
        this.spheres = new Spheres(this.canvas);
        this.frame = null;
        camera.attach(this.canvas);
    }

    setFrame(frame) {
        this.frame = frame;
        this.spheres.setFrame(frame);
    }
}

export class Scene {
    constructor(count) {
        this.camera = new Camera();
        this.camera.moved = () => this.draw();
        this.views = Array.from({ length: count }, () => new View(this.camera));
        this.look = { colourBy: "speed", showForces: false, showWalls: true, isFixed: false };
        this.range = null;
        this.makeLegend();
        byId("views").replaceChildren(...this.views.map((view) => view.element));
        this.views.at(-1).element.append(this.legend);
        this.observer = new ResizeObserver(() => this.draw());
        this.views.forEach((view) => this.observer.observe(view.canvas));
    }

    makeLegend() {
        this.legendName = make("div");
        this.numbers = make("div", { className: "numbers" });
        const colours = make("div", { className: "colours", style: `background: ${gradient()}` });
        this.legend = make("div", { className: "legend" }, this.legendName, make("div", { className: "bar" }, this.numbers, colours));
    }

    // Takes the look of a scene before, so that choices stay.
    takeLook(other) {
        if (!other) return;
        this.look = { ...other.look };
    }

    // Has the camera stand at an azimuth and an elevation [degrees].
    stand([azimuth, elevation]) {
        const radians = Math.PI / 180;
        Object.assign(this.camera, { azimuth: radians * azimuth, elevation: radians * elevation });
    }

    // Shows frames, one per view; the first ones set the camera.
    setFrames(frames, box) {
        frames.forEach((frame, i) => this.views[i].setFrame(frame));
        if (!this.camera.box) this.camera.fit(box ?? boxOf(frames[0]));
        this.colour();
    }

    setCaption(i, title, text) {
        this.views[i].caption.replaceChildren(make("b", { textContent: title }), `\n${text}`);
    }

    // Gives the grains their values, and the colours their range: of all views together.
    colour() {
        const { look, views } = this;
        const there = views.filter((view) => view.frame);
        if (there.length === 0) return;
        const known = colourings(there[0].frame);
        if (!known.includes(look.colourBy)) look.colourBy = known.includes("speed") ? "speed" : "height";
        const ranges = there.map(({ frame, spheres }) => {
            const values = valuesOf(frame, look.colourBy);
            spheres.setValues(values);
            return look.showForces ? [0, rangeOf(frame.forces.sizes)[1]] : rangeOf(values);
        });
        const range = [Math.min(...ranges.map(([low]) => low)), Math.max(...ranges.map(([, high]) => high))];
        this.range = look.isFixed && this.range ? this.range : range;
        this.draw();
    }

    draw() {
        if (!this.range) return;
        const { look } = this;
        this.views.forEach((view) => view.spheres.draw(this.camera, { range: this.range, ...look }));
        this.legendName.textContent = look.showForces ? "normal force [N]" : label(look.colourBy);
        const shares = [1, 0.75, 0.5, 0.25, 0];
        const texts = shares.map((share) => short(this.range[0] + share * (this.range[1] - this.range[0])));
        this.numbers.replaceChildren(...texts.map((textContent) => make("span", { textContent })));
    }

    close() {
        this.observer.disconnect();
        this.views.forEach((view) => view.spheres.gl.getExtension("WEBGL_lose_context")?.loseContext());
    }

    // Choices of what is shown; `forces` is called when forces come to be needed.
    panel(forces) {
        const { look } = this;
        const box = (text, key, changed) => {
            const input = make("input", { type: "checkbox", checked: look[key] });
            input.addEventListener("change", () => {
                look[key] = input.checked;
                changed();
            });
            return make("label", { style: "display: block" }, input, ` ${text}`);
        };
        const known = this.views[0].frame ? colourings(this.views[0].frame) : ["speed"];
        const options = known.map((name) => [name, label(name)]);
        return [
            make("h2", { textContent: "View" }),
            choice("Colour by", options, look.colourBy, (name) => {
                look.colourBy = name;
                this.range = null;
                this.colour();
            }),
            box("contact forces", "showForces", () => {
                this.range = null;
                forces();
            }),
            box("walls", "showWalls", () => this.draw()),
            box("keep the range of colours", "isFixed", () => this.colour()),
            make("p", { className: "note", textContent: "Drag to turn, wheel to zoom, right drag to move, double click to see everything." }),
        ];
    }
}
