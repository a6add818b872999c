// Questions before a version is switched to or removed: what will change, and what stands in the way.

import { get, post, remove, whole } from "./api.js";
import { apiOf, pathOf } from "./corpus_tabs.js";
import { at, h, put } from "./dom.js";
import { may } from "./form.js";
import { ask, note } from "./shell.js";
import { bytes, t } from "./text.js";

/** Switch from `active` (null: none) to `version`; returns whether the page has to be loaded anew. What was shown
 *  goes along (`If-Match`), so that nobody undoes what another has done meanwhile. */
export async function askSwitch(active, version, { isBack = false } = {}) {
  const diff = active === null ? null : await get(`${apiOf}/versions/${active}/diff/${version}?limit=1`).catch(() => null);
  const extra = h("div", { class: "stack" });
  let faster = null;
  const work = async (data) => {
    const override_reason = data.get("reason")?.trim() || null;
    const headers = { "If-Match": `"${active ?? 0}"` };
    try {
      if (isBack) await post(`${apiOf}/rollback`, { override_reason }, { headers });
      else await whole("PUT", `${apiOf}/active`, { body: { version, override_reason }, headers });
    } catch (error) {
      if (error.status === 412 || error.status === 428) faster = error;
      else untested(error, extra);
    }
  };
  const isDone = await ask({
    title: t(isBack ? "versions.roll_back_ask" : "versions.activate_ask", { version }),
    body: [...changes(active, version, diff), h("p", { class: "quiet" }, t("versions.runs_finish")), extra],
    yes: t(isBack ? "versions.roll_back_yes" : "versions.activate"),
    work,
  });
  if (faster) await ask({ title: t("versions.faster"), body: h("p", {}, faster.message), yes: t("versions.reload") });
  else if (isDone) note(t("versions.now", { version }));
  dispatchEvent(new Event("corpus2skill:live")); // the head of the page says which version answers
  return isDone || faster !== null;
}

function changes(active, version, diff) {
  if (active === null) return [h("p", {}, t("versions.first"))];
  return [
    h("p", {}, t("versions.from_to", { active, version })),
    diff && h("p", { class: "notice", id: "switch-summary" }, diff.summary),
    h("p", {}, h("a", { href: `${pathOf}/versions/${active}/diff/${version}`, target: "_blank", rel: "noopener" }, t("versions.see_changes"))),
  ].filter(Boolean);
}

/** The owner wants the tests to go well first; an administrator may go past that with a reason, which is kept. */
function untested(error, extra) {
  if (error.code.startsWith("tests_required") && !extra.firstChild)
    put(extra, may("admin")
      ? h("div", { class: "field" }, h("label", { for: "reason" }, t("versions.reason")), h("textarea", { id: "reason", name: "reason", maxlength: 500, "aria-describedby": "reason-hint" }), h("small", { class: "quiet", id: "reason-hint" }, t("versions.reason_hint")))
      : h("p", {}, t("versions.ask_admin")));
  at("reason")?.focus();
  throw error;
}

export async function askRemove({ version, bytes: size }) {
  const extra = h("div");
  const work = async (data) => {
    try {
      await remove(`${apiOf}/versions/${version}${data.get("force") ? "?force=true" : ""}`);
    } catch (error) {
      if (error.code === "version_cited" && may("admin") && !extra.firstChild)
        put(extra, h("label", { class: "check" }, h("input", { type: "checkbox", name: "force", value: "yes" }), t("versions.force")));
      throw error;
    }
  };
  const isDone = await ask({
    title: t("versions.remove_ask", { version }),
    body: [h("p", {}, t("versions.remove_how", { size: bytes(size) })), extra],
    yes: t("versions.remove"),
    isDanger: true,
    work,
  });
  if (isDone) note(t("versions.removed", { version }));
  return isDone;
}

/** First what would go, then, if a person agrees, it goes. */
export async function askPrune() {
  const { data } = await post(`${apiOf}/versions/prune?dry_run=true`);
  if (!data.length) {
    note(t("versions.prune_none"));
    return false;
  }
  const size = data.reduce((sum, one) => sum + one.bytes, 0);
  const isDone = await ask({
    title: t("versions.prune_ask", { n: data.length }),
    body: [h("p", {}, t("versions.prune_how", { size: bytes(size) })),
      h("ul", {}, data.map((one) => h("li", {}, `${t("tree.version", one)} (${bytes(one.bytes)})`)))],
    yes: t("versions.remove"),
    isDanger: true,
    work: () => post(`${apiOf}/versions/prune?dry_run=false`),
  });
  if (isDone) note(t("versions.pruned", { n: data.length, size: bytes(size) }));
  return isDone;
}
