// Results of a run: frames with a time slider, and the time series.

import { byId, make, setStatus, short, showMessage } from "esker/dom.js";
import { unpack } from "esker/frame.js";
import { Plot } from "esker/plot.js";
import { Scene } from "esker/view.js";

// A band at all times; a bound that is missing is infinite.
const bandOf = ({ low, high }) => ({ low: low ?? -Infinity, high: high ?? Infinity, from: -Infinity, until: Infinity });

// Results that `esker view` serves.
class Served {
    async index() {
        return (await this.get("results/index.json")).json();
    }

    async frame(i) {
        return (await this.get(`results/frames/${i}`)).arrayBuffer();
    }

    async get(path) {
        const response = await fetch(path);
        if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
        return response;
    }
}

// Results within the page itself.
class Embedded {
    async index() {
        return JSON.parse(byId("results-index").textContent);
    }

    async frame(i) {
        const text = atob(byId(`results-frame-${i}`).textContent);
        return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    }
}

export async function showResults(isEmbedded) {
    const source = isEmbedded ? new Embedded() : new Served();
    try {
        await new Results(source, await source.index()).start();
    } catch (error) {
        setStatus("", true);
        showMessage("The results cannot be shown", String(error.message ?? error));
        throw error;
    }
}

class Results {
    constructor(source, index) {
        Object.assign(this, { source, index, place: 0, isPlaying: false, shown: -1 });
        this.scene = new Scene(1);
        this.frames = new Map();
    }

    async start() {
        const { index } = this;
        byId("title").textContent = index.title;
        document.title = `${index.title} – esker`;
        this.scene.stand(index.camera);
        this.makeTransport();
        this.makePlots();
        await this.show(0);
        this.makePanel();
        document.body.dataset.state = "ready";
    }

    // The frame, read once; the last ones read are kept.
    async frame(i) {
        if (!this.frames.has(i)) {
            this.frames.set(i, unpack(await this.source.frame(i)));
            if (this.frames.size > 60) this.frames.delete(this.frames.keys().next().value);
        }
        return this.frames.get(i);
    }

    // Shows a frame. Boundaries that stand still come with the first frame alone.
    async show(i) {
        this.place = i;
        const frame = await this.frame(i);
        if (this.place !== i) return; // another one was asked for meanwhile
        this.scene.setFrames([frame], this.index.room);
        this.slider.value = i;
        this.time.textContent = `${short(frame.time)} s`;
        setStatus(`frame ${i + 1} of ${this.index.frames.length} · ${frame.count} ${frame.shapes.length > 0 ? "grains" : "spheres"}`);
        this.drawPlots();
        document.body.dataset.frame = i;
    }

    makeTransport() {
        const last = this.index.frames.length - 1;
        this.slider = make("input", { type: "range", min: 0, max: last, value: 0, ariaLabel: "time" });
        this.slider.addEventListener("input", () => this.show(Number(this.slider.value)));
        this.time = make("output");
        this.button = make("button", { className: "main", textContent: "Play", onclick: () => this.toggle() });
        byId("transport").replaceChildren(this.button, this.slider, this.time);
    }

    toggle() {
        this.isPlaying = !this.isPlaying;
        this.button.textContent = this.isPlaying ? "Pause" : "Play";
        if (this.isPlaying) this.play();
    }

    // Shows one frame after the other, 25 a second or as fast as they come.
    async play() {
        const count = this.index.frames.length;
        const loop = (this.loop = {}); // another one takes over where Play is pressed again
        while (this.isPlaying && this.loop === loop) {
            const next = new Promise((resolve) => setTimeout(resolve, 40));
            await this.show((this.place + 1) % count);
            await next;
        }
    }

    makePlots() {
        const { series } = this.index;
        if (!series) return;
        const names = series.columns.map(({ name }) => name);
        const { expectations } = this.index;
        const bands = new Map(expectations.filter(({ band }) => band).map(({ quantity, band }) => [quantity, bandOf(band)]));
        const expected = expectations.map(({ quantity }) => names.find((name) => quantity.split(" ").includes(name)));
        const wanted = [...expected.filter((name) => name !== "grains"), "height_p99", "kinetic_energy", "contacts", ...names];
        const chosen = [...new Set(wanted)].filter((name) => names.includes(name)).slice(0, 3);
        const changed = () => this.drawPlots();
        this.plots = chosen.map((name) => new Plot(byId("plots"), series.columns, name, bands, changed));
    }

    drawPlots() {
        const { series, frames } = this.index;
        for (const plot of this.plots ?? []) {
            const { values } = series.columns.find(({ name }) => name === plot.name);
            const line = { times: series.times, values: values.map((value) => value ?? NaN) };
            plot.draw([line], { cursor: frames[this.place], end: frames.at(-1) });
        }
    }

    makePanel() {
        const { index } = this;
        const facts = [index.engine, index.note].filter(Boolean).map((textContent) => make("p", { className: "note", textContent }));
        const verdicts = index.expectations.map(({ text, verdict }) =>
            make("p", { className: `note ${verdict}`, textContent: `${text}: ${verdict.replaceAll("_", " ")}` }));
        byId("panel").replaceChildren(
            ...this.scene.panel(() => this.scene.colour()),
            ...(verdicts.length ? [make("h2", { textContent: "Expected" }), ...verdicts] : []),
            ...(facts.length ? [make("h2", { textContent: "Run" }), ...facts] : []),
        );
    }
}
