// Replaces the static drawings by interactive ones. Without JavaScript, or in a browser too old for
// DecompressionStream, the static drawings stay: they show the same.
(async () => {
  "use strict";
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const hovers = matchMedia("(hover: hover)").matches;

  const colours = () => {
    const style = getComputedStyle(document.documentElement);
    return (token) => {
      const found = /^\$(\w+)(?:\/([\d.]+))?$/.exec(token);
      if (!found) return token;
      const name = /^\d+$/.test(found[1]) ? `--series-${found[1]}` : `--${found[1]}`;
      const hex = style.getPropertyValue(name).trim();
      if (found[2] === undefined) return hex;
      const [r, g, b] = [1, 3, 5].map((start) => parseInt(hex.slice(start, start + 2), 16));
      return `rgba(${r},${g},${b},${found[2]})`;
    };
  };

  const painted = (value, colour) => {
    if (Array.isArray(value)) {
      return typeof value[0] === "number" ? value : value.map((entry) => painted(entry, colour));
    }
    if (value === null || typeof value !== "object") return value;
    const entries = Object.entries(value).map(([key, entry]) => {
      if (key === "colorscale") return [key, entry.map(([at, token]) => [at, colour(token)])];
      return [key, typeof entry === "string" && key.endsWith("color") ? colour(entry) : painted(entry, colour)];
    });
    return Object.fromEntries(entries);
  };

  // Base 85, as `_printable` of html.py writes it: five characters are four bytes, the last ones fewer.
  const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_`{|}~";
  const bytes = (text) => {
    const digits = Uint8Array.from(DIGITS, (character) => character.charCodeAt(0))
      .reduce((table, code, digit) => table.fill(digit, code, code + 1), new Uint8Array(128));
    const words = Math.ceil(text.length / 5);
    const view = new DataView(new ArrayBuffer(4 * words));
    for (let word = 0; word < words; word += 1) {
      let value = 0;
      for (let place = 5 * word; place < 5 * word + 5; place += 1) {
        value = 85 * value + (place < text.length ? digits[text.charCodeAt(place)] : 84);
      }
      view.setUint32(4 * word, value);
    }
    return new Uint8Array(view.buffer, 0, 4 * words - (5 * words - text.length));
  };

  const unpacked = async (id) => {
    const packed = bytes(document.getElementById(id).textContent.trim());
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  };

  const load = async () => {
    const script = document.createElement("script");
    script.textContent = await unpacked("library");
    document.head.append(script);
    return globalThis.Plotly;
  };

  const draw = async (Plotly, plots) => {
    const colour = colours();
    const font = getComputedStyle(document.querySelector("figcaption")).fontFamily;
    for (const [name, plot] of Object.entries(plots)) {
      const drawing = document.getElementById(`figure-${name}`)?.querySelector(".drawing");
      if (!drawing) continue;
      const place = drawing.querySelector(".interactive") ?? document.createElement("div");
      place.className = "interactive";
      drawing.append(place);
      drawing.classList.add("drawn");
      const { data, layout } = painted(plot, colour);
      layout.font.family = font;
      layout.dragmode = hovers ? "zoom" : false;
      if (drawing.clientWidth < 480) {
        layout.font.size = 11;
        for (const axis of Object.values(layout).filter((each) => each?.ticktext)) {
          axis.ticktext = axis.ticktext.map((label) => (label.length > 22 ? `${label.slice(0, 10)}…${label.slice(-11)}` : label));
        }
        for (const trace of data) if (trace.texttemplate && trace.z[0].length > 6) delete trace.texttemplate;
      }
      await Plotly.react(place, data, layout, {
        responsive: true,
        displaylogo: false,
        showSendToCloud: false,
        displayModeBar: hovers ? "hover" : false,
        modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
        toImageButtonOptions: { format: "svg", filename: name },
      });
    }
    document.documentElement.dataset.figures = "drawn";
  };

  // A row a point, as `csv` of data.py writes it.
  const csv = ({ data, layout }) => {
    const text = (html) => new DOMParser().parseFromString(html, "text/html").body.textContent;
    const quoted = (value) => (/[",\n]/.test(value) ? `"${String(value).replaceAll('"', '""')}"` : String(value ?? ""));
    const rows = [["panel", "x axis", "y axis", "series", "x", "y", "low", "high", "z"]];
    for (const trace of data) {
      const panel = Number(trace.yaxis.slice(1) || 1);
      const isEdge = trace.line?.width === 0;
      const edge = isEdge ? (trace.fill ? " (upper end)" : " (lower end)") : "";
      const first = [panel, ...layout.meta[panel - 1], text(trace.name ?? "") + edge];
      if (trace.z) {
        trace.z.forEach((cells, row) =>
          cells.forEach((z, column) => rows.push([...first, trace.x[column], trace.y[row], "", "", z])));
        continue;
      }
      const along = trace.error_x ? "x" : "y";
      const bars = trace[`error_${along}`];
      trace.x.forEach((x, place) => {
        const middle = trace[along][place];
        const ends = bars ? [middle - bars.arrayminus[place], middle + bars.array[place]] : ["", ""];
        rows.push([...first, x, trace.y[place], ...ends, ""]);
      });
    }
    return rows.map((row) => row.map(quoted).join(",")).join("\r\n") + "\r\n";
  };

  const saved = (name, text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };

  // What is scrolled must be reached by the keyboard.
  const reachable = () => {
    for (const part of document.querySelectorAll(".wide, .network > div")) {
      if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
      else part.removeAttribute("tabindex");
    }
  };
  reachable();
  addEventListener("resize", reachable);

  // A figure that was drawn while it was folded has had no width.
  for (const part of document.querySelectorAll("details:has(figure)")) {
    part.addEventListener("toggle", () => dispatchEvent(new Event("resize")));
  }

  // On paper nothing can be unfolded.
  const folded = document.querySelectorAll("details:not([open])");
  addEventListener("beforeprint", () => folded.forEach((part) => { part.dataset.folded = String(!part.open); part.open = true; }));
  addEventListener("afterprint", () => folded.forEach((part) => { part.open = part.dataset.folded !== "true"; }));

  for (const button of document.querySelectorAll("button.copy")) {
    if (!navigator.clipboard) break;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copies).textContent);
      button.textContent = "Copied";
    });
  }

  if (typeof DecompressionStream === "undefined") return;
  const plots = JSON.parse(await unpacked("plots"));
  for (const button of document.querySelectorAll("button.csv")) {
    button.hidden = false;
    button.addEventListener("click", () => saved(`${button.dataset.figure}.csv`, csv(plots[button.dataset.figure])));
  }
  if (Object.keys(plots).length === 0) return;
  const Plotly = await load();
  await draw(Plotly, plots);
  dark.addEventListener("change", () => draw(Plotly, plots));

  // Fields choose one of many figures, which are there as data alone.
  for (const chooser of document.querySelectorAll(".chooser")) {
    chooser.hidden = false;
    const figure = chooser.querySelector("figure");
    const fields = [...chooser.querySelectorAll("select")];
    chooser.addEventListener("change", async () => {
      plots.chosen = plots[fields.map((field) => field.value).join("|")];
      figure.hidden = !plots.chosen;
      if (!plots.chosen) return;
      const [title, caption] = plots.chosen.words;
      figure.querySelector("strong").textContent = `${title}.`;
      figure.querySelector("figcaption span").textContent = caption;
      await draw(Plotly, { chosen: plots.chosen });
    });
  }
})();
