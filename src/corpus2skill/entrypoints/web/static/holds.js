// Legal holds: what is kept whatever its age.

import { get, post, remove } from "./api.js";
import { h, put } from "./dom.js";
import { field } from "./form.js";
import { ask, failure, note, waiting } from "./shell.js";
import { table } from "./table.js";
import { t, when } from "./text.js";

const KINDS = ["session", "end_user", "corpus"];

/** The list with its buttons, which loads itself. */
export function holds() {
  const place = h("div", { class: "stack" });
  const show = async () => {
    put(place, waiting());
    try {
      put(place, list((await get("/retention/holds")).data, show));
    } catch (error) {
      put(place, failure(error, show));
    }
  };
  show();
  return h(
    "section",
    { class: "stack section", "aria-labelledby": "holds" },
    h("div", { class: "row" }, h("h2", { id: "holds", class: "grow" }, t("holds.title")), h("button", { onclick: () => addHold(show) }, t("holds.add"))),
    h("p", { class: "quiet" }, t("holds.about")),
    place,
  );
}

function list(found, again) {
  if (!found.length) return h("div", { class: "empty" }, h("p", {}, t("holds.none")));
  const row = (hold) => [
    [t(`holds.kind.${hold.kind}`), ": ", h("span", { class: "mono" }, hold.name)],
    hold.reason,
    when(hold.placed_at),
    h("button", { "aria-label": t("holds.lift_named", { name: hold.name }), onclick: () => lift(hold, again) }, t("holds.lift")),
  ];
  return table(t("holds.now"), [t("holds.what"), t("holds.reason"), t("holds.placed"), ""], found.map(row));
}

async function addHold(again) {
  const isDone = await ask({
    title: t("holds.add"),
    body: [
      field({ label: t("holds.kind"), name: "kind", choices: KINDS.map((kind) => [kind, t(`holds.kind.${kind}`)]) }),
      field({ label: t("holds.name"), name: "name", hint: t("holds.name_how"), required: true, maxlength: 200 }),
      field({ label: t("holds.reason"), name: "reason", required: true, maxlength: 200 }),
    ],
    yes: t("holds.place"),
    work: (form) => post("/retention/holds", Object.fromEntries(form)),
  });
  if (!isDone) return;
  await again();
  note(t("holds.added"));
}

async function lift(hold, again) {
  const isDone = await ask({
    title: t("holds.lift_named", { name: hold.name }),
    body: h("p", {}, t("holds.lift_how")),
    yes: t("holds.lift"),
    isDanger: true,
    work: () => remove(`/retention/holds/${hold.hold_id}`),
  });
  if (!isDone) return;
  await again();
  note(t("holds.lifted"));
}
