// Starts the page: results where it was made for some, else simulations.

import { showResults } from "esker/results.js";

export async function start() {
    const shows = document.querySelector("meta[name=esker-shows]")?.content ?? "simulations";
    if (shows === "simulations") {
        const { simulate } = await import("esker/simulate.js");
        await simulate();
    } else {
        await showResults(shows === "embedded results");
    }
}
