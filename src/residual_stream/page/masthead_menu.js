// On a phone the head is one line: what isn't needed at each step waits in a menu.

import { h, setText } from "./dom.js";

/**
 * Move `parts` into a native disclosure at the end of `tools` while the screen is narrow,
 * and each back to where it stood when it is wide. Escape, a press beside it and a way to
 * another part of the page close it.
 */
export function createMastheadMenu({ words, leave }, tools, parts) {
  const name = h("summary", { class: "button button-quiet" });
  const panel = h("div", { class: "masthead-menu-panel" });
  const element = h("details", { class: "masthead-menu" }, name, panel);
  const places = parts.map((part) => {
    const place = document.createComment("");
    part.before(place);
    return place;
  });

  const move = () => {
    if (narrow.matches) {
      panel.append(...parts);
      tools.append(element);
    } else {
      parts.forEach((part, i) => places[i].after(part));
      element.remove();
    }
  };
  const close = () => element.removeAttribute("open");
  const onKey = (event) => {
    if (event.key !== "Escape" || !element.open) return;
    close();
    name.focus();
  };
  const onPress = (event) => {
    if (!event.composedPath().includes(element)) close();
  };
  const narrow = matchMedia("(max-width: 40rem)");
  narrow.addEventListener("change", move);
  element.addEventListener("keydown", onKey);
  panel.addEventListener("click", (event) => event.composedPath().some((at) => at instanceof HTMLAnchorElement) && close());
  document.addEventListener("pointerdown", onPress);
  leave.push(() => {
    narrow.removeEventListener("change", move);
    document.removeEventListener("pointerdown", onPress);
  });
  move();
  return { update: () => setText(name, words.say("menu")) };
}
