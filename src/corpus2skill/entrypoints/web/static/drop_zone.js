// Where files are dropped; beside it plain buttons for files and for a folder.

import { chosen, dropped } from "./dropped.js";
import { h, icon } from "./dom.js";
import { t } from "./text.js";

/** `take([{ file, name }])` is called with what was dropped or chosen. */
export function dropZone(take) {
  const picker = (props) => {
    const input = h("input", { type: "file", multiple: true, hidden: true, ...props, onchange: () => { take(chosen(input)); input.value = ""; } });
    return input;
  };
  const files = picker({ "data-for": "files" });
  const folder = picker({ "data-for": "folder", webkitdirectory: true });
  const zone = h("div", { class: "drop" },
    icon("up", 28), h("p", {}, t("documents.drop")),
    h("div", { class: "row" },
      h("button", { class: "primary", onclick: () => files.click() }, t("documents.choose")),
      h("button", { onclick: () => folder.click() }, t("documents.choose_folder"))),
    h("small", {}, t("documents.kinds")), files, folder);
  const over = (isOver) => (event) => { event.preventDefault(); zone.classList.toggle("over", isOver); };
  zone.addEventListener("dragover", over(true));
  zone.addEventListener("dragleave", over(false));
  zone.addEventListener("drop", async (event) => {
    over(false)(event);
    take(await dropped(event.dataTransfer));
  });
  return zone;
}
