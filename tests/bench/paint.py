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
  const mark = performance.getEntriesByName("first-picture")[0]
    ?? performance.getEntriesByName("first-contentful-paint")[0];
  return [mark?.startTime ?? live, live];
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

# from the click's task to the end of the frame that paints it
PAINT = f"""async ([control, count]) => {{
  {USE}
  const painted = () => new Promise((resolve) => requestAnimationFrame(() => {{
    const channel = new MessageChannel();
    channel.port1.onmessage = resolve;
    channel.port2.postMessage(null);
  }}));
  const times = [];
  for (let turn = 0; turn < count + 3; turn++) {{
    await new Promise((resolve) => setTimeout(resolve, 20 + 17 * Math.random()));
    const start = performance.now();
    use(control, turn);
    await painted();
    if (turn >= 3) times.push(performance.now() - start);
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
