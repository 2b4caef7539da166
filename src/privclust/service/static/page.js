// Times as they are here, a menu on small screens, pages that look again, and text to be copied.
"use strict";
(() => {
  const menu = document.querySelector("[data-menu]");
  if (menu) {
    menu.hidden = false; // without a script all links are there
    menu.addEventListener("click", () => {
      menu.setAttribute("aria-expanded", String(menu.getAttribute("aria-expanded") === "false"));
    });
  }

  for (const time of document.querySelectorAll("time[data-local]")) {
    const moment = new Date(time.dateTime);
    time.title = time.textContent;
    time.textContent = moment.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  }

  const waiting = document.querySelector("[data-refresh], [data-refresh-at]");
  if (waiting) {
    const { refresh, refreshAt } = waiting.dataset;
    // Not all at the same moment, and never at once: a clock may be wrong.
    const seconds = refresh ? Number(refresh) : Number(refreshAt) - Date.now() / 1000 + 1;
    setTimeout(() => location.reload(), 1000 * Math.min(Math.max(seconds, 2), 3600) + 1500 * Math.random());
  }

  for (const button of document.querySelectorAll("[data-copy]")) {
    if (!navigator.clipboard) continue;
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.previousElementSibling.textContent);
      button.textContent = "Copied";
    });
  }
})();
