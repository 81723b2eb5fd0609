// What the address said that could not be used.

import { h, setText } from "./dom.js";

/** What in the link was not usable: one line each, gone when the learner closes it. */
export function createNotice({ words, faults, defaults, table }) {
  const list = h("ul", {});
  const close = h("button", { type: "button", class: "button button-small", click: () => (element.hidden = true) });
  const element = h("div", { class: "notice", role: "alert", hidden: faults.length === 0 }, list, close);
  const shown = { ...defaults, token: table.tokens[defaults.token], residual: defaults.residual ? "on" : "off", lang: defaults.language };

  let told = faults;

  function update() {
    if (told.length === 0) return;
    const lines = told.map(({ key, value, needed, allowed }) => {
      const need = words.say(needed, { allowed });
      const fallback = typeof shown[key] === "boolean" ? Number(shown[key]) : String(shown[key]) || "–";
      return words.say("url_bad", { key, value, needed: need, default: fallback });
    });
    if (list.childElementCount !== lines.length) list.replaceChildren(...lines.map(() => h("li", {})));
    lines.forEach((line, i) => setText(list.children[i], line));
    setText(close, words.say("help_close"));
  }

  /** In place of what was told before. */
  function tell(now) {
    told = now;
    update();
    element.hidden = now.length === 0;
  }

  return { element, update, tell };
}
