// What the worker does with what the page sends: load the simulator once, then answer.
addEventListener("message", async ({ data }) => {
  try {
    if (data.simulator) {
      await globalThis.Parshall.worker.load(data.simulator);
      postMessage({ loaded: true });
    } else {
      postMessage(globalThis.Parshall.worker.answer(data));
    }
  } catch (error) {
    postMessage({ failed: `The simulator failed (${error.message}). Load the page again.` });
  }
});
