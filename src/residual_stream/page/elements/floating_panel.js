// One small panel that floats beside what it explains; Escape closes it.

import { h } from "./dom.js";

const GAP = 8;

/** `open(anchor, content, {label, pin})` shows it; a pinned one stays until it is closed. */
export function createFloat(host) {
  const element = h("div", { class: "float", role: "dialog", hidden: true, tabindex: -1 });
  host.append(element);
  let anchor = null;
  let pinned = false;
  let givingBack = false;

  function open(at, content, { label, pin = false }) {
    anchor = at;
    pinned = pin;
    element.setAttribute("aria-label", label);
    element.classList.toggle("is-pinned", pin);
    element.replaceChildren(...content);
    element.hidden = false;
    place();
  }

  function place() {
    if (!anchor) return;
    const at = anchor.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = element;
    const room = document.documentElement.clientWidth;
    const left = Math.max(GAP, Math.min(at.left + at.width / 2 - width / 2, room - width - GAP));
    const below = at.bottom + GAP + height <= window.innerHeight;
    const top = below ? at.bottom + GAP : Math.max(GAP, at.top - GAP - height);
    element.style.left = `${left}px`;
    element.style.top = `${top}px`;
  }

  function close({ giveBack = false } = {}) {
    if (element.hidden) return;
    const held = anchor;
    element.hidden = true;
    anchor = null;
    pinned = false;
    if (!giveBack) return;
    // whoever explains what has the focus must not open again what was just closed
    givingBack = true;
    held?.focus();
    givingBack = false;
  }

  const onKey = (event) => {
    if (event.key !== "Escape" || element.hidden) return;
    close({ giveBack: element.contains(event.composedPath()[0]) });
  };
  const onPress = (event) => {
    const path = event.composedPath();
    if (!element.hidden && !path.includes(element) && !path.includes(anchor)) close();
  };
  // on the document: under the pointer it is open while the focus is anywhere
  document.addEventListener("keydown", onKey);
  document.addEventListener("pointerdown", onPress);
  // captured, since the scrolling of a box inside the page does not bubble
  window.addEventListener("scroll", place, { passive: true, capture: true });
  window.addEventListener("resize", place);

  return {
    element,
    open,
    close,
    isOpen: () => !element.hidden,
    isPinned: () => pinned && !element.hidden,
    isGivingBack: () => givingBack,
    anchor: () => anchor,
    remove() {
      document.removeEventListener("keydown", onKey);
      document.removeEventListener("pointerdown", onPress);
      window.removeEventListener("scroll", place, { capture: true });
      window.removeEventListener("resize", place);
      element.remove();
    },
  };
}
