// Plots of quantities over time: a canvas with lines, the band of what is expected, and a choice of the quantity.

import { LINES } from "esker/colours.js";
import { make, short } from "esker/dom.js";

// Round numbers between two values, about `count` of them.
function ticks(low, high, count) {
    const rough = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
    const first = Math.ceil(low / step) * step;
    return Array.from({ length: Math.floor((high - first) / step + 1e-9) + 1 }, (_, i) => Number((first + i * step).toPrecision(12)));
}

// The interval that an expectation allows, or null where it is not about the value itself.
export function bandOf(expectation) {
    const { bounds, take, over, window } = expectation;
    if (over || !["Final", "Mean", "Maximum", "Minimum"].includes(take) || bounds.shown_only) return null;
    const tolerance = bounds.tolerance?.single ?? 0;
    const band = {
        low: bounds.value !== null ? bounds.value - tolerance : (bounds.at_least ?? -Infinity),
        high: bounds.value !== null ? bounds.value + tolerance : (bounds.at_most ?? Infinity),
    };
    return { ...band, from: window?.[0] ?? -Infinity, until: window?.[1] ?? Infinity };
}

export class Plot {
    // Quantities are [{name, unit}]; `bands` has a band for some names.
    constructor(parent, quantities, chosen, bands, changed) {
        this.quantities = new Map(quantities.map((quantity) => [quantity.name, quantity]));
        this.bands = bands;
        this.name = chosen;
        this.lines = [];
        this.canvas = make("canvas");
        this.value = make("span", { className: "value" });
        this.select = make("select", { ariaLabel: "quantity" });
        this.select.append(...quantities.map(({ name }) => make("option", { value: name, textContent: name })));
        this.select.value = chosen;
        this.select.addEventListener("change", () => {
            this.name = this.select.value;
            changed();
        });
        const head = make("div", { className: "head" }, this.select, this.value);
        this.element = make("div", { className: "plot" }, head, this.canvas);
        parent.append(this.element);
    }

    // Lines are [{times, values}]; `cursor` is a time to mark, `end` the time up to which the axis goes.
    draw(lines, { cursor = null, end = 0 } = {}) {
        const { canvas } = this;
        const scale = window.devicePixelRatio || 1;
        const [width, height] = [canvas.clientWidth, canvas.clientHeight];
        Object.assign(canvas, { width: Math.round(width * scale), height: Math.round(height * scale) });
        const pen = canvas.getContext("2d");
        pen.scale(scale, scale);
        const frame = this.axes(lines, width, height, end);
        this.drawAxes(pen, frame);
        lines.forEach((line, i) => this.drawLine(pen, frame, line, LINES[i]));
        if (cursor !== null) this.drawCursor(pen, frame, cursor);
        this.tell(lines, cursor);
    }

    axes(lines, width, height, end) {
        const [times, values] = [[0, end], []];
        for (const line of lines) {
            times.push(line.times.at(-1) ?? 0);
            for (const value of line.values) if (Number.isFinite(value)) values.push(value);
        }
        const band = this.bands.get(this.name);
        if (band) values.push(...[band.low, band.high].filter(Number.isFinite));
        let low = values.reduce((a, b) => Math.min(a, b), Infinity);
        let high = values.reduce((a, b) => Math.max(a, b), -Infinity);
        if (!(low <= high)) [low, high] = [0, 1];
        const room = 0.08 * (high - low) || Math.abs(high) * 0.1 || 1;
        [low, high] = [low >= 0 && low - room < 0 ? 0 : low - room, high + room];
        const last = Math.max(...times) || 1;
        const inner = { left: 52, right: width - 8, top: 6, bottom: height - 20 };
        return {
            inner, low, high, last,
            x: (time) => inner.left + (time / last) * (inner.right - inner.left),
            y: (value) => inner.bottom - ((value - low) / (high - low)) * (inner.bottom - inner.top),
        };
    }

    drawAxes(pen, { inner, low, high, last, x, y }) {
        pen.font = "11px system-ui, 'DejaVu Sans', sans-serif";
        const band = this.bands.get(this.name);
        if (band) {
            const [top, bottom] = [Math.max(y(band.high), inner.top), Math.min(y(band.low), inner.bottom)];
            const [left, right] = [Math.max(x(Math.max(band.from, 0)), inner.left), Math.min(x(band.until), inner.right)];
            pen.fillStyle = "#2f7a3d22";
            if (right > left) pen.fillRect(left, top, right - left, Math.max(bottom - top, 1.5));
        }
        pen.strokeStyle = "#e3e5e8";
        pen.fillStyle = "#6d747f";
        pen.textAlign = "right";
        pen.textBaseline = "middle";
        for (const value of ticks(low, high, 4)) {
            pen.strokeRect(inner.left, y(value), inner.right - inner.left, 0);
            pen.fillText(short(value), inner.left - 5, y(value));
        }
        pen.textBaseline = "top";
        pen.fillText("s", inner.right, inner.bottom + 5);
        pen.textAlign = "center";
        for (const time of ticks(0, last, 5)) {
            // The last number makes room for the unit.
            pen.fillText(short(time), Math.min(x(time), inner.right - 18), inner.bottom + 5);
        }
        pen.strokeStyle = "#b9bec6";
        pen.strokeRect(inner.left, inner.bottom, inner.right - inner.left, 0);
    }

    drawLine(pen, { x, y }, { times, values }, colour) {
        pen.strokeStyle = colour;
        pen.lineWidth = 1.6;
        pen.lineJoin = "round";
        pen.beginPath();
        let isDown = false;
        for (let i = 0; i < times.length; i++) {
            if (!Number.isFinite(values[i])) isDown = false;
            else if (isDown) pen.lineTo(x(times[i]), y(values[i]));
            else {
                pen.moveTo(x(times[i]), y(values[i]));
                isDown = true;
            }
        }
        pen.stroke();
        pen.lineWidth = 1;
    }

    drawCursor(pen, { inner, x }, time) {
        pen.strokeStyle = "#23272e88";
        pen.beginPath();
        pen.moveTo(x(time), inner.top);
        pen.lineTo(x(time), inner.bottom);
        pen.stroke();
    }

    // The values at the cursor, or the last ones.
    tell(lines, cursor) {
        const unit = this.quantities.get(this.name)?.unit ?? "-";
        const at = ({ times, values }) => {
            if (cursor === null) return values.at(-1);
            const next = times.findIndex((time) => time >= cursor - 1e-9);
            return values.at(next);
        };
        const texts = lines.map((line, i) => {
            const value = at(line) ?? NaN;
            return make("span", { textContent: short(value), style: `color: ${LINES[i]}; margin-left: .6em` });
        });
        this.value.replaceChildren(...texts, unit === "-" ? "" : ` ${unit}`);
    }
}
