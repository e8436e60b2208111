// Simulates beside the page: it takes a form and the fields' texts, and gives the parts of the page.
(() => {
  "use strict";
  const { form: forms, finding, drawing, numbers } = globalThis.Parshall;
  const AGAIN = 0.9; // after an interruption, so much of the time that was reached is simulated
  let simulator = null;

  // The simulator; `compressed` are its bytes, by gzip.
  const load = async (compressed) => {
    const whole = new Response(new Blob([compressed]).stream().pipeThrough(new DecompressionStream("gzip")));
    const { instance } = await WebAssembly.instantiate(await whole.arrayBuffer(), {});
    use(instance.exports);
  };

  const use = (exported) => {
    simulator = exported;
  };

  const simulated = (resolved, mostEvents) => {
    const text = new TextEncoder().encode(JSON.stringify(resolved));
    const address = simulator.parshall_allocate(text.length);
    new Uint8Array(simulator.memory.buffer).set(text, address);
    const length = simulator.parshall_simulate(0, mostEvents);
    return JSON.parse(new TextDecoder().decode(new Uint8Array(simulator.memory.buffer, simulator.parshall_answer(), length)));
  };

  // The scenario with less time; its warm-up stays the same share of it.
  const shortened = (resolved, most) => ({
    ...resolved,
    duration_ps: Math.round(most),
    warm_up_ps: Math.round(resolved.warm_up_ps * most / resolved.duration_ps),
  });

  // As much of the scenario as there are events for, and what it gives.
  const affordable = (resolved, { firstEvents, mostEvents }) => {
    const whole = simulated(resolved, firstEvents);
    if (!whole.interrupted?.simulated_s) return [resolved, whole];
    const part = shortened(resolved, 1e12 * AGAIN * whole.interrupted.simulated_s);
    return [part, simulated(part, mostEvents)];
  };

  const answer = ({ form, values, width, limits }) => {
    let tables;
    try {
      tables = forms.filled(form, values);
    } catch (error) {
      if (error instanceof RangeError) return { problems: [error.message] };
      throw error;
    }
    const [resolved, result] = affordable(tables.resolved, limits);
    if (result.refused) {
      const { key, problem } = result.refused;
      return { problems: [key ? `${key}: ${problem}` : problem] };
    }
    if (result.interrupted) return { problems: ["flows: too much to be simulated in a page; the command below does it"] };
    if (result.failed) return { problems: [result.failed.problem] };
    const state = finding.measured(tables.document, result.run);
    const of = resolved.duration_ps < tables.resolved.duration_ps ? ` of ${numbers.given(1e-12 * tables.resolved.duration_ps, "s")}` : "";
    return {
      finding: finding.finding(limits.templates, state, 1e-12 * resolved.warm_up_ps),
      simulated: drawing.drawn(state, result.run, width),
      extent: `Simulated in this page: ${numbers.given(1e-12 * resolved.duration_ps, "s")}${of}, one repetition.`,
      toml: forms.toml(tables.document),
      command: ["parshall run", `${form.name}.toml`].join(" "),
      idle: [],
      warnings: [],
      totals: { packets: result.run.totals.packets_forwarded, dropped: result.run.totals.packets_dropped },
    };
  };

  globalThis.Parshall = { ...globalThis.Parshall, worker: { load, use, answer, simulated } };
})();
