// Where the page starts: at once in a page of its own, or when Panel renders it.

import { openClassRoom } from "./class/room.js";
import { afterPaint } from "./elements/after_paint.js";
import { createPage } from "./page.js";
import { linkToServer } from "./store/server_link.js";

// Bokeh, Panel and what starts them: written into the page as text, run after its first picture.

/**
 * Run the page's waiting scripts, one after another, once the page is read to its end: on a
 * slow line the first picture stands while a script's text still arrives.
 *
 * onEach: called after each of them.
 * @throws if one cannot be loaded; those after it are not run
 */
async function runLateScripts(onEach) {
  await pageRead();
  for (const waiting of document.querySelectorAll("script[data-late]")) {
    const script = document.createElement("script");
    script.nonce = waiting.nonce;
    if (waiting.dataset.src) await loaded(Object.assign(script, { src: waiting.dataset.src }), waiting);
    else {
      script.textContent = waiting.textContent;
      waiting.replaceWith(script);
    }
    onEach();
  }
}

const pageRead = () =>
  new Promise((resolve) => {
    if (document.readyState !== "loading") resolve();
    else document.addEventListener("DOMContentLoaded", resolve, { once: true });
  });

function loaded(script, waiting) {
  return new Promise((resolve, reject) => {
    script.onload = resolve;
    script.onerror = () => reject(new Error(`not loaded: ${script.src}`));
    waiting.replaceWith(script);
  });
}

const HOST_ID = "residual-stream-lesson";

const languageOf = (wanted) => wanted || (/^ja\b/i.test(navigator.language) ? "ja" : "en");

const DATA_PAUSES = [1000, 2000, 4000, 8000]; // ms

/** The page's data. On a bad line it is asked for again: without it there is no page. */
async function fetchData(source) {
  for (const pause of DATA_PAUSES) {
    try {
      return await (await fetch(source)).json();
    } catch {
      // a whole class that was refused must not come back in one moment
      await new Promise((resolve) => setTimeout(resolve, pause * (0.5 + Math.random())));
    }
  }
  return (await fetch(source)).json();
}

/** Without its data a page has no texts: one line of its markup, in both languages, says what to do. */
function sayThatNothingCame(error) {
  const line = document.getElementById(`${HOST_ID}-failed`);
  line.setAttribute("role", "alert"); // only now: a page that came has one place that speaks
  line.hidden = false;
  throw error;
}

/** Build the page in its place from data that is in the page or beside it. */
async function start(host) {
  const room = openClassRoom(host.dataset.class); // first of all: it may take a key out of the address
  const inline = document.getElementById(`${HOST_ID}-data`);
  const data = inline ? JSON.parse(inline.textContent) : await fetchData(host.dataset.source);
  if (!inline) data.sources = JSON.parse(host.dataset.extra);
  const isServed = "server" in host.dataset;
  const state = JSON.parse(host.dataset.start ?? "{}");
  const page = createPage(host, data, { address: true, server: isServed, language: languageOf(host.dataset.language), servedLanguage: host.dataset.language, home: host.dataset.home, state, room });
  afterPaint(() => {
    performance.mark("first-picture");
    if (room !== null) page.loadAhead();
    // the depth map waits for Bokeh, the link to the server for Panel
    runLateScripts(() => globalThis.Bokeh && page.embed())
      .catch(() => isServed && page.views.server.lost())
      .then(() => globalThis.Bokeh || page.views.map.miss());
  });
  return page;
}

/** What the Panel component calls: tie the page that is there to the server, or make one. */
async function connect(model, element, { data = null, css = "", state = {} } = {}) {
  if (data === null) {
    const page = await globalThis.ResidualStream.page;
    return watch(model, page, linkToServer(model, page));
  }
  element.append(Object.assign(document.createElement("style"), { textContent: css }));
  const host = document.createElement("div");
  element.append(host);
  const page = createPage(host, data, { address: false, server: true, language: languageOf(state.language), state });
  await page.embed();
  const unlink = watch(model, page, linkToServer(model, page));
  return () => {
    unlink();
    page.remove();
  };
}

/** When the connection is lost, tell the server nothing more and say so in a line. */
function watch(model, page, unlink) {
  model.document?.on_event?.("connection_lost", () => {
    unlink();
    page.views.server.lost();
  });
  return unlink;
}

// Panel loads a component's module through this; every browser of today imports by itself
globalThis.importShim ??= Object.assign((url) => import(url), { addImportMap() {} });

const host = document.getElementById(HOST_ID);
globalThis.ResidualStream = { connect, createPage, page: host ? start(host).catch(sayThatNothingCame) : null };
