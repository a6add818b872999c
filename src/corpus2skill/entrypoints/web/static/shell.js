// What every screen has: theme, language, notes that pass, dialogs, keys to get about, errors in words.

import { base, Problem } from "./api.js";
import { at, fill, h, put, unique } from "./dom.js";
import { t } from "./text.js";

const YEAR = 365 * 24 * 3600;

/** Fill the page's place by `build()`, with a sign of waiting before and a sentence where it fails. */
export async function page(build) {
  const place = at("page");
  put(place, waiting());
  try {
    put(place, await build(place));
  } catch (error) {
    put(place, failure(error, () => page(build)));
  }
}

export const waiting = () => h("p", { class: "wait", role: "status" }, t("waiting"));

/** What went wrong, in the server's words, with a way to go on. */
export function failure(error, again) {
  if (!(error instanceof Problem)) console.error(error);
  const sentence = error instanceof Problem ? error.message : t("problem.script");
  return h(
    "div",
    { class: "notice bad", role: "alert" },
    h("p", {}, sentence),
    error.requestId && h("small", {}, t("problem.request", { id: error.requestId })),
    again && h("div", {}, h("button", { onclick: again }, t("again"))),
  );
}

/** A sentence that passes, and is read out. */
export function note(sentence) {
  const place = at("notes");
  put(place, h("div", { class: "toast" }, sentence));
  clearTimeout(note.waiting);
  note.waiting = setTimeout(() => put(place), 6000);
}

/** Do `work` from a button: not twice at once, and what fails is said beside it. */
export async function busy(button, work) {
  if (button.disabled) return;
  button.disabled = true;
  button.parentElement?.querySelector(":scope > .said")?.remove();
  try {
    await work();
  } catch (error) {
    button.after(fill(h("div", { class: "said" }), failure(error)));
  } finally {
    button.disabled = false;
  }
}

/** Ask in a dialog. `body` are nodes; returns true for yes. `work`, if given, is done before it closes. */
export function ask({ title, body, yes, isDanger = false, work = null }) {
  return new Promise((answer) => {
    const said = h("div");
    const name = unique();
    const agree = h("button", { class: isDanger ? "danger" : "primary", value: "yes" }, yes);
    const form = h(
      "form",
      { method: "dialog" },
      h("h2", { id: name }, title),
      body,
      said,
      h("div", { class: "actions" }, h("button", { type: "button", onclick: () => dialog.close() }, t("cancel")), agree),
    );
    const dialog = h("dialog", { "aria-labelledby": name }, form);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      agree.disabled = true;
      try {
        await work?.(new FormData(form));
        dialog.close("yes");
      } catch (error) {
        put(said, failure(error));
        agree.disabled = false;
      }
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      answer(dialog.returnValue === "yes");
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** True for the Enter that sends: not the one that ends a conversion from kana. */
export const sends = (event) =>
  event.key === "Enter" && !event.shiftKey && !event.isComposing && event.keyCode !== 229;

function remember(name, value) {
  document.cookie = `${name}=${value}; path=${base || "/"}; max-age=${YEAR}; samesite=lax`;
}

function switchTheme() {
  const root = document.documentElement;
  const isDark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  remember("c2s_theme", root.dataset.theme);
}

/** Show all screens in this language from now on; null: as the browser says. */
export function speak(wanted) {
  if (wanted) remember("c2s_language", wanted);
  else document.cookie = `c2s_language=; path=${base || "/"}; max-age=0; samesite=lax`;
  location.reload();
}

const GOES = { h: "home", k: "knowledge", t: "talk", r: "records", q: "tests", s: "settings" };
let isGoing = false;

/** `/` to the search, `g` and a letter to a screen, `?` shows them. They can be switched off (WCAG 2.1.4). */
function onKey(event) {
  const isTyping = event.target.closest?.("input, textarea, select, dialog, [role=tree]");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || localStorage.getItem("c2s_keys") === "off") return;
  if (isGoing && GOES[event.key]) at(`go-${GOES[event.key]}`)?.click();
  isGoing = event.key === "g";
  if (event.key === "/") {
    event.preventDefault();
    document.querySelector("[type=search]")?.focus();
  }
  if (event.key === "?") showKeys();
}

function showKeys() {
  const rows = [["/", "keys.search"], ["?", "keys.show"], ...Object.entries(GOES).map(([key, name]) => [`g ${key}`, `nav.${name}`])];
  const off = h("input", { type: "checkbox", name: "off", checked: localStorage.getItem("c2s_keys") === "off" });
  ask({
    title: t("keys.title"),
    body: [
      h("dl", { class: "facts" }, rows.map(([keys, name]) => [h("dt", {}, h("kbd", {}, keys)), h("dd", {}, t(name))])),
      h("label", { class: "check" }, off, t("keys.off")),
    ],
    yes: t("close"),
    work: () => localStorage.setItem("c2s_keys", off.checked ? "off" : "on"),
  });
}

at("theme").addEventListener("click", switchTheme);
at("language").addEventListener("click", () => speak(document.documentElement.lang === "ja" ? "en" : "ja"));
at("keys")?.addEventListener("click", showKeys);
addEventListener("keydown", onKey);
