// The controls: native buttons, switch, slider and selects, all bound to the state.

import { h, setHidden, setText } from "../elements/dom.js";
import { stepCount } from "../store/steps.js";

const PLAYER_PAUSE = 4500;

function button(name, className, click) {
  return h("button", { type: "button", class: className, click, "data-control": name });
}

/** Back, Next, player, Start over and the residual switch: always in reach. */
export function createDock(context) {
  const { words, store } = context;
  const go = (change, origin) => store.set({ step: store.get().step + change }, origin);
  const player = createPlayer(context);
  const back = button("back", "button", () => go(-1, "back"));
  const next = button("next", "button button-main", () => go(+1, "next"));
  const start = button("start", "button button-quiet", () => store.set({ step: 1 }, "start"));
  const residual = createSwitch(context);
  const middle = h("div", { class: "dock-middle" });
  const element = h("section", { class: "dock" }, h("div", { class: "dock-inner" }, start, back, next, player.element, middle, residual.element));

  function update(state) {
    element.setAttribute("aria-label", words.say("controls"));
    setText(back, words.say("back"));
    setText(next, words.say("next"));
    setText(start, words.say("start_over"));
    // not `disabled`, which would take the focus away from who pressed it last
    back.setAttribute("aria-disabled", state.step === 1);
    next.setAttribute("aria-disabled", state.step === stepCount(state.depth));
    player.update(state);
    residual.update(state);
  }

  return { element, middle, start, update, remove: player.stop };
}

function createPlayer({ words, store, classroom }) {
  let timer = 0;
  const element = button("play", "button button-quiet", () => (timer ? stop() : start()));

  function start() {
    if (store.get().step === stepCount(store.get().depth)) store.set({ step: 1 }, "start");
    else store.set({ step: store.get().step + 1 }, "next");
    timer = setInterval(() => {
      const { step, depth } = store.get();
      if (step < stepCount(depth)) store.set({ step: step + 1 }, "player");
      else stop();
    }, PLAYER_PAUSE);
    update(store.get());
  }

  function stop() {
    clearInterval(timer);
    timer = 0;
    update(store.get());
  }

  function update() {
    setText(element, words.say(timer ? "pause" : "play"));
    element.setAttribute("aria-pressed", timer !== 0);
  }

  store.subscribe((_state, _previous, { origin, changed }) => {
    const left = changed.includes("view") || (changed.includes("step") && origin !== "player");
    if (timer && left) stop();
  });
  classroom?.subscribe(({ following }, _previous, { changed }) => {
    if (timer && following && changed.includes("following")) stop(); // back with the class
  });
  return { element, update, stop };
}

function createSwitch({ words, store }) {
  const name = h("span", { class: "switch-name" });
  const value = h("span", { class: "switch-value" });
  const flip = () => store.set({ residual: !store.get().residual }, "switch");
  const element = h(
    "button",
    { type: "button", role: "switch", class: "switch", click: flip, "data-control": "residual" },
    name,
    h("span", { class: "switch-track", "aria-hidden": "true" }, h("span", { class: "switch-knob" })),
    value,
  );

  function update(state) {
    setText(name, words.say("residual"));
    setText(value, words.say(state.residual ? "residual_on" : "residual_off"));
    element.setAttribute("aria-label", words.say("residual"));
    element.setAttribute("aria-checked", state.residual);
    setHidden(element, state.hide.includes("residual"));
  }

  return { element, update };
}

/** Depth, token and compare: what a learner sets now and then. */
export function createSettings(context) {
  const { words, store, table } = context;
  const depth = createSlider(context);
  const token = createSelect(
    table.tokens.map((_, i) => String(i)),
    (value) => store.set({ token: Number(value) }),
  );
  const compare = h("input", { type: "checkbox", change: () => store.set({ compare: compare.checked }) });
  const compareName = h("span", {});
  const compareLabel = h("label", { class: "setting setting-check" }, compare, compareName);
  const element = h("div", { class: "settings" }, depth.element, token.element, compareLabel);

  function update(state) {
    depth.update(state);
    token.update(words.say("token"), table.tokens, String(state.token));
    setHidden(token.element, state.hide.includes("token"));
    setText(compareName, words.say("compare"));
    compare.checked = state.compare;
    setHidden(compareLabel, state.hide.includes("compare"));
  }

  return { element, update };
}

function createSlider({ words, store, table }) {
  const input = h("input", {
    type: "range",
    min: 1,
    max: table.maxDepth,
    step: 1,
    input: () => store.set({ depth: Number(input.value) }),
    "data-control": "depth",
  });
  const name = h("span", {});
  const value = h("span", { class: "setting-value" }); // an <output> would be a live region more
  const element = h("label", { class: "setting setting-depth" }, name, input, value);

  function update(state) {
    const blocks = words.say("blocks", { count: state.depth });
    setText(name, words.say("depth"));
    setText(value, blocks);
    input.value = String(state.depth);
    input.setAttribute("aria-label", words.say("depth"));
    input.setAttribute("aria-valuetext", blocks);
    setHidden(element, state.hide.includes("depth"));
  }

  return { element, update };
}

/** A labelled native select; `update` gives its name, its options' texts and the value. */
export function createSelect(values, choose) {
  const select = h(
    "select",
    { change: () => choose(select.value) },
    ...values.map((value) => h("option", { value })),
  );
  const name = h("span", {});
  const element = h("label", { class: "setting" }, name, select);

  function update(label, texts, value) {
    setText(name, label);
    select.setAttribute("aria-label", label);
    texts.forEach((text, i) => setText(select.options[i], text));
    select.value = value;
  }

  return { element, update };
}
