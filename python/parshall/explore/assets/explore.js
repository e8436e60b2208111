// The page of a scenario: sends the values of the fields when one changes, and shows what comes back. One request is under
// way at a time; of those that come meanwhile, the newest is sent next. Who answers is another script's business: the
// server (server.js), or the page itself (offline/page.js). The address keeps the values, so that a link is a figure.
globalThis.Parshall = { ...globalThis.Parshall, explore: (ask) => {
  "use strict";
  const form = document.getElementById("fields");
  const place = (id) => document.getElementById(id);
  const answers = place("answers");
  let wanted = 0;
  let sent = 0;
  let isSending = false;

  // --- fields and their sliders ---

  const sliders = () => [...form.querySelectorAll("input.slider")];
  const fields = () => [...form.querySelectorAll(".knob input[type=text], .knob select")];
  const amount = /^\s*([0-9]*\.?[0-9]+(?:e[+-]?[0-9]+)?)\s*([A-Za-z/%]*)\s*$/i;
  const rounded = (number, whole) => (whole ? Math.round(number) : Number(number.toPrecision(2)));

  // Where the slider stands for what its field has; a unit that is typed moves the ends along.
  const follow = (slider) => {
    const found = amount.exec(place(slider.dataset.for).value);
    if (!found || !(Number(found[1]) > 0)) return;
    const number = Number(found[1]);
    let [low, high] = [Number(slider.dataset.low), Number(slider.dataset.high)];
    if (found[2] !== slider.dataset.unit || number < low || number > high) {
      [low, high] = "whole" in slider.dataset ? [1, Math.max(high, number)] : [number / 20, number * 20];
      Object.assign(slider.dataset, { low, high, unit: found[2] });
    }
    slider.value = 1000 * Math.log(number / low) / Math.log(high / low);
    slider.setAttribute("aria-valuetext", place(slider.dataset.for).value);
  };

  const moved = (slider) => {
    const [low, high] = [Number(slider.dataset.low), Number(slider.dataset.high)];
    const number = rounded(low * (high / low) ** (slider.value / 1000), "whole" in slider.dataset);
    place(slider.dataset.for).value = `${number} ${slider.dataset.unit}`.trim();
    slider.setAttribute("aria-valuetext", place(slider.dataset.for).value);
  };

  const values = () => Object.fromEntries(fields().map((field) => [field.name, field.value]));
  const figures = () => [...form.querySelectorAll("input[name=figure]:checked")].map((box) => box.value);

  // --- the address ---

  const given = (field) => field.defaultValue ?? [...field.options].find((option) => option.defaultSelected)?.value;

  let writing = 0;
  const remember = () => {  // not at each step of a slider: browsers bound how often an address changes
    clearTimeout(writing);
    writing = setTimeout(write, 250);
  };
  const write = () => {
    const kept = new URLSearchParams(form.dataset.scenario ? { scenario: form.dataset.scenario } : {});
    for (const field of fields().filter((each) => each.value !== given(each))) kept.set(field.name, field.value);
    history.replaceState(null, "", [...kept].length ? `#${kept}` : location.pathname + location.search);
  };

  const restore = () => {
    const kept = new URLSearchParams(location.hash.slice(1));
    for (const field of fields()) {
      const value = kept.get(field.name) ?? given(field);
      if (field.matches("input") || [...field.options].some((option) => option.value === value)) field.value = value;
    }
    sliders().forEach(follow);
  };

  // --- what comes back ---

  const say = (element, text) => {
    element.textContent = text;
    element.hidden = !text;
  };

  const showProblems = (problems) => {
    const elsewhere = [];
    const knobs = [...form.querySelectorAll(".knob")];
    const said = new Map(knobs.map((knob) => [knob, []]));
    for (const problem of problems) {
      const key = problem.split(":")[0];
      const own = knobs.find((knob) => knob.dataset.key === key) ??
        knobs.find((knob) => knob.dataset.key.startsWith(`${key}.`) || key.startsWith(`${knob.dataset.key}.`));
      if (own) said.get(own).push(problem);
      else elsewhere.push(problem);
    }
    for (const [knob, found] of said) {
      say(knob.querySelector(".problem"), found.join(" "));
      knob.querySelector("input[type=text], select").setAttribute("aria-invalid", String(found.length > 0));
    }
    say(place("problem"), elsewhere.join(" "));
  };

  const show = (answer) => {
    if (answer.problems) showProblems(answer.problems);
    // What is shown then belongs to the values before.
    answers.classList.toggle("stale", "problems" in answer);
    place("stale").hidden = !("problems" in answer);
    if ("simulated" in answer) {
      showProblems([]);
      place("simulated").innerHTML = answer.simulated;
      for (const id of ["finding", "extent", "command", "toml"]) place(id).textContent = answer[id];
      place("warnings").replaceChildren(...answer.warnings.map((text) => {
        const item = document.createElement("li");
        item.textContent = text;
        return item;
      }));
      for (const knob of form.querySelectorAll(".knob")) {
        knob.classList.toggle("idle", answer.idle.includes(knob.dataset.key));
      }
      answers.dataset.shown = String(sent);
    }
    if ("predicted" in answer) {
      place("predicted").innerHTML = answer.predicted;
      answers.dataset.predicted = String(sent);
    }
  };

  const refresh = async () => {
    wanted += 1;
    remember();
    if (isSending) return;
    isSending = true;
    answers.setAttribute("aria-busy", "true");
    while (sent < wanted) {
      sent = wanted;
      try {
        await ask({ values: values(), figures: figures(), of: form.dataset.of, number: sent }, show, () => wanted > sent);
      } catch (error) {
        show({ problems: [error.message] });
      }
    }
    answers.setAttribute("aria-busy", "false");
    isSending = false;
  };

  form.addEventListener("input", (event) => {
    if (event.target.matches(".slider")) moved(event.target);
    else sliders().filter((slider) => slider.dataset.for === event.target.id).forEach(follow);
    refresh();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(() => {
    sliders().forEach(follow);
    refresh();
  }));

  // --- taking it away ---

  place("copy").addEventListener("click", async () => {
    await navigator.clipboard.writeText(place("command").textContent);
    place("said").textContent = "Copied.";
  });
  place("download").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([place("toml").textContent], { type: "application/toml" }));
    link.download = `${place("name").value.replace(/[^A-Za-z0-9_-]/g, "-") || "scenario"}.toml`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  addEventListener("hashchange", () => {
    restore();
    refresh();
  });
  restore();
  refresh();
  return { values };
} };
