// One experiment: a question, a prediction, then the answer made for it.

import { createPicture } from "../charts/charts.js";
import { createClassVote, createVoteBar } from "../class/vote.js";
import { h, setText } from "../elements/dom.js";
import { prose } from "../elements/words.js";

export function createExperimentCard({ context, progress, open, close, say }) {
  const { words } = context;
  const vote = context.classroom ? createClassVote(context, () => parts.run && followVote()) : null;
  let id = null; // of the open experiment
  let chosen = null; // the option that is marked
  let shown = null; // the option whose answer is on the page
  let isPredicted = true; // it is, or a vote was revealed that its reader took no part in
  let experiment = null;
  let all = [];
  let parts = {};

  const textOf = (piece) => experiment.prose[words.language][piece];
  const title = (piece) => prose(textOf(piece).title, experiment.fills[piece], context.onLink);
  const body = (piece) => prose(textOf(piece).nodes, experiment.fills[piece], context.onLink);

  function render(experiments) {
    all = experiments;
    experiment = all.find((one) => one.id === id);
    parts = {
      heading: h("h2", { tabindex: -1, class: "experiments-title" }, ...title("question")),
      choices: createChoices(),
      run: h("button", { type: "button", class: "button button-main", click: run }),
      hint: h("span", { class: "experiments-hint", id: "experiments-hint" }),
      answer: h("div", { class: "experiments-answer" }),
      pictures: h("section", { class: "experiments-pictures", "aria-label": words.say("experiments_pictures") }),
      rest: h("div", { class: "experiments-rest" }),
    };
    const back = h("button", { type: "button", class: "button button-quiet experiments-back", click: close }, `← ${words.say("experiments_list")}`);
    const ask = h(
      "div",
      { class: "experiments-ask" },
      h("p", { class: "experiments-which" }, words.say("experiments_place", { id: experiment.id })),
      parts.heading,
      h("div", { class: "experiments-text" }, ...body("question")),
      parts.choices.element,
      h("p", { class: "experiments-go" }, parts.run, parts.hint),
    );
    // a teacher's buttons have a place of their own, a student's line stays with the options
    const aside = vote?.isTeacher() ? vote.element : null;
    if (vote && !aside) ask.append(vote.element);
    showRun();
    showResult();
    followVote();
    return h("article", { class: "experiments-card" }, back, ask, aside, parts.answer, parts.pictures, parts.rest);
  }

  function createChoices() {
    const labels = experiment.options.map((option) => {
      const input = h("input", { type: "radio", name: `experiments-${id}`, value: option, change: () => choose(option) });
      input.checked = option === chosen;
      const mark = h("span", { class: "experiments-marks" });
      const bar = vote && createVoteBar(words);
      const text = h("span", { class: "experiments-choice-text" }, h("strong", {}, ...title(`option-${option}`)), ...body(`option-${option}`).map((node) => h("span", { class: "experiments-reason" }, ...node.childNodes)), bar?.element ?? null, mark);
      return { option, input, mark, bar, element: h("label", { class: "experiments-choice" }, input, text) };
    });
    const legend = h("legend", {}, words.say("experiments_predict"));
    return { labels, element: h("fieldset", { class: "experiments-choices" }, legend, ...labels.map((label) => label.element)) };
  }

  function choose(option) {
    chosen = option;
    if (vote?.isOpen(id) && !vote.isTeacher()) {
      vote.cast(option);
      say(vote.said());
    }
    showRun();
  }

  /** In a class: a vote takes Run's place while it is open; once it is revealed, it runs. */
  function followVote() {
    if (!vote || id === null) return;
    const news = vote.news(id);
    const isVoter = vote.isOpen(id) && !vote.isTeacher();
    if (news === "open") shown = null;
    if (news === "open" || isVoter) chosen = vote.mine(id);
    if (news === "revealed") reveal(vote.isTeacher() ? chosen : vote.mine(id));
    for (const { option, input, bar } of parts.choices.labels) {
      input.checked = option === chosen;
      bar.update(option, vote.counts(id));
    }
    showRun();
    if (news) showResult();
    vote.update(id);
    if (news === "revealed") tell(vote.wasPressed());
    if (news === "open" && isVoter) sayHere(vote.said());
  }

  /** The answer to what was voted; without a vote the answer to what happened. */
  function reveal(predicted) {
    isPredicted = predicted !== null;
    chosen = predicted;
    shown = predicted ?? experiment.right;
    if (isPredicted) progress.note(id, predicted);
  }

  function showRun() {
    const nothing = chosen === null || chosen === shown;
    setText(parts.run, words.say(shown === null ? "experiments_run" : "experiments_run_again"));
    // not `disabled`: it can be reached, and says what it waits for
    parts.run.setAttribute("aria-disabled", nothing);
    parts.run.setAttribute("aria-describedby", "experiments-hint");
    parts.run.hidden = shown !== null && nothing;
    parts.run.parentElement.hidden = Boolean(vote && (vote.isOpen(id) || vote.isUnknown()));
    setText(parts.hint, chosen === null ? words.say("experiments_choose_first") : "");
  }

  function run() {
    if (chosen === null) {
      say(words.say("experiments_choose_first"));
      parts.choices.labels[0].input.focus();
      return;
    }
    if (chosen === shown) return;
    [shown, isPredicted] = [chosen, true];
    progress.note(id, chosen);
    showRun();
    showResult();
    tell(true);
  }

  /** Nothing is said of a card that is not in view. */
  const sayHere = (text) => parts.heading.checkVisibility() && say(text);

  /** Say the answer; who has asked for it is taken there. */
  function tell(isAsked) {
    sayHere(`${verdict()}. ${parts.answerTitle.textContent}`);
    if (!isAsked) return;
    parts.answerTitle.focus({ preventScroll: true });
    parts.answer.scrollIntoView({ block: "nearest" });
  }

  const verdict = () => (isPredicted ? verdictOf() : words.say(vote.isTeacher() ? "class_vote_answer" : "class_vote_none"));
  const verdictOf = () => words.say(shown === experiment.right ? "experiments_right" : "experiments_wrong");

  function showResult() {
    for (const { option, mark, element } of parts.choices.labels) {
      const said = shown === null ? [] : marksOf(option);
      mark.replaceChildren(...said.map((text) => h("span", { class: "experiments-mark" }, text)));
      element.classList.toggle("is-right", shown !== null && option === experiment.right);
    }
    if (shown === null) {
      parts.answer.replaceChildren();
      parts.rest.replaceChildren();
      parts.pictures.replaceChildren(h("p", { class: "experiments-wait" }, words.say(vote?.isOpen(id) ? "class_vote_wait" : "experiments_wait")));
      return;
    }
    const sign = shown === experiment.right ? "✓ " : "≠ ";
    const piece = `answer-${shown}`;
    parts.answerTitle = h("h3", { tabindex: -1 }, ...title(piece));
    parts.answer.replaceChildren(
      h("p", { class: "experiments-verdict" }, `${isPredicted ? sign : ""}${verdict()}`),
      parts.answerTitle,
      h("div", { class: "experiments-text" }, ...body(piece)),
    );
    if (!parts.pictures.querySelector("figure")) parts.pictures.replaceChildren(...experiment.pictures.map((picture, i) => createPicture(picture, words, `charts-${id}-${i}`)));
    parts.rest.replaceChildren(h("h3", {}, ...title("limits")), h("div", { class: "experiments-text" }, ...body("limits")), next());
  }

  function marksOf(option) {
    const marks = [];
    if (option === (vote?.mine(id) ?? progress.first(id))) marks.push(words.say("experiments_yours"));
    if (option === experiment.right) marks.push(`✓ ${words.say("experiments_happened")}`);
    return marks;
  }

  function next() {
    const following = all[all.indexOf(experiment) + 1];
    if (!following) return h("button", { type: "button", class: "button", click: close }, words.say("experiments_list"));
    const name = prose(following.prose[words.language].question.title, following.fills.question, (_, inner) => inner[0]);
    const text = words.say("experiments_next", { title: name.map((node) => node.textContent).join("") });
    return h("button", { type: "button", class: "button experiments-next", click: () => open(following.id) }, `${text} →`);
  }

  return {
    render,
    isOpen: () => id !== null,
    focus() {
      parts.heading.focus({ preventScroll: true });
      parts.heading.closest(".experiments-card").scrollIntoView({ block: "start" });
    },
    open(newId) {
      [id, chosen, shown] = [newId, null, null];
      vote?.again();
    },
    close() {
      const last = id;
      [id, chosen, shown] = [null, null, null];
      return last;
    },
  };
}
