// What model and program said to each other. A part's text is put on the page when it is opened: it may be long.

import { get } from "./api.js";
import { h, put } from "./dom.js";
import { bytes, t } from "./text.js";

const letters = new TextEncoder();

export async function exchange(record) {
  const { parts } = await get(`/records/${record.run_id}/exchange`);
  return h("div", { class: "stack" }, h("p", { class: "notice" }, t("record.not_verbatim")), h("ol", { class: "exchange" }, parts.map(part)));
}

function part({ role, text, path }) {
  const size = text ? bytes(letters.encode(text).length) : null;
  const name = h("span", {}, h("strong", {}, t(`record.role.${role}`)), path && [" ", h("span", { class: "mono" }, path)]);
  if (role !== "tool")
    return h("li", { class: role }, name, text && h("p", {}, text));
  if (text === null) return h("li", { class: role }, name, h("p", { class: "quiet" }, t("record.gone")));
  const body = h("pre", { tabindex: 0, "aria-label": path });
  const shown = h("details", { ontoggle: () => shown.open && put(body, text) }, h("summary", {}, name, h("small", { class: "quiet" }, size)), body);
  return h("li", { class: role }, shown);
}
