export async function render({ model, el }) {
  const inline = model.lesson ? { data: model.lesson, css: model.css, state: model.start } : {};
  const leaving = globalThis.ResidualStream.connect(model, el, inline);
  // at once: it may be taken away while the page is still being made
  model.on("remove", async () => (await leaving)());
  await leaving;
}
