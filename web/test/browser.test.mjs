// The page in a real browser without a window: Chromium, whose WebGPU runs on SwiftShader, on the processor.
//
//     node --test browser.test.mjs       (after web/build.sh and cargo build)
//
// What the browser computes is compared with the program on the same driver, where Chromium brings it for Vulkan.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { dirname, extname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const ROOT = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const ESKER = process.env.ESKER ?? join(ROOT, "target", "debug", "esker");
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const SWIFTSHADER = "/usr/lib/chromium/vk_swiftshader_icd.json";
// How far the browser may be from the program [-, degrees]. On one driver the kernels come to the same bits; on two, single precision rounds
// differently: 25 diameters of a column with 6e-8 each, which contacts correct, and 0.3 degrees of a bed that is carried up, as
// measured between SwiftShader, lavapipe and the CPU engine.
const [HEIGHT, ANGLE] = existsSync(SWIFTSHADER) ? [1e-6, 0.1] : [1e-5, 1];
const QUIET = ["--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-proxy-server"];
const WEBGPU = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

const folder = mkdtempSync(join(tmpdir(), "esker-browser-"));
const closers = [];
let site;

// Serves web/dist as any static server would.
async function serveDist() {
    const types = { ".js": "text/javascript", ".wasm": "application/wasm", ".html": "text/html", ".css": "text/css", ".json": "application/json" };
    const server = createServer((request, response) => {
        const path = new URL(request.url, "http://127.0.0.1").pathname;
        const file = join(ROOT, "web", "dist", path === "/" ? "index.html" : path);
        if (!existsSync(file)) return response.writeHead(404).end();
        response.setHeader("Content-Type", types[extname(file)] ?? "text/plain");
        response.end(readFileSync(file));
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    closers.push(() => server.close());
    return `http://127.0.0.1:${server.address().port}/`;
}

// A page whose requests and faults are noted.
async function open(flags) {
    const browser = await chromium.launch({ executablePath: CHROMIUM, headless: false, args: [...QUIET, ...flags] });
    closers.push(() => browser.close());
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.requests = [];
    page.faults = [];
    page.on("request", (request) => page.requests.push(request.url()));
    page.on("pageerror", (error) => page.faults.push(String(error)));
    return page;
}

const strangers = (urls) => urls.filter((url) => !/^(http:\/\/127\.0\.0\.1:|data:|file:|blob:)/.test(url));

function assertQuiet(page) {
    assert.deepEqual(strangers(page.requests), [], "requests that leave this machine");
    assert.deepEqual(page.faults, [], "faults of the page");
}

const state = (page, word) => page.waitForSelector(`body[data-state="${word}"]`, { timeout: 120_000 });

// Steps a scenario of web/dist in the browser to a time, and gives quantities. The page itself does the same with pictures between.
function simulate(page, name, changes, time, names) {
    return page.evaluate(async ([name, changes, time, names]) => {
        const engine = await import(new URL("esker_web.js", document.baseURI));
        await engine.default({ module_or_path: new URL("esker_web_bg.wasm", document.baseURI) });
        globalThis.gpu ??= await engine.Gpu.open();
        const text = await (await fetch(`examples/${name}.toml`)).text();
        const run = await globalThis.gpu.start(name, text, changes);
        while (run.stepsUntil(time) > 0) await run.step(Math.min(run.stepsUntil(time), 8));
        const values = await run.quantities(names);
        return Object.fromEntries(names.map((name, i) => [name, values[i]]));
    }, [name, changes, time, names]);
}

// Runs a scenario by the program, on the driver that the browser uses. Returns the folder of its results.
function runByProgram(name, ...others) {
    const out = join(folder, name);
    const env = { ...process.env, ...(existsSync(SWIFTSHADER) ? { VK_ICD_FILENAMES: SWIFTSHADER } : {}) };
    try {
        execFileSync(ESKER, ["run", join(ROOT, "scenarios", `${name}.toml`), "--out", out, "--quiet", ...others], { env, stdio: "pipe" });
    } catch (error) {
        // 3: an expectation of the whole run, which this is not.
        if (error.status !== 3) throw new Error(`esker run: ${error.stderr}`);
    }
    return out;
}

// The quantities of a scenario at a time, by the program.
function native(name, time) {
    const out = runByProgram(name, "--device", "software", "--until", String(time));
    return JSON.parse(readFileSync(join(out, "summary.json"))).observables;
}

// Share of the pixels of the scene that are of a strong colour, as grains in viridis are and walls are not.
async function vividShare(page) {
    const shot = await page.locator(".view canvas").first().screenshot({ style: ".legend, .caption { visibility: hidden }" });
    return page.evaluate(async (base64) => {
        const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${base64}`)).blob());
        const canvas = new OffscreenCanvas(image.width, image.height);
        const pen = canvas.getContext("2d");
        pen.drawImage(image, 0, 0);
        const { data } = pen.getImageData(0, 0, image.width, image.height);
        let vivid = 0;
        for (let i = 0; i < data.length; i += 4) {
            const pixel = [data[i], data[i + 1], data[i + 2]];
            if (Math.max(...pixel) - Math.min(...pixel) > 40) vivid++;
        }
        return vivid / (image.width * image.height);
    }, shot.toString("base64"));
}

// What the help says, opened and closed again.
async function help(page) {
    await page.click("#open-help");
    const text = await page.locator("#help").innerText();
    await page.click("#help button");
    assert.ok(!(await page.locator("#help").isVisible()), "the help is closed");
    return text;
}

before(async () => {
    for (const [file, what] of [[join(ROOT, "web", "dist", "esker_web.js"), "run web/build.sh"], [ESKER, "run cargo build"], [CHROMIUM, "install chromium"]]) {
        assert.ok(existsSync(file), `${file} is missing: ${what}`);
    }
    site = await serveDist();
});

after(async () => {
    for (const close of closers.reverse()) await close();
    rmSync(folder, { recursive: true, force: true });
});

test("the page simulates what the program simulates", { timeout: 280_000 }, async (t) => {
    const page = await open(WEBGPU);
    await page.goto(site);
    await state(page, "ready");

    await t.test("its help is about simulations, and names what the panel names", async () => {
        const [text, panel] = [await help(page), await page.locator("main").innerText()];
        assert.ok(!text.includes("Results of a run"));
        for (const word of ["Iterations", "Friction", "Time step", "Beside it", "Run", "Step", "Start again"]) {
            assert.ok(text.includes(word) && panel.includes(word), `${word} is in the help and in the page`);
        }
    });

    await t.test("its buttons step the column and pause it", async () => {
        await page.click('#transport button:text-is("Step")');
        await page.waitForFunction(() => Number(document.body.dataset.time) > 0, null, { timeout: 30_000 });
        assert.equal(Number(await page.evaluate(() => document.body.dataset.time)), 0.005, "one time step");
        await page.click("#transport button.main");
        await page.waitForFunction(() => Number(document.body.dataset.time) > 0.05, null, { timeout: 60_000 });
        await page.click("#transport button.main");
        const vivid = await vividShare(page);
        // 25 discs of 20 pixels in 1020 x 570.
        assert.ok(vivid > 0.005, `a column of 25 balls is seen, found a share of ${vivid}`);
    });

    await t.test("the column comes to the height of the program on the same driver", async () => {
        const there = native("column", 0.5);
        const here = await simulate(page, "column", [], 0.5, ["height"]);
        const error = (value) => Math.abs(value - there.height) / there.height;
        t.diagnostic(`height ${here.height} m, the program ${there.height} m`);
        assert.ok(error(here.height) < HEIGHT, `height ${here.height} m, the program has ${there.height} m`);
        const few = await simulate(page, "column", ["solver.iterations=3"], 0.5, ["height"]);
        assert.ok(error(few.height) > 1e-3, "three iterations do not carry a column: the comparison can fail");
    });

    await t.test("the drum comes to the angle of the program on the same driver", async () => {
        const there = native("small_drum", 0.4);
        const here = await simulate(page, "small_drum", [], 0.4, ["dynamic_angle_deg", "grains"]);
        const angle = here.dynamic_angle_deg;
        t.diagnostic(`angle ${angle} degrees, the program ${there.dynamic_angle_deg}`);
        assert.ok(Math.abs(angle - there.dynamic_angle_deg) < ANGLE, `${angle} degrees, the program has ${there.dynamic_angle_deg}`);
        assert.ok(Math.abs(angle) > 20, `the drum has turned the bed: ${angle} degrees`);
        assert.equal(here.grains, 600);
    });

    await t.test("cold and adaptive starts stand side by side", async () => {
        await page.selectOption("select[aria-label='Start from']", "cold");
        await page.selectOption("select[aria-label='Beside it']", "adaptive");
        await page.waitForFunction(() => document.querySelectorAll(".view").length === 2 && document.body.dataset.state === "ready");
        await page.fill("input[aria-label=Iterations]", "10");
        await page.click("#transport button.main");
        await page.waitForFunction(() => Number(document.body.dataset.time) > 0.3, null, { timeout: 60_000 });
        await page.click("#transport button.main");
        const residuals = (await page.locator(".caption").allTextContents()).map((text) => Number(text.match(/residual (\S+) m/)[1]));
        const [cold, adaptive] = residuals;
        assert.ok(cold > 2 * adaptive, `with 10 iterations residuals are ${cold} m/s cold and ${adaptive} m/s adaptive`);
    });

    await t.test("a scenario with a mistake is refused with its place", async () => {
        await page.setInputFiles("input[type=file]", { name: "wrong.toml", mimeType: "text/plain", buffer: Buffer.from("duration = \"long\"\n") });
        await state(page, "failed");
        assert.match(await page.textContent(".message pre"), /wrong.*1:12|duration/s);
    });

    await t.test("a scenario that reads another file is refused with its name, and an example runs after it", async () => {
        await page.setInputFiles("input[type=file]", join(ROOT, "scenarios", "mill.toml"));
        await page.waitForFunction(() => /mill\.stl.*reads no other files/s.test(document.querySelector(".message pre")?.textContent ?? ""));
        await page.click(".example:has-text('Column')");
        await state(page, "ready");
        assert.equal(await page.locator(".view canvas").count(), 2, "the views are back");
    });
    assertQuiet(page);
});

test("without WebGPU the page says what to do", async () => {
    const page = await open(["--disable-features=WebGPU,WebGPUService"]);
    await page.addInitScript(() => Object.defineProperty(Navigator.prototype, "gpu", { get: () => undefined }));
    await page.goto(site);
    await state(page, "no-webgpu");
    assert.match(await page.textContent(".message"), /Simulating needs WebGPU.*Chrome and Edge.*esker run FILE/s);
    assertQuiet(page);
});

test("results show without WebGPU, in one file and served", { timeout: 120_000 }, async (t) => {
    const results = join(folder, "small_drum");
    assert.ok(existsSync(results), "the drum has run before");
    const page = await open([]);

    await t.test("a file of results shows its grains", async () => {
        const file = join(folder, "results.html");
        const said = execFileSync(ESKER, ["view", results, "--export", file], { encoding: "utf8" });
        assert.match(said, /results\.html: 5 frames, [\d.]+ [kM]B/);
        await page.goto(pathToFileURL(file).href);
        await state(page, "ready");
        await page.fill("input[aria-label=time]", "4");
        await page.waitForSelector('body[data-frame="4"]');
        const vivid = await vividShare(page);
        assert.ok(vivid > 0.05, `600 grains fill a part of the picture, found a share of ${vivid}`);
        assert.match(await help(page), /^(?!.*Beside it).*Results of a run.*Play/s);
    });

    await t.test("a file of polyhedra shows them by their faces", async () => {
        const file = join(folder, "cubes.html");
        const changes = ["duration=0.1", "output.every=0.1", "grains.0.packing.count=40", "grains.0.packing.region.max=[0.05, 0.05, 0.1]"];
        const cubes = runByProgram("packed_solids", "--device", "cpu", ...changes.flatMap((change) => ["--set", change]));
        execFileSync(ESKER, ["view", cubes, "--export", file]);
        await page.goto(pathToFileURL(file).href);
        await state(page, "ready");
        await page.fill("input[aria-label=time]", "1");
        await page.waitForSelector('body[data-frame="1"]');
        const vivid = await vividShare(page);
        assert.ok(vivid > 0.02, `40 cubes fill a part of the picture, found a share of ${vivid}`);
        assert.match(await page.textContent("header"), /40 grains/);
        await page.goto(pathToFileURL(join(folder, "results.html")).href);
        await state(page, "ready");
    });

    await t.test("an emptied file of results shows none: the look at the picture can fail", async () => {
        await page.evaluate(() => {
            // What a frame without grains is: a header, and no arrays.
            const header = JSON.stringify({ time: 0, grains: 0, fields: [], forces: 0, triangles: 0, edges: 0, polyhedra: 0, shapes: [] }).padEnd(128);
            const bytes = new Uint8Array(132);
            new DataView(bytes.buffer).setUint32(0, 128, true);
            bytes.set(new TextEncoder().encode(header), 4);
            for (const frame of document.querySelectorAll("[id^=results-frame-]")) frame.textContent = btoa(String.fromCharCode(...bytes));
        });
        await page.fill("input[aria-label=time]", "2");
        await page.waitForSelector('body[data-frame="2"]');
        const vivid = await vividShare(page);
        assert.ok(vivid < 0.001, `nothing vivid in an empty scene, found a share of ${vivid}`);
    });

    await t.test("esker view serves them on this machine alone", async () => {
        const server = spawn(ESKER, ["view", results, "--port", "0"]);
        closers.push(() => server.kill());
        const url = await new Promise((resolve, reject) => {
            server.stdout.on("data", (text) => resolve(String(text).match(/http:\/\/127\.0\.0\.1:\d+\//)[0]));
            server.on("exit", (code) => reject(new Error(`esker view ended with ${code}`)));
        });
        await page.goto(url);
        await state(page, "ready");
        await page.fill("input[aria-label=time]", "4");
        await page.waitForSelector('body[data-frame="4"]');
        const vivid = await vividShare(page);
        assert.ok(vivid > 0.05, `600 grains fill a part of the picture, found a share of ${vivid}`);
        assert.equal((await page.request.get(`${url}results/frames/5`)).status(), 404, "there are five frames");
        assert.equal((await page.request.get(url, { headers: { Host: "elsewhere.org" } })).status(), 403, "for this machine alone");
    });
    assertQuiet(page);
});

test("a request that leaves this machine would be noticed", () => {
    assert.deepEqual(strangers(["http://127.0.0.1:80/", "https://example.org/x.js"]), ["https://example.org/x.js"]);
});
