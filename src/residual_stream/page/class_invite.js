// For the back row: the class's link in large type and as a QR code.

import { classLink } from "./class_room.js";
import { h, setHidden, setText } from "./dom.js";
import { createLinkCode } from "./link_code.js";
import { LINK_LOCAL, sayHint } from "./link_result.js";
import { createCopy } from "./masthead.js";

/** {button, element, update}; a modal dialog that gives the focus back. */
export function createClassInvite(context) {
  const { classroom, words, store } = context;
  const [title, link, hint] = [h("h2", {}), h("p", { class: "class-invite-link", translate: "no" }), h("p", { class: "class-invite-hint" })];
  const small = (name, click) => h("button", { type: "button", class: "button", click, "data-control": `class-${name}` });
  const copy = createCopy(context, small, { name: "links_copy", link: classLink });
  const close = h("button", { type: "button", class: "button button-main", click: () => element.close() });
  const code = createLinkCode(context);
  const texts = h("div", { class: "class-invite-texts" }, title, link, hint, h("div", { class: "class-invite-acts" }, close, copy.element));
  const element = h("dialog", { class: "class-invite" }, texts, code.element);
  const button = h("button", { type: "button", class: "button button-small", click: open });

  function open() {
    if (!element.open) element.showModal();
    update();
  }

  function update() {
    setHidden(button, !classroom.isTeacher());
    setText(button, words.say("class_invite"));
    if (!element.open) return;
    element.setAttribute("aria-label", words.say("class_invite_title"));
    setText(title, words.say("class_invite_title"));
    showLink(link, classLink());
    const isLocal = LINK_LOCAL.test(location.hostname);
    sayHint(hint, isLocal ? words.say("class_local", { host: location.host }) : "");
    setText(close, words.say("help_close"));
    copy.update();
    code.update(classLink());
    if (store.get().connected) code.again();
  }

  return { button, element, update };
}

/** A link that is broken, if it must be, after a slash. */
function showLink(element, text) {
  if (element.textContent === text) return;
  element.replaceChildren(...text.split(/(?<=\w\/)/).flatMap((part) => [part, h("wbr", {})]));
}
