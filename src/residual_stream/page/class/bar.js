// The class's bar: whether this page follows, or who does; a vote that is on elsewhere.

import { h, setHidden, setText } from "../elements/dom.js";
import { createLinkCode, LINK_LOCAL, sayHint } from "../links/result.js";
import { createCopy } from "../shell/masthead.js";
import { classLink } from "./room.js";

// For the back row: the class's link in large type and as a QR code.

/** {button, element, update}; a modal dialog that gives the focus back. */
function createClassInvite(context) {
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

/** The bar of a page in a class. It has the same height whatever happens, or grows upwards. */
export function createClassBar(context) {
  const { classroom, words } = context;
  const line = h("p", { class: "class-line" });
  const notice = createClassNotice(context);
  const vote = createClassVoteLine(context);
  const invite = createClassInvite(context);
  const follow = h("button", { type: "button", class: "button button-small class-follow", click: () => (classroom.get().following ? classroom.letGo() : classroom.comeBack()) });
  const inner = h("div", { class: "class-inner" }, notice.element, vote.element, line, h("div", { class: "class-acts" }, follow, invite.button));
  const element = h("section", { class: "class-bar" }, inner, invite.element);

  function update() {
    const room = classroom.get();
    const isTeacher = classroom.isTeacher();
    element.setAttribute("aria-label", words.say("class_region"));
    element.classList.toggle("is-exploring", !isTeacher && !room.following);
    element.classList.toggle("is-away", room.connection !== "open");
    setText(line, sayClass(words, room));
    setText(follow, words.say(room.following ? "class_let_go" : "class_return"));
    follow.classList.toggle("button-main", !room.following);
    setHidden(follow, isTeacher);
    notice.update();
    vote.update();
    invite.update();
  }

  classroom.subscribe((room, previous, { origin, changed }) => {
    update();
    // who has moved a control hears first what that did
    if (origin === "control" && changed.includes("following")) queueMicrotask(() => context.announceToo(line.textContent));
    else if (changed.includes("isKeyRefused") && room.isKeyRefused) context.announce(words.say("class_key_wrong"));
    else if (changed.includes("following") || (changed.includes("connection") && previous.connection !== "opening")) context.announce(line.textContent);
    else if (changed.includes("poll") && vote.isShown()) context.announce(vote.said());
  });
  return { element, update };
}

/** What stays at the bottom edge: the controls, in a class with its bar above them. */
export function createFoot({ dock, classBar }) {
  return classBar ? h("div", { class: "class-foot" }, classBar.element, dock.element) : dock.element;
}

/** One line: the connection if it is away, else who one is here. */
function sayClass(words, { role, following, connection, counts }) {
  if (connection !== "open") return words.say(`class_${connection}`);
  if (role === "student") return words.say(following ? "class_following" : "class_exploring");
  const isEmpty = !counts || counts.following + counts.exploring + counts.quiet === 0;
  return words.say(isEmpty ? "class_nobody" : "class_counts", counts ?? {});
}

/** What went wrong and stays so: a wrong key, a store that is away. */
function createClassNotice({ classroom, words }) {
  const text = h("span", {});
  const close = h("button", { type: "button", class: "button button-small", click: dismiss });
  const element = h("div", { class: "class-notice", hidden: true }, text, close);
  let dismissed = "";

  const key = () => {
    const { isKeyRefused, isStoreAway } = classroom.get();
    if (isStoreAway) return "class_store_away";
    return isKeyRefused ? "class_key_wrong" : "";
  };

  function dismiss() {
    dismissed = key();
    update();
  }

  function update() {
    if (key() === "") dismissed = "";
    setHidden(element, key() === dismissed);
    setText(text, key() && words.say(key()));
    setText(close, words.say("help_close"));
  }

  return { element, update };
}

/** A vote that is on at an experiment which is not the one in view, and the way there. */
function createClassVoteLine({ classroom, words, store }) {
  const text = h("span", {});
  const go = h("button", { type: "button", class: "button button-small", click: () => store.set({ view: "experiments", experiment: classroom.get().poll.experiment }, "vote") });
  const element = h("p", { class: "class-vote-line", hidden: true }, text, go);

  function update() {
    const { poll } = classroom.get();
    const { view, experiment } = store.get();
    setHidden(element, poll === null || (view === "experiments" && experiment === poll.experiment));
    if (element.hidden) return;
    const isOpen = poll.stage === "open";
    setText(text, words.say(isOpen ? "class_vote_is_open" : "class_vote_is_shown", { id: poll.experiment }));
    setText(go, words.say(isOpen ? "class_vote_go" : "class_vote_see"));
  }

  return { element, update, isShown: () => !element.hidden, said: () => text.textContent };
}
