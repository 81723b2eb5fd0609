// The page: every view made once, laid out, and told of each change of the state.

import { followAddress } from "./address.js";
import { createAnnouncer } from "./announce.js";
import { createChapters } from "./chapters.js";
import { createClassBar } from "./class_bar.js";
import { createClassroom } from "./class_follow.js";
import { createCompare } from "./compare.js";
import { createContext, THEME_KEY } from "./context.js";
import { createDock, createSettings } from "./controls.js";
import { h, setAttributes, setHidden } from "./dom.js";
import { createExperiments } from "./experiments.js";
import { createExplain } from "./explain.js";
import { createFloat } from "./float.js";
import { createInside } from "./inside.js";
import { listenToKeys } from "./keys.js";
import { createLab } from "./lab.js";
import { createLater } from "./later.js";
import { layOut } from "./layout.js";
import { createLinkBuilder } from "./link_builder.js";
import { loadAhead } from "./load_ahead.js";
import { createMaps } from "./maps.js";
import { createHelp, createMasthead } from "./masthead.js";
import { createNotice } from "./notice.js";
import { createLinks, createReading } from "./reading.js";
import { createServerLine } from "./server_link.js";
import { lastStepOf } from "./steps.js";
import { createSum } from "./sum.js";
import { createHome, createViewNav } from "./view_nav.js";
import { createStep } from "./walk.js";
import { createWirings } from "./wirings.js";

// what changes the lesson's parts only, and what changes nothing of the lesson
const WALK = ["step", "depth", "token", "residual"];
const ELSEWHERE = ["lab", "experiment", "connected"];

/**
 * Make the page inside `host` (an element of a document or of a shadow root).
 *
 * options: {language, servedLanguage, state, address: whether the address bar is this page's own,
 * server: whether one is expected, home: where the list of lessons is}.
 */
export function createPage(host, data, options) {
  const context = createContext(data, options);
  const { store } = context;
  const root = h("div", { class: context.room ? "residual-stream is-class" : "residual-stream" });
  context.toMain = () => main.focus({ preventScroll: true });
  context.toLesson = () => views.step.element.scrollIntoView({ block: "nearest" });
  context.help = createHelp(context);
  context.float = createFloat(root);
  context.onLink = createLinks(context);
  context.classroom = context.room && createClassroom(context, context.room);
  const explain = createExplain(root, context, context.float);
  context.prepareNumbers = explain.update;
  const views = createViews(context);
  const main = layOut(root, views, context);
  host.replaceChildren(root);

  const { masthead, help, nav, notice, skip, chapters, step, scene, dock, settings, map, inside, sum, reading, ...others } = views;
  const frame = [masthead, help, nav, notice, skip]; // the same at each step of the walk
  const lesson = [chapters, step, scene, dock, settings];
  const numbers = { update: explain.update };
  const later = createLater([map, inside, sum, reading, numbers]);
  const update = (state, previous, change = {}) => {
    context.words.language = state.language;
    const isOnly = (keys) => previous !== null && change.changed.every((key) => keys.includes(key));
    const [walks, elsewhere] = [isOnly(WALK), isOnly(ELSEWHERE)];
    if (!walks) dress(root, state, options, data.lesson.title);
    const motion = moves(state, previous, change);
    context.motion.stop();
    const told = [...(walks || elsewhere ? [] : frame), ...(elsewhere ? [] : lesson), ...Object.values(others), numbers];
    for (const view of told) view.update(state, previous, { motion });
    if (!elsewhere) later.update(state, previous, { motion });
    if (previous === null) map.update(state, null); // its frame keeps its place from the start
    if (change.changed?.some((key) => WALK.includes(key))) context.float.close();
  };
  update(store.get(), null);
  store.subscribe(update);
  if (options.address) {
    context.address.write();
    context.leave.push(followAddress(context, views.notice.tell));
  }
  context.classroom?.start();
  const leaveKeys = listenToKeys(options.address ? document : root, keyActions(context));
  const remove = () => {
    leaveKeys();
    context.leave.forEach((leave) => leave());
    [context.address, context.float, explain, views.chapters, views.dock, views.map, views.lab, views.links, views.server, context.classroom, later].forEach((part) => part?.remove?.());
  };
  const { table, asking } = context;
  return { root, store, table, views, asking, embed: views.map.embed, loadAhead: () => context.leave.push(loadAhead(context.load)), settle: later.settle, remove };
}

function createViews(context) {
  const goTo = (block) => context.store.set({ step: block === 0 ? 1 : lastStepOf(block) }, "map");
  const announcer = createAnnouncer(context); // before the views that speak through it
  const nav = createViewNav(context);
  return {
    masthead: createMasthead(context, nav),
    help: context.help,
    nav,
    notice: createNotice(context),
    server: createServerLine(context),
    ...(context.classroom && { classBar: createClassBar(context) }),
    chapters: createChapters(context),
    step: createStep(context),
    scene: createCompare(context),
    dock: createDock(context),
    settings: createSettings(context),
    inside: createInside(context),
    map: createMaps(context, goTo),
    sum: createSum(context),
    reading: createReading(context),
    experiments: createWhenShown(context, "experiments", createExperiments),
    wirings: createWhenShown(context, "wirings", createWirings),
    lab: createWhenShown(context, "lab", createLab),
    links: createWhenShown(context, "links", createLinkBuilder),
    home: createHome(context),
    announcer,
  };
}

/** A part of the page that is made when it is first opened. */
function createWhenShown(context, name, create) {
  const element = h("div", { class: "view" });
  let view = null;
  const update = (state, previous) => {
    setHidden(element, state.view !== name);
    if (view === null && element.hidden) return;
    view ??= create(context);
    if (!view.element.isConnected) element.append(view.element);
    view.update(state, previous);
  };
  return { element, update, remove: () => view?.remove?.() };
}

/** The parts of the state that the whole page wears. */
function dress(root, state, options, titles) {
  setAttributes(root, { lang: state.language, "data-theme": state.theme });
  root.classList.toggle("is-projector", state.projector);
  root.classList.toggle("is-compare", state.compare);
  if (!options.address) return;
  setAttributes(document.documentElement, { lang: state.language, "data-theme": state.theme });
  if (document.title !== titles[state.language]) document.title = titles[state.language];
  document.documentElement.classList.toggle("is-projector", state.projector);
  try {
    localStorage.setItem(THEME_KEY, state.theme);
  } catch {
    // a page without storage keeps the theme for this visit
  }
}

/** Only Next, the player by one step, and the switch move; everything else is just there. */
function moves(state, previous, { origin, changed }) {
  if (!previous || !changed) return false;
  const forward = changed.join() === "step" && state.step === previous.step + 1;
  return changed.join() === "residual" || (forward && ["next", "player", "key", "class"].includes(origin));
}

function keyActions({ store, help }) {
  // a control that the address takes away has no key either
  const inLesson = (change, origin, control) => {
    const state = store.get();
    if (state.view === "lesson" && !state.hide.includes(control)) store.set(change(state), origin);
  };
  return {
    next: () => inLesson(({ step }) => ({ step: step + 1 }), "key"),
    back: () => inLesson(({ step }) => ({ step: step - 1 }), "back"),
    start: () => inLesson(() => ({ step: 1 }), "start"),
    residual: () => inLesson(({ residual }) => ({ residual: !residual }), "switch", "residual"),
    depth: (change) => inLesson(({ depth }) => ({ depth: depth + change }), "key", "depth"),
    projector: () => store.set({ projector: !store.get().projector }, "key"),
    help: () => help.open(),
  };
}
