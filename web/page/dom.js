// Elements, and numbers as people read them.

// An element with properties and children: make("button", { textContent: "Run", onclick }, icon).
export function make(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
}

export const byId = (id) => document.getElementById(id);

// A number in three or four digits.
export function short(value) {
    if (!Number.isFinite(value)) return "–";
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e5 || size < 1e-3) return value.toExponential(2).replace("e+", "e");
    return String(Number(value.toPrecision(4)));
}

// A row with a name, a slider and its value. `show` makes text of a value; `change` is called while it is dragged.
export function slider(name, { min, max, step, value, show = short }, change) {
    const output = make("output", { textContent: show(value) });
    const input = make("input", { type: "range", min, max, step, value, ariaLabel: name });
    input.addEventListener("input", () => {
        output.textContent = show(Number(input.value));
        change(Number(input.value));
    });
    const row = make("label", { className: "row" }, make("span", { textContent: name }), input, output);
    row.set = (next) => {
        input.value = next;
        output.textContent = show(next);
    };
    row.input = input;
    return row;
}

// A row with a name and a choice of [value, text].
export function choice(name, options, value, change) {
    const select = make("select", { ariaLabel: name });
    select.append(...options.map(([key, text]) => make("option", { value: key, textContent: text })));
    select.value = value;
    select.addEventListener("change", () => change(select.value));
    const row = make("label", { className: "row wide" }, make("span", { textContent: name }), select);
    row.select = select;
    return row;
}

// Shows a message in the place of the views.
export function showMessage(title, ...paragraphs) {
    const body = paragraphs.map((part) => (typeof part === "string" ? make("p", { textContent: part }) : part));
    byId("views").replaceChildren(make("div", { className: "message" }, make("h2", { textContent: title }), ...body));
}

export function setStatus(text, isBad = false) {
    const status = byId("status");
    status.textContent = text;
    status.classList.toggle("bad", isBad);
}
