// Asks the server of the page, and saves there.
(() => {
  "use strict";
  const form = document.getElementById("fields");
  const place = (id) => document.getElementById(id);
  const tab = crypto.randomUUID();
  const narrow = matchMedia("(max-width: 640px)");
  const NARROW_IN = 4;

  const post = (path, body, signal) => fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });

  // Shows each line of the answer as it comes; what models say of values that have changed meanwhile is not waited for.
  const ask = async (request, show, isOutdated) => {
    const stop = new AbortController();
    try {
      const response = await post("/simulate", { ...request, tab, ...(narrow.matches ? { width: NARROW_IN } : {}) }, stop.signal);
      if (!response.ok) {
        show(await response.json());
        return;
      }
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        const lines = (text + value).split("\n");
        text = lines.pop();
        lines.forEach((line) => show(JSON.parse(line)));
        if (lines.length && isOutdated()) {
          stop.abort();
          return;
        }
      }
    } catch (error) {
      if (error.name !== "AbortError") throw new Error(`No answer from the server (${error.message}). Does it still run?`);
    }
  };

  const page = globalThis.Parshall.explore(ask);

  place("save")?.addEventListener("click", async () => {
    const response = await post("/save", { values: page.values(), of: form.dataset.of, name: place("name").value });
    const answer = await response.json();
    place("said").textContent = answer.saved ? `Saved as ${answer.saved}.` : answer.problem;
  });
})();
