// Answers settings of the page without a server, as its worker does, for the tests of that page.
//
//   node playground.cjs FOLDER SIMULATOR.wasm.gz < {"limits": ..., "settings": [{"form": ..., "values": ...}]}
//
// FOLDER has the page's scripts. Of each setting a line: the tables that the fields give, and the page's answer with all records.
const { readFileSync, writeSync } = require("node:fs");
const { gunzipSync } = require("node:zlib");
const { join } = require("node:path");
const vm = require("node:vm");

const [folder, simulator] = process.argv.slice(2);
for (const name of ["numbers", "form", "finding", "drawing", "worker"]) {
  vm.runInThisContext(readFileSync(join(folder, `${name}.js`), "utf-8"), { filename: name });
}
const { form: forms, worker } = globalThis.Parshall;
const { limits, settings } = JSON.parse(readFileSync(0, "utf-8"));
worker.use(new WebAssembly.Instance(new WebAssembly.Module(gunzipSync(readFileSync(simulator)))).exports);
const write = (text) => {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length;) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
};

for (const { form, values } of settings) {
  let tables = null;
  try {
    tables = forms.filled(form, values);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  const result = tables && worker.simulated(tables.resolved, limits.mostEvents);
  write(`${JSON.stringify({ tables, result, answer: worker.answer({ form, values, width: 720, limits }) })}\n`);
}
