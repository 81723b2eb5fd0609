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

/**
 * Set attributes; null takes one away, true sets it empty, a function listens. What is the
 * same already is left: a browser may style the whole page anew for a language set again.
 */
export function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === null || value === false) element.removeAttribute(name);
    else setAttribute(element, name, value === true ? "" : String(value));
  }
}

function setAttribute(element, name, text) {
  if (element.getAttribute(name) !== text) element.setAttribute(name, text);
}

/** Give an element so many children: what is there stays, `make` adds what is missing. */
export function resize(parent, count, make) {
  while (parent.childElementCount > count) parent.lastElementChild.remove();
  parent.append(...Array.from({ length: count - parent.childElementCount }, make));
}

/** Hide an element or show it, only if it isn't so already. */
export function setHidden(element, isHidden) {
  if (element.hidden !== isHidden) element.hidden = isHidden;
}

/** Change an element's text only if it is another, and in its place, so that nothing is laid out in vain. */
export function setText(element, text) {
  const only = element.childNodes.length === 1 ? element.firstChild : null;
  if (only?.nodeType !== Node.TEXT_NODE || text === "") {
    if (element.textContent !== text) element.textContent = text;
  } else if (only.data !== text) only.data = text;
}
