// Returns what doesn't fit into the window of a page, and the texts with too little contrast, as sentences.
(() => {
  const width = document.documentElement.clientWidth;
  const faults = new Set();

  const parents = (element) => {
    const result = [];
    for (let parent = element; parent; parent = parent.parentElement) result.push(parent);
    return result;
  };
  const name = (element) => element.tagName.toLowerCase() + [...element.classList].map((label) => `.${label}`).join("");
  const where = (element, text) => {
    const path = parents(element).slice(0, 3).reverse().map(name).join(" > ");
    return `${path}: ${text.trim().slice(0, 40)}`;
  };

  const isVisible = (element) => element.checkVisibility({ visibilityProperty: true });
  // The theme keeps these outside of the window until they are needed: both drawers, and two links.
  const isPutAside = (element) => {
    const aside = element.closest(".sidebar-drawer, .toc-drawer, .skip-to-content, .back-to-top");
    return aside && ["fixed", "absolute"].includes(getComputedStyle(aside).position);
  };
  // With sideways scrolling of the whole article, the theme hides that something is too wide.
  const scrolls = (element) => {
    if (element.matches("html, body, .content")) return false;
    return ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
  };

  const colour = (text) => {
    const numbers = text.match(/[\d.]+/g).map(Number);
    return { rgb: numbers.slice(0, 3), alpha: numbers[3] ?? 1 };
  };
  const over = (top, alpha, bottom) => top.map((value, index) => value * alpha + bottom[index] * (1 - alpha));
  const luminance = (rgb) => {
    const [red, green, blue] = rgb.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  // https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio
  const contrast = (element) => {
    let background = getComputedStyle(document.body).colorScheme === "dark" ? [0, 0, 0] : [255, 255, 255];
    let opacity = 1;
    for (const parent of parents(element).reverse()) {
      const style = getComputedStyle(parent);
      const fill = colour(style.backgroundColor);
      background = over(fill.rgb, fill.alpha, background);
      opacity *= Number(style.opacity);
    }
    const text = colour(getComputedStyle(element).color);
    const luminances = [over(text.rgb, text.alpha * opacity, background), background].map(luminance);
    return (Math.max(...luminances) + 0.05) / (Math.min(...luminances) + 0.05);
  };

  const fits = (element) => {
    const box = element.getBoundingClientRect();
    return !box.width || !box.height || (box.left > -1 && box.right < width + 1);
  };

  if (document.documentElement.scrollWidth > width) {
    faults.add(`the page is ${document.documentElement.scrollWidth} px wide`);
  }
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    if (!data.trim() || !isVisible(parentElement)) continue;
    const ratio = contrast(parentElement);
    if (ratio < 4.5) faults.add(`contrast ${ratio.toFixed(2)} of ${where(parentElement, data)}`);
  }
  for (const element of document.body.querySelectorAll("*")) {
    if (fits(element) || !fits(element.parentElement) || !isVisible(element)) continue;
    if (isPutAside(element) || parents(element.parentElement).some(scrolls)) continue;
    const { left, right } = element.getBoundingClientRect();
    faults.add(`from ${Math.round(left)} to ${Math.round(right)} px: ${where(element, element.textContent)}`);
  }
  return [...faults];
})()
