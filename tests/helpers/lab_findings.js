// Looks at all outputs of a notebook that JupyterLab shows; contrast.js stands before it.
const panel = document.querySelector(".jp-NotebookPanel .jp-Notebook");
for (const folded of panel.querySelectorAll("details.kit-folded")) folded.open = true;
const outputs = [...panel.querySelectorAll(".jp-OutputArea-output")];
const viewers = [...panel.querySelectorAll(".kv")].map(kv => ({
  cards: [...kv.querySelectorAll(".c")].map(card => {
    const { left, top, right, bottom } = card.getBoundingClientRect();
    return { left, top, right, bottom, wide: card.style.gridColumn !== "" };
  }),
  contrasts: texts(kv).map(([text, element]) => [contrast(element), text]).sort((p, q) => p[0] - q[0]).slice(0, 5),
}));
const struck = outputs.flatMap(texts).filter(([, element]) => {
  for (let e = element; e && !e.matches(".jp-OutputArea-output"); e = e.parentElement) {
    if (getComputedStyle(e).textDecorationLine.includes("line-through")) return true;
  }
  return false;
}).map(([text]) => text);
const images = outputs.flatMap(output => [...output.querySelectorAll("img")]
  // Those within closed details are not drawn.
  .filter(image => !image.closest("details:not([open]) > :not(summary)"))
  .map(image => ({
    loaded: image.naturalWidth > 0,
    width: image.getBoundingClientRect().width,
    room: output.closest(".jp-OutputArea").getBoundingClientRect().width,
  })));
const shown = selector => [...document.querySelectorAll(selector)].map(element => element.innerText);
return {
  viewers, struck, images,
  tracebacks: outputs.map(o => o.innerText).filter(text => text.includes("Traceback (most recent call last)")),
  dialogs: [...shown(".jp-Dialog"), ...shown(".Toastify__toast")],
};
