// A scenario's form, filled in: the fields' texts become the tables that the simulator takes, and the file to copy.
// It is learnt and described in parshall/explore/form.py.
(() => {
  "use strict";
  const UNITS = {
    "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9,
    ns: 1e-9, us: 1e-6, "µs": 1e-6, ms: 1e-3, s: 1,
    B: 1, kB: 1e3, MB: 1e6, GB: 1e9,
    packet: 1, packets: 1,
  };
  const RATES = ["kbit/s", "Mbit/s", "Gbit/s"];
  const ALIKE = [["bit/s", ...RATES], ["ns", "us", "µs", "ms", "s"], ["B", "kB", "MB", "GB"], ["packet", "packets"]];
  const AMOUNT = /^\s*([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*([A-Za-zµ/]*)\s*$/;

  const knobs = (form) => form.fields.flatMap((each) => each.knobs);

  // The number of a field's text in the unit that its scenario has there.
  const number = (knob, text) => {
    const refuse = (accepted) => {
      throw new RangeError(`${knob.key}: found "${text}"; accepted here: ${accepted}`);
    };
    const found = AMOUNT.exec(text);
    if (knob.is_whole) {
      if (!found || found[2] || !Number.isInteger(Number(found[1])) || Number(found[1]) < 1) refuse("a whole number from 1 on");
      return Number(found[1]);
    }
    if (!knob.unit) {
      if (!found || found[2] || !(Number(found[1]) > 0 && Number(found[1]) <= 1)) refuse("a number above 0, at most 1");
      return Number(found[1]);
    }
    const units = ALIKE.find((each) => each.includes(knob.unit)) ?? [knob.unit];
    if (!found || !units.includes(found[2]) || !(Number(found[1]) > 0)) refuse(`a number above 0 and its unit: ${units.join(", ")}`);
    return found[2] === knob.unit ? Number(found[1]) : Number(found[1]) * UNITS[found[2]] / UNITS[knob.unit];
  };

  const value = ([numerator, denominator, exponents, rounding, least], numbers) => {
    let product = numerator;
    for (const [at, exponent] of Object.entries(exponents)) {
      product = exponent > 0 ? product * numbers[at] : product / numbers[at];
    }
    product /= denominator;
    if (rounding === "none") return product;
    const nearest = Math.floor(product + 0.5);
    if (rounding === "nearest" || Math.abs(product - nearest) < 1e-9 * Math.max(1, Math.abs(product))) return Math.max(least, nearest);
    return Math.max(least, rounding === "down" ? Math.floor(product) : Math.ceil(product));
  };

  const evaluated = (part, texts, numbers) => {
    if (Array.isArray(part)) return part.map((each) => evaluated(each, texts, numbers));
    if (part === null || typeof part !== "object") return part;
    if ("$text" in part) return texts[part.$text];
    if ("$product" in part) return value(part.$product, numbers);
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, evaluated(each, texts, numbers)]));
  };

  const put = (tables, path, part) => {
    const last = path[path.length - 1];
    path.slice(0, -1).reduce((place, step) => place[step], tables)[last] = structuredClone(part);
  };

  // The scenario's `document` and what is `resolved` of it; throws a RangeError whose message says what a field has wrong.
  const filled = (form, values) => {
    const tables = structuredClone(form.tables);
    for (const knob of knobs(form).filter((each) => each.choices.length)) {
      const parts = form.choices[knob.key][values[knob.key]];
      if (!parts) throw new RangeError(`${knob.key}: found "${values[knob.key]}"; accepted here: ${knob.choices.join(", ")}`);
      parts.forEach(([path, part]) => put(tables, path, part));
    }
    const amounts = form.amounts.map((key) => knobs(form).find((each) => each.key === key));
    const texts = amounts.map((knob) => values[knob.key].trim());
    const numbers = amounts.map((knob, at) => number(knob, texts[at]));
    return evaluated(tables, texts, numbers);
  };

  // --- the file to copy ---

  const name = (key) => (/^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key));
  const pair = ([key, each]) => `${name(key)} = ${written(each)}`;
  const isTable = (each) => each !== null && typeof each === "object" && !Array.isArray(each);
  const written = (each) => {
    if (Array.isArray(each)) return `[${each.map(written).join(", ")}]`;
    if (isTable(each)) return `{ ${Object.entries(each).map(pair).join(", ")} }`;
    return JSON.stringify(each);
  };

  const toml = (document) => {
    const entries = Object.entries(document);
    const isList = (each) => Array.isArray(each) && each.length > 0 && each.every(isTable);
    const lines = entries.filter(([, each]) => !isTable(each) && !isList(each)).map(pair);
    for (const [key, table] of entries.filter(([, each]) => isTable(each))) {
      lines.push("", `[${name(key)}]`, ...Object.entries(table).map(pair));
    }
    for (const [key, tables] of entries.filter(([, each]) => isList(each))) {
      for (const table of tables) lines.push("", `[[${name(key)}]]`, ...Object.entries(table).map(pair));
    }
    return `${lines.join("\n")}\n`;
  };

  globalThis.Parshall = { ...globalThis.Parshall, form: { filled, toml } };
})();
