// Looks at a page of the site; contrast.js stands before it.
for (const folded of document.querySelectorAll("details")) folded.open = true;
const drawn = texts(document.querySelector(".md-main")).filter(([, element]) => {
  const { width, height } = element.getBoundingClientRect();
  const seen = element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  return seen && width > 1 && height > 1 && !element.closest("svg, math, .md-search");
});
return {
  faint: drawn.map(([text, element]) => [contrast(element), text, element.outerHTML.slice(0, 150)]).filter(([found]) => found < 4.5).slice(0, 5),
  texts: drawn.length,
  wide: document.documentElement.scrollWidth,
  missing: [...document.images].filter(one => one.complete && !one.naturalWidth).map(one => one.getAttribute("src").slice(0, 80)),
};
