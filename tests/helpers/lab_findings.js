() => {
  const panel = document.querySelector(".jp-NotebookPanel .jp-Notebook");
  for (const folded of panel.querySelectorAll("details.kit-folded")) folded.open = true;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  // Any CSS colour as [r, g, b, alpha], alpha from 0 to 1.
  const rgba = colour => {
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, alpha, below) => below.map((value, i) => top[i] * alpha + value * (1 - alpha));
  const luminance = colour => {
    const [r, g, b] = colour.map(v => v / 255).map(v => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = element => {
    const chain = [];
    for (let e = element; e; e = e.parentElement) chain.unshift(e);
    let background = [255, 255, 255], opacity = 1;
    for (const e of chain) {
      const style = getComputedStyle(e);
      opacity *= parseFloat(style.opacity);
      const [r, g, b, a] = rgba(style.backgroundColor);
      background = over([r, g, b], a * opacity, background);
    }
    const [r, g, b, a] = rgba(getComputedStyle(element).color);
    const [x, y] = [over([r, g, b], a * opacity, background), background].map(luminance).sort((p, q) => q - p);
    return (x + 0.05) / (y + 0.05);
  };
  const texts = root => {
    const found = [], walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const parent = node.parentElement;
      if (node.data.trim() && parent && !parent.closest("style, script, details:not([open]) > :not(summary)")) {
        found.push([node.data.trim().slice(0, 40), parent]);
      }
    }
    return found;
  };
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
}
