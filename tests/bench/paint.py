"""The scripts that measure in the browser, for the page and for the naive app."""

CONTROLS = ("step", "token", "depth", "residual", "language")

# resolves when either app is live and the browser has nothing left to draw
READY = """async () => {
  const idle = () => globalThis.Bokeh?.documents.length
    && Bokeh.documents.every((document) => document.is_idle);
  const ours = globalThis.ResidualStream;
  const live = async () => ours === undefined ? idle()
    : idle() && (await ours.page).asking.hasServer();
  const end = performance.now() + 30000;
  while (!(await live()) && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}"""

# ms from the navigation to the first picture and to all live
LOAD = f"""async () => {{
  await ({READY})();
  const live = performance.now();
  const at = (name) => performance.getEntriesByName(name)[0]?.startTime;
  return [at("first-picture") ?? at("first-contentful-paint") ?? live, live];
}}"""

# how each control is used, there and back
USE = """const use = (control, turn) => {
  const root = document.querySelector(".residual-stream");
  const at = (name) => root.querySelector(`[data-control=${name}]`);
  const choose = (select, value, type) => {
    select.value = value;
    select.dispatchEvent(new Event(type, {bubbles: true}));
  };
  const [language, token] = [root.querySelector(".masthead select"),
    [...root.querySelectorAll(".settings select")][0]];
  ({
    step: () => at(Math.floor(turn / 15) % 2 ? "back" : "next").click(),
    token: () => choose(token, String(turn % 4), "change"),
    depth: () => choose(at("depth"), 1 + turn % 12, "input"),
    residual: () => at("residual").click(),
    language: () => choose(language, turn % 2 ? "en" : "ja", "change"),
  })[control]();
};"""

# `painted` is asked for before the change, so that its frame is the one that shows it
# and what follows after the paint is not counted; `rest` comes at another place in the
# screen's beat each time
FRAMES = """const painted = () => new Promise((resolve) =>
  requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = resolve;
    channel.port2.postMessage(null);
  }));
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const rest = async () => {
  await new Promise((resolve) => requestIdleCallback(resolve, {timeout: 1000}));
  await pause(20 + 17 * Math.random());
};"""

# from the click to the end of the frame that paints it: text, picture and controls, and
# to the one that paints the parts which follow, the depth map with them
PAINT = f"""async ([control, count]) => {{
  {USE}
  {FRAMES}
  const times = [];
  for (let turn = 0; turn < count + 3; turn++) {{
    await rest();
    const frame = painted();
    const start = performance.now();
    use(control, turn);
    await frame;
    const first = performance.now() - start;
    await pause(0);
    await painted();
    if (turn >= 3) times.push([first, performance.now() - start]);
  }}
  return times;
}}"""

# every option of every experiment, once: from the press to the answer's picture
ANSWERS = f"""async () => {{
  {FRAMES}
  const find = (selector) => document.querySelector(selector);
  const times = [];
  const count = document.querySelectorAll(".experiments-open").length;
  for (let i = 0; i < count; i++) {{
    document.querySelectorAll(".experiments-open")[i].click();
    const options = document.querySelectorAll(".experiments-choices input").length;
    for (let k = 0; k < options; k++) {{
      document.querySelectorAll(".experiments-choices input")[k].click();
      await rest();
      const frame = painted();
      const start = performance.now();
      find(".experiments-go button").click();
      await frame;
      times.push(performance.now() - start);
      if (!find(".experiments-answer h3")) throw new Error("no answer");
    }}
    find(".experiments-back").click();
    await rest();
  }}
  return times;
}}"""

# the lab at about a depth: from the end of the form's rest to the new numbers' picture
LAB = f"""async ([depth, count]) => {{
  {FRAMES}
  const find = (selector) => document.querySelector(selector);
  const slider = find("[data-control=lab-depth]");
  const status = find(".lab-status");
  const times = [];
  for (let turn = 0; turn < count + 2; turn++) {{
    await rest();
    const said = status.textContent;
    const answered = new Promise((resolve) => {{
      const watch = new MutationObserver(() => {{
        if (status.textContent === said) return;
        watch.disconnect();
        resolve();
      }});
      watch.observe(status, {{childList: true, characterData: true, subtree: true}});
    }});
    const start = performance.now();
    slider.value = depth - turn % 2;
    slider.dispatchEvent(new Event("input", {{bubbles: true}}));
    await answered;
    await painted();
    if (turn >= 2) times.push(performance.now() - start);
  }}
  return times;
}}"""

# the naive app's state is written in its text, somewhere in its shadow roots
NAIVE_USE = """const models = Object.fromEntries(
    ["step", "depth", "residual", "token", "language"].map((name) =>
      [name, [...Bokeh.documents[0]._all_models.values()].find((one) =>
        "active" in one ? name === "residual"
          : "value" in one && one.title === name)]));
const values = {step: (n) => 2 + n % 6, depth: (n) => 3 + n % 6,
  residual: (n) => n % 2 === 1, token: (n) => String(n % 3),
  language: (n) => n % 2 ? "en" : "ja"};
const use = (control, turn) => {
  const model = models[control];
  const value = values[control](turn);
  if ("active" in model) model.active = value;
  else model.value = value;
};
const said = (root = document) => {
  for (const one of root.querySelectorAll("*")) {
    if (one.tagName === "CODE" && one.textContent.startsWith("state ")) {
      return one.textContent;
    }
    const inner = one.shadowRoot && said(one.shadowRoot);
    if (inner) return inner;
  }
  return "";
};
const frame = () => new Promise(requestAnimationFrame);
const changed = async (before) => {
  const end = performance.now() + 15000;
  while (["", before].includes(said()) && performance.now() < end) await frame();
  await frame();
};"""

NAIVE_PAINT = f"""async ([control, count]) => {{
  {NAIVE_USE}
  const times = [];
  for (let turn = 0; turn < count + 1; turn++) {{
    const before = said();
    const start = performance.now();
    use(control, turn);
    await changed(before);
    if (turn >= 1) times.push(performance.now() - start);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }}
  return times;
}}"""

# changes with a pause between them, so that each is sent on its own
BUSY = f"""async ([naive, count]) => {{
  if (naive) {{
    {NAIVE_USE}
    for (let turn = 0; turn < count; turn++) {{
      const before = said();
      use("step", turn);
      await changed(before);
    }}
    return;
  }}
  {USE}
  for (let turn = 0; turn < count; turn++) {{
    use("step", turn);
    await new Promise((resolve) => setTimeout(resolve, 230));
  }}
}}"""
