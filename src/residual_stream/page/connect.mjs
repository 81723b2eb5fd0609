export async function render({ model, el }) {
  const inline = model.lesson ? { data: model.lesson, css: model.css, state: model.start } : {};
  const leave = await globalThis.ResidualStream.connect(model, el, inline);
  model.on("remove", leave);
}
