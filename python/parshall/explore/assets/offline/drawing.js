// Figures and tiles as text of a page: goodput of each group, the queue, the windows, in the page's colours.
(() => {
  "use strict";
  const { quantity, trimmed, scaleFor, count } = globalThis.Parshall.numbers;
  const HEIGHT = 190;
  const [LEFT, RIGHT, TOP, BOTTOM] = [58, 12, 24, 30];
  const SERIES = 6;
  const DASHES = ["", "7 3", "2 2", "9 3 2 3", "4 2", "1 3"];

  const escaped = (text) => String(text).replace(/[&<>"]/g, (each) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[each]);

  const niceStep = (range, most) => {
    const rough = range / most;
    const power = 10 ** Math.floor(Math.log10(rough));
    return power * [1, 2, 5, 10].find((each) => each * power >= rough);
  };

  const ticks = (high, most) => {
    const step = niceStep(high || 1, most);
    return Array.from({ length: Math.floor(high / step + 1e-9) + 1 }, (_, at) => at * step);
  };

  const stroke = ({ colour }) => {
    const dash = DASHES[colour] ? ` stroke-dasharray="${DASHES[colour]}"` : "";
    return `style="stroke:var(--series-${colour})"${dash}`;
  };

  // Lines over time: `series` have a name, a colour and points [s, value]; `unit` is that of the values.
  const lines = ({ title, unit, label, series, end, width }) => {
    const shown = series.filter((each) => each.points.length);
    const most = Math.max(...shown.flatMap((each) => each.points.map((point) => point[1])), 0) * 1.05;
    const [factor, name] = scaleFor(most, unit);
    const [timeFactor, timeName] = scaleFor(end, "s");
    const [high, last] = [most * factor || 1, end * timeFactor];
    const x = (time) => LEFT + (width - LEFT - RIGHT) * time * timeFactor / last;
    const y = (value) => HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value * factor / high;
    const parts = [];
    for (const tick of ticks(high, 4)) {
      const at = y(tick / factor).toFixed(1);
      parts.push(
        `<line class="rule" x1="${LEFT}" x2="${width - RIGHT}" y1="${at}" y2="${at}"/>`,
        `<text x="${LEFT - 6}" y="${at}" dy=".32em" text-anchor="end">${trimmed(tick, 4)}</text>`,
      );
    }
    for (const tick of ticks(last, Math.max(3, Math.floor(width / 90)))) {
      const at = x(tick / timeFactor).toFixed(1);
      parts.push(`<text x="${at}" y="${HEIGHT - BOTTOM + 16}" text-anchor="middle">${trimmed(tick, 4)}</text>`);
    }
    parts.push(`<text x="${width - RIGHT}" y="${HEIGHT - 1}" text-anchor="end">time (${timeName})</text>`);
    parts.push(`<text x="${LEFT}" y="12">${escaped(label)} (${escaped(name || unit)})</text>`);
    for (const each of shown) {
      const points = each.points.map(([time, value]) => `${x(time).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
      parts.push(`<polyline points="${points}" ${stroke(each)}/>`);
    }
    const key = shown.filter((each) => each.name).map((each) =>
      `<span class="key"><svg width="26" height="8" aria-hidden="true">` +
      `<line x1="0" x2="26" y1="4" y2="4" ${stroke(each)}/></svg>${escaped(each.name)}</span>`);
    const keys = key.length ? `<div class="keys">${key.join(" ")}</div>` : "";
    const drawn = `<svg class="lines" viewBox="0 0 ${width} ${HEIGHT}">${parts.join("")}</svg>`;
    const drawing = `<div class="drawing" role="img" aria-label="${escaped(title)}">${drawn}</div>`;
    return `<figure>${drawing}${keys}<figcaption>${escaped(title)}</figcaption></figure>`;
  };

  const goodput = (state, run, width) => {
    const bins = Math.max(1, Math.round(state.end_s / 60 / (run.group_samples[0]?.bin_s ?? 1)));
    const series = state.groups.slice(0, SERIES).map((group, colour) => {
      const rows = run.group_samples.filter((row) => row.group === group.name);
      const points = [];
      for (let at = 0; at < rows.length; at += bins) {
        const some = rows.slice(at, at + bins);
        const lasting = some.reduce((total, row) => total + row.bin_s, 0);
        const bits = 8 * some.reduce((total, row) => total + row.delivered_bytes, 0);
        points.push([some[0].time_s + lasting / 2, bits / lasting]);
      }
      return { name: group.name, colour, points: points.filter(([time]) => time <= state.end_s) };
    });
    return lines({ title: "What the flows of each group deliver.", label: "goodput", unit: "bit/s", series, end: state.end_s, width });
  };

  const queue = (state, run, width) => {
    const rows = run.link_samples.filter((row) => row.link === state.link.link);
    const known = rows.filter((row) => row.mean_queueing_delay_s !== null);
    const points = known.map((row) => [row.time_s + row.bin_s / 2, row.mean_queueing_delay_s]);
    const series = [{ name: "", colour: 0, points }];
    const title = `How long packets wait at ${state.place}.`;
    return lines({ title, label: "queueing delay", unit: "s", series, end: state.end_s, width });
  };

  const windows = (state, run, width) => {
    const colours = new Map(state.groups.map((group, at) => [group.name, at % SERIES]));
    const groups = new Map(run.flows.map((flow) => [flow.flow, flow.group]));
    const flows = [...new Set(run.flow_samples.map((row) => row.flow))];
    const named = new Set();
    const series = flows.map((flow) => {
      const group = groups.get(flow);
      const known = run.flow_samples.filter((row) => row.flow === flow && row.cwnd_packets !== null);
      const points = known.map((row) => [row.time_s, row.cwnd_packets]);
      const isFirst = points.length > 0 && !named.has(group);
      if (isFirst) named.add(group);
      return { name: isFirst ? group : "", colour: colours.get(group), points };
    }).filter((each) => each.points.length);
    if (!series.length) return "";
    const title = `Congestion windows of ${count(series.length)} flow${series.length === 1 ? "" : "s"}.`;
    return lines({ title, label: "window", unit: "packets", series, end: state.end_s, width });
  };

  const tiles = (state) => {
    const { link } = state;
    const lost = link.dropped_packets + link.medium_losses_packets;
    const busy = `${state.place} is ${quantity(link.utilisation, "ratio")} busy`;
    const all = [["Goodput, all flows", quantity(state.goodput_bps, "bit/s"), busy]];
    const ofAll = `${count(lost)} of ${count(link.arrivals_packets)} packets`;
    if (link.loss_rate !== null) all.push(["Loss", quantity(link.loss_rate, "ratio"), ofAll]);
    if (link.mean_queueing_delay_s !== null) {
      const tail = `99 % of packets wait at most ${quantity(state.wait_p99_s, "s")}`;
      all.push(["Mean queueing delay", quantity(link.mean_queueing_delay_s, "s"), tail]);
    }
    const half = state.begun ? state.completion(0.5) : null;
    if (half) all.push(["Median completion time", quantity(half, "s"), `${count(state.ended)} of ${count(state.begun)} transfers ended`]);
    const tile = ([label, value, remark]) =>
      `<div><dt>${label}</dt><dd><span class="big">${value}</span><span class="remark">${escaped(remark)}</span></dd></div>`;
    return `<dl class="tiles">${all.map(tile).join("")}</dl>`;
  };

  const section = (name, heading, content, opening = "") => `<section id="${name}"${opening}><h2>${heading}</h2>${content}</section>`;

  const drawn = (state, run, width) => [
    section("answer", "Simulated", tiles(state), ' class="opening"'),
    section("of-overview", "Goodput", goodput(state, run, width)),
    section("of-delay", "Queue", queue(state, run, width)),
    section("of-cwnd", "Windows", windows(state, run, width)),
  ].join("");

  globalThis.Parshall = { ...globalThis.Parshall, drawing: { drawn } };
})();
