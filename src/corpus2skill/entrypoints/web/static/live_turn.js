// A question that is being answered: the trail lights up, the draft stands in grey, and nothing is lost on the way.

import { get, post, Problem } from "./api.js";
import { h, icon, put } from "./dom.js";
import { busy, failure } from "./shell.js";
import { watch } from "./stream.js";
import { t } from "./text.js";
import { light, thinking } from "./trail.js";
import { endedTurn } from "./turn.js";

const FETCHES = 8;

/** A run under way as an element that becomes the ended turn. `run`: it as it stood when asked for, so that what was
 *  told by then is not read out again. `walked(visits)` is told each stop, `say(sentence)` what is to be read out,
 *  `ended(run)` the end; `shown` are the options of `endedTurn`. */
export function liveTurn(run, told = {}) {
  return new LiveTurn(run, told).place;
}

class LiveTurn {
  constructor(run, { walked = () => {}, ended = () => {}, say = () => {}, started = () => {}, shown = {} }) {
    Object.assign(this, { run, walked, ended, say, started, shown, visits: [], known: run.trail?.length ?? 0 });
    this.list = h("ol", { class: "trail" }, thinking());
    // The draft grows letter by letter: it is not for ears.
    this.draft = h("p", { class: "draft", "aria-hidden": "true" });
    this.fetched = h("span", { class: "quiet num", "aria-hidden": "true" }, `0/${FETCHES}`);
    this.halt = h("button", { onclick: () => this.stop() }, icon("stop", 16), t("turn.stop"));
    this.aside = h("div");
    this.question = h("p", { class: "question" }, run.question);
    this.place = h("article", { class: "turn", id: run.run_id, "aria-busy": "true" },
      this.question, this.list, this.draft, this.aside, h("div", { class: "row" }, this.fetched, this.halt));
    this.off = watch(`run:${run.run_id}`, 0, (event) => this.hear(event));
  }

  hear({ event, data }) {
    if (event === "stream.lost") return this.look();
    put(this.aside);
    if (event === "run.started") this.begin(data);
    else if (event === "round.started") put(this.draft);
    else if (event === "text.delta") this.draft.append(data.text);
    else if (event === "round.delayed") put(this.aside, h("p", { class: "quiet" }, t("turn.delayed", { seconds: Math.ceil(data.seconds) })));
    else if (event === "node.visited") this.visit(data);
    else if (event === "run.finished") this.end({ ...data, trail: this.visits });
  }

  begin(data) {
    if (!this.run.question) put(this.question, data.question);
    this.started(data);
  }

  visit(data) {
    // Who follows the newest stop goes on with it; who has scrolled away is left there.
    const isFollowed = this.halt.getBoundingClientRect().top < innerHeight;
    light(this.list, data, this.visits);
    this.visits.push(data);
    this.fetched.textContent = `${this.visits.filter((visit) => !visit.is_prefetched).length}/${FETCHES}`;
    if (this.visits.length > this.known) this.say(t("turn.visited", { title: data.title || data.path }));
    this.walked(this.visits);
    if (isFollowed) this.halt.scrollIntoView({ block: "nearest" });
  }

  stop() {
    return busy(this.halt, async () => {
      const run = await post(`/runs/${this.run.run_id}/cancel`);
      if (run.state === "finished") this.end(run);
    });
  }

  /** The connection broke: perhaps the run has ended, or the sign-in, or the server is away for a moment. */
  async look() {
    try {
      const run = await get(`/runs/${this.run.run_id}`);
      if (run.state === "finished") this.end(run);
      else put(this.aside, h("p", { class: "quiet" }, t("turn.again")));
    } catch (error) {
      if (error instanceof Problem && error.status === 404) return this.lose(error);
      put(this.aside, h("p", { class: "notice lit" }, t("turn.lost")));
    }
  }

  /** There is nothing more to come; what came stays. */
  lose(error) {
    this.off();
    this.list.querySelector(".thinking")?.remove();
    this.halt.remove();
    this.place.removeAttribute("aria-busy");
    put(this.aside, failure(error));
    this.ended(null);
  }

  end(run) {
    if (this.isOver) return;
    this.isOver = true;
    this.off();
    // A button that had the focus is gone with the rest: the answer has it then.
    const hadFocus = this.place.contains(document.activeElement);
    const made = endedTurn({ question: this.run.question, ...run }, this.shown);
    this.place.replaceWith(made);
    if (hadFocus) {
      made.tabIndex = -1;
      made.focus({ preventScroll: true });
    }
    this.say(`${t(`outcome.${run.outcome}`)}: ${run.answer}`);
    this.ended(run);
  }
}
