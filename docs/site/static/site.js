// On paper the site is light, whatever the screen is.
(() => {
  "use strict";
  const page = document.documentElement;
  let theme;
  addEventListener("beforeprint", () => {
    theme = page.dataset.theme;
    page.dataset.theme = "light";
  });
  addEventListener("afterprint", () => { page.dataset.theme = theme; });
})();
