// Bokeh, Panel and what starts them: written into the page as text, run after its first picture.

/**
 * Run the page's waiting scripts, one after another, once the page is read to its end: on a
 * slow line the first picture stands while a script's text still arrives.
 *
 * onEach: called after each of them.
 * @throws if one cannot be loaded; those after it are not run
 */
export async function runLateScripts(onEach) {
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
