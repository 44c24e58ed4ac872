// Simulations in the browser, on WebGPU: an example or a file of one's own, alone or twice side by side.

import { byId, choice, make, setStatus, short, showMessage, slider } from "esker/dom.js";
import { unpack } from "esker/frame.js";
import { Plot, bandOf } from "esker/plot.js";
import { Scene } from "esker/view.js";

// Residual of the normal contact law of the last step, as a quantity like the others.
const RESIDUAL = { name: "residual", unit: "m/s" };
// Wall time that the steps between two pictures may take [ms], and their number at most: browsers end work that takes long.
const BUDGET = [12, 40];
const MOST_STEPS = 32;
// What a contact starts from.
const STARTS = [["file", "as in the file"], ["cold", "cold"], ["history", "history"], ["adaptive", "adaptive"]];
const LARGEST_FILE = 1 << 20;

export async function simulate() {
    document.body.dataset.state = "opening";
    try {
        const engine = await loadEngine();
        const gpu = await openGpu(engine);
        if (gpu) await new Simulations(gpu).open();
    } catch (error) {
        fail(error);
    }
}

// The WebAssembly of the engine, beside the page.
async function loadEngine() {
    const engine = await import(new URL("esker_web.js", document.baseURI));
    await engine.default({ module_or_path: new URL("esker_web_bg.wasm", document.baseURI) });
    return engine;
}

// The device, or null with a message of what to do.
async function openGpu(engine) {
    const adapter = await navigator.gpu?.requestAdapter();
    if (adapter) return engine.Gpu.open();
    const reason = navigator.gpu
        ? "This browser has WebGPU, but offers no graphics card for it."
        : "This browser has no WebGPU.";
    document.body.dataset.state = "no-webgpu";
    setStatus("no WebGPU", true);
    byId("panel").hidden = true;
    showMessage(
        "Simulating needs WebGPU",
        reason,
        make("p", {}, "WebGPU is in Chrome and Edge from version 113, Safari from 26, and Firefox from 141 on Windows. "
            + "The page has to come from ",
            make("code", { textContent: "https:" }), " or from ", make("code", { textContent: "localhost" }), "."),
        make("p", {}, "On Linux, Chrome may need ", make("code", { textContent: "chrome://flags/#enable-unsafe-webgpu" }),
            ". Without a graphics card the program does the same on the processor: ",
            make("code", { textContent: "esker run FILE" }), ", and ", make("code", { textContent: "esker view DIR" }),
            " shows the results in any browser with WebGL 2."),
    );
    return null;
}

function fail(error) {
    document.body.dataset.state = "failed";
    setStatus("failed", true);
    showMessage("This went wrong", make("pre", { textContent: String(error.message ?? error) }));
    console.error(error);
}

class Simulations {
    constructor(gpu) {
        this.gpu = gpu;
        this.runs = [];
        this.isPlaying = false;
        this.stepsAtOnce = 1;
        // One call of the engine has to be over before the next begins.
        this.queue = Promise.resolve();
        this.asked = { start: "file", other: "none", iterations: null, timeStep: null, friction: 1 };
    }

    // The examples, and the first of them or the one in the address (#drum).
    async open() {
        this.examples = await (await fetch("examples/examples.json")).json();
        const wanted = decodeURIComponent(location.hash.slice(1));
        await this.choose(this.examples.find(({ file }) => file === `${wanted}.toml`) ?? this.examples[0]);
    }

    async choose(example) {
        const response = await fetch(`examples/${example.file}`);
        if (!response.ok) throw new Error(`examples/${example.file}: ${response.statusText}`);
        this.example = example;
        history.replaceState(null, "", `#${example.file.replace(/\.toml$/, "")}`);
        await this.load(example.file.replace(/\.toml$/, ""), await response.text(), example.changes ?? []);
    }

    // Takes a scenario of the user's own.
    async drop(file) {
        if (file.size > LARGEST_FILE) throw new Error(`${file.name} has ${file.size} bytes: a scenario has at most ${LARGEST_FILE}`);
        this.example = null;
        await this.load(file.name.replace(/\.toml$/, ""), await file.text(), []);
    }

    async load(name, text, changes) {
        this.source = { name, text, changes };
        Object.assign(this.asked, { iterations: null, timeStep: null, friction: 1 });
        await this.restart();
    }

    // Does something when the call before is over; what goes wrong is shown.
    then(action) {
        this.queue = this.queue.then(action).catch((error) => {
            this.pause();
            this.sceneOf = null; // the message stands in its place
            byId("transport").replaceChildren();
            fail(error);
        });
        return this.queue;
    }

    restart() {
        this.pause();
        return this.then(() => this.begin());
    }

    // Starts the scenario anew with what was asked for, on one or two starts.
    async begin() {
        document.body.dataset.state = "starting";
        setStatus("compiling the kernels for this scene …");
        this.runs.forEach(({ run }) => run.free());
        this.runs = [];
        const starts = this.asked.other === "none" ? [this.asked.start] : [this.asked.start, this.asked.other];
        for (const start of starts) {
            const run = await this.gpu.start(this.source.name, this.source.text, this.changes(start));
            this.runs.push({ run, about: JSON.parse(run.describe()) });
        }
        const { about } = this.runs[0];
        if (this.asked.friction !== 1) for (const { run } of this.runs) await run.scaleFriction(this.asked.friction);
        this.asked.iterations ??= about.iterations;
        this.end = about.duration;
        this.makeScene();
        this.makePlots(about);
        await this.show();
        this.makePanel(about);
        this.makeTransport();
        document.body.dataset.state = "ready";
    }

    // Changes of the scenario for a run.
    changes(start) {
        const { iterations, timeStep } = this.asked;
        const changes = [...this.source.changes];
        if (start !== "file") changes.push(`solver.warm_start=${start}`);
        if (iterations !== null) changes.push(`solver.iterations=${iterations}`);
        if (timeStep !== null) changes.push(`solver.time_step=${timeStep}`);
        return changes;
    }

    makeScene() {
        const before = this.scene;
        if (before && before.views.length === this.runs.length && this.sceneOf === this.source) return;
        this.scene = new Scene(this.runs.length);
        this.scene.takeLook(before);
        this.scene.stand(this.runs[0].about.camera);
        before?.close();
        this.sceneOf = this.source;
    }

    makePlots({ quantities, expectations }) {
        const bands = new Map();
        for (const expectation of expectations) {
            const band = bandOf(expectation);
            if (band) bands.set(expectation.quantity, band);
        }
        const all = [...quantities, RESIDUAL];
        const names = all.map(({ name }) => name);
        const kept = this.plots?.map(({ name }) => name) ?? [];
        const wanted = this.plotsOf === this.source ? kept : [...bands].filter(([, { low, high }]) => high > low).map(([name]) => name).slice(0, 2);
        const chosen = [...new Set([...wanted, "height", "residual", "kinetic_energy"])].filter((name) => names.includes(name)).slice(0, 3);
        byId("plots").replaceChildren();
        this.plotsOf = this.source;
        this.plots = chosen.map((name) => new Plot(byId("plots"), all, name, bands, () => this.then(() => this.show())));
        this.runs.forEach((entry) => (entry.lines = new Map()));
    }

    // Steps all runs by as much, shows them, and so on.
    async play() {
        const loop = (this.loop = {}); // another one takes over where Run is pressed again
        while (this.isPlaying && this.loop === loop) {
            await this.then(() => this.advance(this.stepsAtOnce));
            await new Promise(requestAnimationFrame);
        }
    }

    async advance(steps) {
        const begun = performance.now();
        for (const { run } of this.runs) await run.step(steps);
        const taken = performance.now() - begun;
        if (taken < BUDGET[0]) this.stepsAtOnce = Math.min(2 * this.stepsAtOnce, MOST_STEPS);
        if (taken > BUDGET[1]) this.stepsAtOnce = Math.max(Math.floor(this.stepsAtOnce / 2), 1);
        this.rate = (1000 * steps) / taken;
        await this.show();
        if (this.isPlaying && this.end !== null && this.runs[0].run.time() >= this.end) {
            this.pause();
            this.end = null; // who goes on, goes on
        }
    }

    async show() {
        const frames = [];
        for (const entry of this.runs) {
            frames.push(unpack(await entry.run.frame(this.scene.look.showForces)));
            await this.note(entry);
        }
        this.scene.setFrames(frames);
        this.runs.forEach((entry, i) => this.scene.setCaption(i, this.titleOf(entry), this.captionOf(entry)));
        const end = this.runs[0].about.duration;
        for (const plot of this.plots) {
            plot.draw(this.runs.map(({ lines }) => lines.get(plot.name) ?? { times: [], values: [] }), { end });
        }
        this.tell();
    }

    // Notes the quantities that are plotted.
    async note(entry) {
        const names = this.plots.map(({ name }) => name);
        const known = names.filter((name) => name !== RESIDUAL.name);
        const values = await entry.run.quantities(known);
        entry.report = JSON.parse(entry.run.report());
        const time = entry.run.time();
        for (const name of new Set(names)) {
            if (!entry.lines.has(name)) entry.lines.set(name, { times: [], values: [] });
            const line = entry.lines.get(name);
            if (line.times.at(-1) === time) continue;
            line.times.push(time);
            line.values.push(name === RESIDUAL.name ? this.residual(entry) : values[known.indexOf(name)]);
        }
    }

    // There is no residual before the first step.
    residual({ run, report }) {
        return run.time() > 0 ? report.residuals.normal.mean : NaN;
    }

    titleOf({ about }) {
        return this.runs.length > 1 ? `${about.warm_start} start` : `${about.warm_start} start, ${this.asked.iterations} iterations`;
    }

    captionOf({ report, run }) {
        const residual = run.time() > 0 ? `residual ${short(report.residuals.normal.mean)} m/s` : "";
        return `${report.contacts} contacts\n${residual}`;
    }

    tell() {
        const time = this.runs[0].run.time();
        byId("title").textContent = this.runs[0].about.title;
        const rate = this.rate ? ` · ${short(this.rate)} steps/s` : "";
        setStatus(`${time.toFixed(3)} s of ${short(this.runs[0].about.duration)} s${rate}`);
        document.body.dataset.time = time;
    }

    makeTransport() {
        this.button = make("button", { className: "main", textContent: "Run", onclick: () => this.toggle() });
        const step = make("button", { textContent: "Step", onclick: () => { this.pause(); this.then(() => this.advance(1)); } });
        const again = make("button", { textContent: "Start again", onclick: () => this.restart() });
        byId("transport").replaceChildren(this.button, step, again);
    }

    toggle() {
        if (this.isPlaying) return this.pause();
        this.isPlaying = true;
        this.button.textContent = "Pause";
        return this.play();
    }

    pause() {
        this.isPlaying = false;
        if (this.button) this.button.textContent = "Run";
    }

    makePanel(about) {
        byId("panel").replaceChildren(
            make("h2", { textContent: "Scenario" }), ...this.examples.map((example) => this.exampleButton(example)), this.dropZone(),
            make("h2", { textContent: "Solver" }), ...this.solverControls(about),
            ...this.scene.panel(() => this.then(() => this.show())),
            make("p", { className: "note", textContent: `Runs on ${this.gpu.name() || "WebGPU"}, in single precision. Nothing leaves this computer.` }),
        );
    }

    exampleButton(example) {
        const name = make("span", { textContent: example.title });
        const button = make("button", { className: "example", title: example.note, onclick: () => this.choose(example).catch(fail) },
            name, make("small", { textContent: example.note }));
        button.classList.toggle("chosen", example === this.example);
        return button;
    }

    dropZone() {
        const input = make("input", { type: "file", accept: ".toml", hidden: true });
        const take = (file) => file && this.drop(file).catch(fail);
        input.addEventListener("change", () => take(input.files[0]));
        const text = this.example ? "Drop a scenario file here, or choose one" : `${this.source.name}.toml – drop another one`;
        const zone = make("label", { className: "drop", textContent: text });
        zone.append(input);
        zone.addEventListener("dragover", (event) => {
            event.preventDefault();
            zone.classList.add("over");
        });
        zone.addEventListener("dragleave", () => zone.classList.remove("over"));
        zone.addEventListener("drop", (event) => {
            event.preventDefault();
            take(event.dataTransfer.files[0]);
        });
        return zone;
    }

    solverControls(about) {
        const { asked } = this;
        const iterations = slider("Iterations", { min: 1, max: 100, step: 1, value: asked.iterations, show: String }, (value) => {
            asked.iterations = value;
            this.then(() => this.runs.forEach(({ run }) => run.setIterations(value)));
        });
        const friction = slider("Friction", { min: 0, max: 2, step: 0.05, value: asked.friction, show: (value) => `× ${short(value)}` }, () => {});
        friction.input.addEventListener("change", () => {
            asked.friction = Number(friction.input.value);
            this.then(async () => {
                for (const { run } of this.runs) await run.scaleFriction(asked.friction);
            });
        });
        const timeStep = slider("Time step", { min: -1, max: 1, step: 0.1, value: Math.log10(about.time_step / this.fileStepOf(about)),
            show: (power) => `${short(1000 * this.fileStepOf(about) * 10 ** power)} ms` }, () => {});
        timeStep.input.addEventListener("change", () => {
            asked.timeStep = Number((this.fileStepOf(about) * 10 ** Number(timeStep.input.value)).toPrecision(3));
            this.restart();
        });
        const again = (key) => (value) => {
            asked[key] = value;
            this.restart();
        };
        return [
            iterations, friction, timeStep,
            choice("Start from", STARTS, asked.start, again("start")),
            choice("Beside it", [["none", "nothing"], ...STARTS.slice(1)], asked.other, again("other")),
            make("p", { className: "note", textContent: "Iterations and friction change at once; the time step and the starts begin anew." }),
        ];
    }

    // The time step of the scenario as it is in the file.
    fileStepOf(about) {
        if (this.stepOf !== this.source) [this.stepOf, this.fileStep] = [this.source, about.time_step];
        return this.fileStep;
    }
}
