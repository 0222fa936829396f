// What a text's contrast is, and which texts are drawn: for scripts that look at a page.
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
