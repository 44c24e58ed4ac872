// Starts the page: results where it was made for some, else simulations.

import { byId } from "esker/dom.js";
import { showResults } from "esker/results.js";

export async function start() {
    const shows = document.querySelector("meta[name=esker-shows]")?.content ?? "simulations";
    const help = byId("help");
    help.classList.add(shows === "simulations" ? "simulations" : "results");
    byId("open-help").onclick = () => help.showModal();
    if (shows === "simulations") {
        const { simulate } = await import("esker/simulate.js");
        await simulate();
    } else {
        await showResults(shows === "embedded results");
    }
}
