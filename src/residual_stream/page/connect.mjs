export async function render({ model, el }) {
  const inline = model.data.data ? { data: model.data.data, css: model.data.css, state: model.data.initial } : {};
  const leave = await globalThis.ResidualStream.connect(model, el, inline);
  model.on("remove", leave);
}
