// The notebooks' viewers know JupyterLab's themes: tell them which of them this page has.
const root = document.body;
const tell = () => { root.dataset.jpThemeLight = String(root.dataset.mdColorScheme !== "slate"); };
new MutationObserver(tell).observe(root, { attributes: true, attributeFilter: ["data-md-color-scheme"] });
tell();
// The search fetches its index, which browsers don't allow a page that is opened from a folder: there it has no search.
if (location.protocol === "file:") {
  for (const part of document.querySelectorAll(".md-search, label[for=__search]")) part.remove();
}
