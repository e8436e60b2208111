// Numbers as a reader wants them, as parshall/foundations/numbers.py prints them.
(() => {
  "use strict";
  const SCALES = {
    "bit/s": [[1, "bit/s"], [1e-3, "kbit/s"], [1e-6, "Mbit/s"], [1e-9, "Gbit/s"], [1e-12, "Tbit/s"]],
    s: [[1e9, "ns"], [1e6, "µs"], [1e3, "ms"], [1, "s"]],
    ratio: [[100, "%"]],
  };
  const [NO_BREAK, THIN] = ["\u00a0", "\u202f"];

  const grouped = (text) => {
    const [whole, fraction] = text.split(".");
    const apart = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, THIN) : whole;
    return fraction === undefined ? apart : `${apart}.${fraction}`;
  };

  const significant = (value, digits = 3) => {
    if (value === 0) return "0";
    const [mantissa, power] = value.toExponential(digits - 1).split("e");
    const exponent = Number(power);
    if (exponent < -3 || exponent > 8) {
      const raised = String(exponent).replace(/[-\d]/g, (each) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(each)]);
      return `${mantissa}${THIN}×${THIN}10${raised}`;
    }
    return grouped(value.toFixed(Math.max(0, digits - 1 - exponent)));
  };

  const scaleFor = (value, unit) => {
    const scales = SCALES[unit];
    if (!scales) return [1, unit === "1" ? "" : unit];
    if (value === 0) return scales.find(([factor]) => factor === 1) ?? scales[0];
    const fitting = scales.filter(([factor]) => value * factor >= 0.9995);
    return fitting.length
      ? fitting.reduce((one, other) => (other[0] < one[0] ? other : one))
      : scales.reduce((one, other) => (other[0] > one[0] ? other : one));
  };

  const quantity = (value, unit, digits = 3) => {
    const [factor, name] = scaleFor(value, unit);
    const text = significant(value * factor, digits);
    return name ? `${text}${NO_BREAK}${name}` : text;
  };

  const trimmed = (value, digits = 5) => {
    const text = significant(value, digits);
    return text.includes(".") && !text.includes("×") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
  };

  // A quantity that somebody chose, without digits that nobody wrote.
  const given = (value, unit) => {
    const [factor, name] = scaleFor(value, unit);
    return `${trimmed(value * factor)}${NO_BREAK}${name}`;
  };

  const count = (value) => grouped(String(Math.round(value)));
  const counted = (value, noun) => `${count(value)}${NO_BREAK}${noun}${value === 1 ? "" : "s"}`;

  globalThis.Parshall = { ...globalThis.Parshall, numbers: { quantity, given, trimmed, count, counted, scaleFor } };
})();
