// The page without a server: its own worker simulates. Of several scenarios, the address names the one that is shown.
(() => {
  "use strict";
  const place = (id) => document.getElementById(id);
  const content = JSON.parse(place("content").textContent);
  const form = place("fields");
  const WIDE = 720;
  const NARROW = 350;
  const narrow = matchMedia("(max-width: 640px)");

  // --- the worker ---

  const worker = new Worker(URL.createObjectURL(new Blob([place("worker").textContent], { type: "text/javascript" })));
  const waiting = [];
  const answer = (message) => new Promise((resolve, reject) => {
    waiting.push([resolve, reject]);
    worker.postMessage(message);
  });
  worker.addEventListener("message", ({ data }) => {
    const [resolve, reject] = waiting.shift();
    if (data.failed) reject(new Error(data.failed));
    else resolve(data);
  });
  worker.addEventListener("error", (event) => {
    event.preventDefault();
    waiting.splice(0).forEach(([, reject]) => reject(new Error(`The simulator stopped (${event.message}). Load the page again.`)));
  });
  const bytes = Uint8Array.from(atob(place("simulator").textContent), (each) => each.charCodeAt(0));
  const loaded = answer({ simulator: bytes.buffer });

  // --- the scenario that is shown ---

  const chosen = () => {
    const name = new URLSearchParams(location.hash.slice(1)).get("scenario");
    return content.scenarios.find((each) => each.name === name) ?? content.scenarios[0];
  };

  const choose = () => {
    const scenario = chosen();
    if (form.dataset.scenario === scenario.name) return;
    form.dataset.scenario = scenario.name;
    place("fieldsets").replaceChildren(place(`fields-of-${scenario.name}`).content.cloneNode(true));
    place("title").textContent = scenario.title;
    place("description").textContent = scenario.description;
    place("name").value = scenario.name;
    document.title = `${scenario.title} · Parshall`;
    document.querySelectorAll("#scenarios a").forEach((link) => {
      if (link.dataset.scenario === scenario.name) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  };

  const ask = async ({ values }, show) => {
    await loaded;
    const scenario = chosen();
    const given = { form: scenario.form, values, width: narrow.matches ? NARROW : WIDE, limits: content.limits };
    const begun = performance.now();
    show(await answer(given));
    place("answers").dataset.took = String(Math.round(performance.now() - begun));
  };

  addEventListener("hashchange", choose);
  choose();
  globalThis.Parshall.explore(ask);
})();
