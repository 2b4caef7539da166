/* Excerpts of found pages, when the site is opened from disk: a browser then lets no page read
   another, so the search is given the texts that were written when the site was built. */
if (location.protocol === "file:") {
  const fetchElsewhere = window.fetch;
  window.fetch = (address, ...options) => {
    const root = new URL(document.documentElement.dataset.content_root, location.href).href;
    const page = new URL(address, location.href).href;
    const name = page.startsWith(root) ? page.slice(root.length).replace(/\.html$/, "") : null;
    if (name === null || !(name in window.PAGE_TEXTS)) return fetchElsewhere(address, ...options);
    const main = document.createElement("div");
    main.setAttribute("role", "main");
    main.textContent = window.PAGE_TEXTS[name];
    return Promise.resolve(new Response(main.outerHTML));
  };
}
