// The notebooks' viewers know JupyterLab's themes: tell them which of them this page has.
const root = document.body;
const tell = () => { root.dataset.jpThemeLight = String(root.dataset.mdColorScheme !== "slate"); };
new MutationObserver(tell).observe(root, { attributes: true, attributeFilter: ["data-md-color-scheme"] });
tell();
