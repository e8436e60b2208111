// The sentences that open the page: what limits, who gets what, what it costs. The rules and templates are those of
// parshall/report/finding.py for one repetition; models, halves of the run and remedies are left to `parshall run`.
(() => {
  "use strict";
  const { quantity, count, counted } = globalThis.Parshall.numbers;
  const FULL = 0.95;
  const BUSY = 0.8;
  const AS_BUSY = 0.001;
  const FEW_LOST = 1e-4;
  const LATE = 0.5;
  const PICOSECOND = 1e-12;

  const sum = (values) => values.reduce((one, other) => one + other, 0);
  const mean = (values) => (values.length ? sum(values) / values.length : null);
  const isGreedy = (group) => (group.workload?.name ?? group.workload ?? "bulk") === "bulk";

  // The fewest values that a quantile needs (parshall/analysis/stats/quantiles.py).
  const leastValues = (share) => Math.ceil(Number((1 / Math.min(share, 1 - share)).toFixed(6)));

  // Of bins as evenly filled, the value that a share of all does not exceed; null of too few.
  const quantileOfBins = (rows, number, share, largest) => {
    const bins = rows.filter((row) => row[number] > 0);
    const all = sum(bins.map((row) => row[number]));
    if (all < leastValues(share)) return null;
    const target = share * all;
    let before = 0;
    for (const [at, row] of bins.entries()) {
      if (before + row[number] >= target || at === bins.length - 1) {
        const low = row.low_s;
        let high = Math.max(Math.min(row.high_s - PICOSECOND, largest ?? Infinity), low);
        if (at < bins.length - 1) high = Math.min(high, bins[at + 1].low_s);
        return low + (target - before) / row[number] * (high - low);
      }
      before += row[number];
    }
    return null;
  };

  // Kaplan and Meier's quantile of durations of which some had not ended (parshall/analysis/stats/censored.py); null: too few
  // ended for it; undefined: there are too few for it even if all ended.
  const quantileOfDurations = (transfers, end, share) => {
    const n = transfers.length;
    const durations = transfers.map(({ start_s, completion_s }) => [(completion_s ?? end) - start_s, completion_s !== null]);
    const least = leastValues(share);
    if (n < least) return undefined;
    const ascending = durations.map(([lasted]) => lasted).sort((one, other) => one - other);
    const ended = durations.filter((each) => each[1]).map(([lasted]) => lasted).sort((one, other) => one - other);
    const atRisk = (lasted) => n - ascending.findIndex((each) => each >= lasted);
    const level = (1 + (n - 1) * share) / n;
    let [before, last, known] = [0, null, null];
    for (let at = 0; at < ended.length && known === null;) {
      const lasted = ended[at];
      let events = 0;
      while (at < ended.length && ended[at] === lasted) [events, at] = [events + 1, at + 1];
      const after = 1 - (1 - before) * (1 - events / atRisk(lasted));
      const ramp = Math.min(before + 1 / n, after);
      if (level <= ramp + 1e-12) {
        known = last === null || level >= ramp ? lasted : last + (level - before) / (ramp - before) * (lasted - last);
      } else if (level <= after + 1e-12) known = lasted;
      if (known !== null && atRisk(known) / (1 - shareBefore(ended, known, atRisk)) < least * (1 - 1e-12)) return null;
      [before, last] = [after, lasted];
    }
    return known;
  };

  const shareBefore = (ended, lasted, atRisk) => {
    let survived = 1;
    for (const each of new Set(ended.filter((one) => one < lasted))) {
      survived *= 1 - ended.filter((one) => one === each).length / atRisk(each);
    }
    return 1 - survived;
  };

  // The values that sentences, tiles and figures have, from the records of one run.
  const measured = (document, run) => {
    const top = Math.max(...run.links.map((link) => link.utilisation));
    const busy = run.links.filter((link) => link.utilisation >= top - AS_BUSY);
    const link = busy.reduce((one, other) => ((other.mean_queueing_delay_s ?? -1) > (one.mean_queueing_delay_s ?? -1) ? other : one));
    const waits = run.delay_histogram.filter((row) => row.link === link.link);
    const groups = [...new Set(run.flows.map((flow) => flow.group))].map((name) => {
      const flows = run.flows.filter((flow) => flow.group === name);
      const goodputs = flows.map((flow) => flow.goodput_bps).filter((each) => each !== null);
      const latency = run.latency_histogram.filter((row) => row.group === name && row.measure === "one_way_delay");
      const own = run.groups.find((row) => row.group === name);
      return {
        name,
        flows,
        greedy: isGreedy(document.flows.find((each) => each.name === name) ?? {}),
        datagrams: flows.every((flow) => flow.congestion_control === ""),
        sum_bps: sum(goodputs),
        flow_bps: mean(goodputs),
        jain: sum(goodputs.map((each) => each ** 2)) > 0 && goodputs.length > 1
          ? sum(goodputs) ** 2 / (goodputs.length * sum(goodputs.map((each) => each ** 2))) : null,
        arrives: latency.some((row) => row.samples > 0),
        latency_p99_s: quantileOfBins(latency, "samples", 0.99, own?.max_one_way_delay_s),
      };
    });
    const transfers = run.transfers.filter((each) => each.size_bytes !== null);
    const end = Math.max(run.totals.simulated_s, ...transfers.map((each) => each.completion_s ?? each.start_s));
    return {
      document,
      link,
      groups,
      several: run.links.length > 1,
      place: link.link === "bottleneck" ? "the bottleneck" : `the link ${link.link}`,
      wait_p99_s: quantileOfBins(waits, "packets", 0.99, link.max_queueing_delay_s),
      goodput_bps: sum(groups.map((group) => group.sum_bps)),
      end_s: run.totals.simulated_s,
      first_s: Math.min(...run.flows.map((flow) => flow.start_s)),
      begun: transfers.length,
      ended: transfers.filter((each) => each.completion_s !== null).length,
      completion: (share) => quantileOfDurations(transfers, end, share),
    };
  };

  const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

  const finding = (templates, state, warmUp) => {
    const say = (name, values = {}) => {
      const text = templates[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
      return /^\{(place\} is|subject\})/.test(templates[name]) ? capital(text) : text;
    };
    const said = [ended(say, state), limit(say, state, warmUp), shares(say, state), cost(say, state)];
    return said.filter(Boolean).join(" ");
  };

  const ended = (say, { ended: done, begun }) =>
    (done === begun ? null : say("ended", { ended: count(done), begun: counted(begun, "transfer") }));

  const lateS = ({ first_s, end_s }, warmUp) => {
    const lasting = end_s - first_s;
    return lasting > 0 && lasting < LATE * (end_s - warmUp) ? lasting : null;
  };

  const limit = (say, state, warmUp) => {
    const { link, place, groups } = state;
    const late = lateS(state, warmUp);
    if (!link.arrivals_packets && !link.forwarded_packets) {
      return late === null ? say("nothing_crossed", { place }) : say("starts_late", { place, late: quantity(late, "s") });
    }
    const busy = quantity(link.utilisation, "ratio");
    if (link.utilisation >= FULL) return say("full", { place, busy });
    const subject = state.several ? `no link is full: the busiest, ${place}, is` : `${place} is not full: it is`;
    const lost = link.loss_rate ?? 0;
    if (lost < FEW_LOST) {
      const limits = [];
      const described = state.document.flows;
      if (described.some((group) => group.access_rate)) limits.push("their access links");
      if (described.some((group) => group.receive_window && group.receive_window !== "unlimited")) limits.push("their receive windows");
      if (!groups.every((group) => group.greedy)) limits.push("how much the applications send");
      if (late !== null) limits.push(`their start, ${quantity(late, "s")} before the end`);
      const listed = limits.length > 1 ? `${limits.slice(0, -1).join(", ")} or ${limits[limits.length - 1]}` : limits[0];
      return say("nothing_lost", { subject, busy, limits: listed ?? "their own windows" });
    }
    const share = (column) => quantity(link[column] / link.arrivals_packets, "ratio");
    if (link.medium_losses_packets > link.dropped_packets) {
      if (!link.dropped_packets) return say("medium", { subject, busy, medium: quantity(link.loss_rate, "ratio") });
      return say("medium_and_queue", { subject, busy, medium: share("medium_losses_packets"), queue: share("dropped_packets") });
    }
    return say(link.utilisation >= BUSY ? "drops_before" : "drops_at_times", { subject, busy, queue: share("dropped_packets") });
  };

  const shares = (say, state) => {
    const known = state.groups.filter((group) => group.flow_bps !== null);
    const greedy = known.filter((group) => group.greedy);
    const ranked = (greedy.length ? [...greedy] : [...known]).sort((one, other) => other.flow_bps - one.flow_bps);
    if (!ranked.length) return null;
    if (!known.some((group) => group.flow_bps)) return state.link.utilisation ? say("delivers_nothing") : null;
    const [first, last] = [ranked[0], ranked[ranked.length - 1]];
    const got = quantity(first.flow_bps, "bit/s");
    if (known.length === 1) {
      const flows = counted(first.flows.length, "flow");
      if (first.flows.length < 2) return say("one_flow", { got });
      return first.jain ? say("flows_jain", { flows, got, jain: quantity(first.jain, "1") }) : say("flows", { flows, got });
    }
    const total = sum(state.groups.map((group) => group.sum_bps));
    if (ranked.length === 1) return say("greedy_share", { group: first.name, share: quantity(first.sum_bps / total, "ratio"), got });
    const values = { group: first.name, got, other: last.name, less: quantity(last.flow_bps, "bit/s") };
    return ranked.length === 2 ? say("two_once", values) : say("many_once", { groups: counted(ranked.length, "group"), ...values });
  };

  // The group that wants little and suffers from the load of others.
  const underLoad = ({ groups }) => {
    if (groups.filter((group) => group.arrives).length < 2) return null;
    const present = groups.filter((group) => group.arrives && group.flow_bps !== null);
    const limited = present.filter((group) => group.datagrams || !group.greedy);
    if (!limited.length) return null;
    const least = limited.reduce((one, other) =>
      (other.flow_bps < one.flow_bps || (other.flow_bps === one.flow_bps && other.name < one.name) ? other : one));
    return least.flow_bps >= Math.max(...present.map((group) => group.flow_bps)) ? null : least;
  };

  const completion = (say, state) => {
    if (!state.begun) return null;
    const [half, tail] = [state.completion(0.5), state.completion(0.95)];
    if (half === undefined) return null;
    if (half === null) return say("few_ended");
    if (tail === undefined) {
      const why = `too few values: ${state.begun} of ${leastValues(0.95)}`;
      return say("half_done_values", { half: quantity(half, "s"), why });
    }
    if (tail === null) return say("half_done_few", { half: quantity(half, "s") });
    return say("done", { half: quantity(half, "s"), tail: quantity(tail, "s") });
  };

  const cost = (say, state) => {
    const { link, place, wait_p99_s: tail } = state;
    const parts = [];
    if (link.mean_queueing_delay_s !== null) {
      const wait = quantity(link.mean_queueing_delay_s, "s");
      parts.push(tail ? say("wait_tail", { wait, place, tail: quantity(tail, "s") }) : say("wait", { wait, place }));
    }
    if ((link.loss_rate ?? 0) >= FEW_LOST && link.utilisation >= FULL) parts.push(say("lost", { lost: quantity(link.loss_rate, "ratio") }));
    const late = underLoad(state);
    if (late && late.latency_p99_s !== null) parts.push(say("arrive", { group: late.name, tail: quantity(late.latency_p99_s, "s") }));
    parts.push(completion(say, state));
    const told = parts.filter(Boolean);
    return told.length ? `${capital(told.join("; "))}.` : null;
  };

  globalThis.Parshall = { ...globalThis.Parshall, finding: { measured, finding } };
})();
