// Filters the list while one types, and shows a chosen metric at once.
(() => {
  "use strict";
  const filter = document.getElementById("filter");
  filter?.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of document.querySelectorAll("#list tbody tr")) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      if (!row.hidden) shown += 1;
    }
    document.getElementById("count").textContent = `${shown} results`;
  });
  const chooser = document.getElementById("chooser");
  chooser?.addEventListener("change", () => chooser.requestSubmit());
})();
