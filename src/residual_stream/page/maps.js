// The depth maps of the page: one, or in compare mode two side by side.

import { createDepthMap } from "./depth_map.js";
import { h, setText } from "./dom.js";

/** The depth map of the state, or in compare mode one with and one without the residual. */
export function createMaps(context, onBlock) {
  const items = context.data.depth_maps;
  const single = createDepthMap(context, { residual: null, item: items[0], onBlock });
  const pair = [true, false].map((residual, i) => createDepthMap(context, { residual, item: items[i + 1], onBlock }));
  const heading = h("h2", {});
  const both = h("div", { class: "maps-pair" }, ...pair.map((map) => map.element));
  const element = h("section", { class: "maps", id: "map" }, heading, single.element, both);
  const all = [single, ...pair];

  function update(state, previous, options) {
    element.hidden = state.hide.includes("map");
    element.setAttribute("aria-label", context.words.say("depth_map"));
    setText(heading, context.words.say("depth_map"));
    single.element.hidden = state.compare;
    both.hidden = !state.compare;
    for (const map of state.compare ? pair : [single]) map.update(state, previous, options);
    if (previous && previous.theme !== state.theme) all.forEach((map) => map.recolour());
  }

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const recolour = () => all.forEach((map) => map.recolour());
  dark.addEventListener("change", recolour);
  return {
    element,
    update,
    embed: () => Promise.all(all.map((map) => map.embed())),
    remove() {
      dark.removeEventListener("change", recolour);
      all.forEach((map) => map.remove());
    },
  };
}
