// The depth maps of the page: one, or in compare mode two side by side.

import { createDepthMap } from "./depth_map.js";
import { h, setHidden, setText } from "./dom.js";

/** The depth map of the state, or in compare mode one with and one without the residual. */
export function createMaps(context, onBlock) {
  const items = context.data.depth_maps;
  const single = createDepthMap(context, { residual: null, item: items[0], onBlock });
  const pair = []; // made when it is first shown
  const heading = h("h2", {});
  const both = h("div", { class: "maps-pair" });
  const element = h("section", { class: "maps", id: "map" }, heading, single.element, both);
  const all = () => [single, ...pair];
  let isMissed = false;

  /** Bokeh could not be loaded: say so where its pictures would be. */
  function miss() {
    isMissed = true;
    for (const map of all()) map.miss();
  }

  function update(state, previous, options) {
    setHidden(element, state.hide.includes("map"));
    element.setAttribute("aria-label", context.words.say("depth_map"));
    setText(heading, context.words.say("depth_map"));
    setHidden(single.element, state.compare);
    setHidden(both, !state.compare);
    if (state.compare && pair.length === 0) {
      pair.push(...[true, false].map((residual, i) => createDepthMap(context, { residual, item: items[i + 1], onBlock })));
      both.append(...pair.map((map) => map.element));
      if (isMissed) miss();
    }
    for (const map of state.compare ? pair : [single]) map.update(state, previous, options);
    if (previous && previous.theme !== state.theme) all().forEach((map) => map.recolour());
  }

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const recolour = () => all().forEach((map) => map.recolour());
  dark.addEventListener("change", recolour);
  return {
    element,
    update,
    miss,
    embed: () => Promise.all(all().map((map) => map.embed())),
    remove() {
      dark.removeEventListener("change", recolour);
      all().forEach((map) => map.remove());
    },
  };
}
