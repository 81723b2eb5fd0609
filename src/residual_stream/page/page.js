// The page: every view made once, laid out, and told of each change of the state.

import { createClassBar, createFoot } from "./class/bar.js";
import { createClassroom } from "./class/follow.js";
import { loadAhead } from "./class/room.js";
import { createContext, THEME_KEY } from "./context.js";
import { createMaps } from "./depth_map/depth_map.js";
import { createLater } from "./elements/after_paint.js";
import { h, setAttributes, setHidden, setText } from "./elements/dom.js";
import { createFloat } from "./elements/floating_panel.js";
import { createExperiments } from "./experiments/experiments.js";
import { createLab } from "./lab/lab.js";
import { createLinkBuilder } from "./links/builder.js";
import { createExplain } from "./scene/explain.js";
import { createAnnouncer, createNotice } from "./shell/announcements.js";
import { createDock, createSettings } from "./shell/controls.js";
import { listenToKeys } from "./shell/keys.js";
import { createHelp, createHome, createMasthead, createViewNav } from "./shell/masthead.js";
import { followAddress } from "./store/address.js";
import { createServerLine } from "./store/server_link.js";
import { lastStepOf } from "./store/steps.js";
import { createSum } from "./sum/sum.js";
import { createChapters } from "./walk/chapters.js";
import { createCompare } from "./walk/compare.js";
import { createLinks, createReading } from "./walk/reading.js";
import { createInside } from "./walk/step_matrices.js";
import { createStep } from "./walk/walk.js";
import { createWirings } from "./wirings/wirings.js";

// Where the parts of the page stand, on screens of every width.

/** Put the views into the page; returns its main part. */
function layOut(root, views, context) {
  const skip = h("a", { class: "skip", href: "#step", click: (event) => {
    event.preventDefault();
    views.step.element.focus();
  } });
  const sayings = { update: () => setText(skip, context.words.say("skip_to_lesson")) };
  views.skip = { ...sayings, element: skip };
  const stage = h("div", { class: "stage" }, views.step.element, views.scene.element);
  const lesson = h("div", { class: "view" }, views.chapters.element, stage, views.map.element, views.inside.element, views.sum.element, views.reading.element);
  const main = h("main", { tabindex: context.classroom ? -1 : null }, lesson, views.experiments.element, views.wirings.element, views.lab.element, views.links.element);
  views.shown = {
    update(state) {
      setHidden(lesson, state.view !== "lesson");
      setHidden(views.dock.element, state.view !== "lesson");
    },
  };
  placeSettings(context, views, stage);
  root.prepend(skip, views.masthead.element, views.notice.element, main, views.home.element, createFoot(views), views.server.element, views.announcer.element, views.help.element);
  return main;
}

/** The settings stand in the dock where it is wide enough, else below the picture; on a phone Start over is with them. */
function placeSettings(context, { dock, settings }, stage) {
  const [wide, narrow] = ["(min-width: 72rem)", "(max-width: 40rem)"].map((width) => matchMedia(width));
  const first = dock.start.parentElement;
  const move = () => {
    if (wide.matches) dock.middle.append(settings.element);
    else stage.after(settings.element);
    if (narrow.matches) settings.element.append(dock.start);
    else first.prepend(dock.start);
  };
  for (const width of [wide, narrow]) {
    width.addEventListener("change", move);
    context.leave.push(() => width.removeEventListener("change", move));
  }
  move();
}

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
