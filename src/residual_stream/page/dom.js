// Elements without markup strings: nothing that comes from outside is ever parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

/** An HTML element: h("p", {class: "note"}, "text", child). Functions become listeners. */
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** An SVG element, in the same way. */
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  setAttributes(element, attributes);
  element.append(...children.flat().filter((child) => child !== null));
  return element;
}

/** Set attributes; null takes one away, true sets it empty, a function listens. */
export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === null || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** Change an element's text only if it is another, so that nothing repaints in vain. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
