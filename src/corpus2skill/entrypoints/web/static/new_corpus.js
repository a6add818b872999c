// Making a corpus: its title in any script, and the name that addresses have.

import { post } from "./api.js";
import { field } from "./form.js";
import { t } from "./text.js";

/** The two fields. The name follows the title where that is written in letters that a name may have. */
export function corpusFields(taken) {
  const title = field({ label: t("corpus.title"), name: "title", required: true, maxlength: 200 });
  const name = field({
    label: t("corpus.name"), hint: t("corpus.name_how"), name: "corpus", required: true, maxlength: 64,
    pattern: "[a-z0-9]+(-[a-z0-9]+)*", class: "mono", value: free("docs", taken),
  });
  const [typed, named] = [title, name].map((place) => place.querySelector("input"));
  let isOwn = false;
  named.addEventListener("input", () => { isOwn = true; });
  typed.addEventListener("input", () => { if (!isOwn) named.value = free(slug(typed.value) || "docs", taken); });
  return [title, name];
}

export const createCorpus = (form) => post("/corpora", { title: form.get("title").trim(), corpus: form.get("corpus").trim() });

const slug = (title) => title.normalize("NFKC").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60);

function free(wanted, taken) {
  let name = wanted;
  for (let n = 2; taken.includes(name); n += 1) name = `${wanted}-${n}`;
  return name;
}
