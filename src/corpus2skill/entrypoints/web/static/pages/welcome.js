// First run: three cards in their order, or the samples, which need no key.

import { base, get, post } from "../api.js";
import { h } from "../dom.js";
import { may, notAllowed } from "../form.js";
import { corpusFields, createCorpus } from "../new_corpus.js";
import { busy, page } from "../shell.js";
import { language, t } from "../text.js";

page(async () => {
  if (!may("write")) return notAllowed("write");
  const [{ data: corpora }, keys] = await Promise.all([
    get("/corpora?limit=200"),
    may("admin") ? get("/provider-credentials").then(({ data }) => data.length) : null,
  ]);
  const own = corpora.find(({ corpus }) => !corpus.startsWith("sample-")) ?? null;
  return [
    sample(corpora.find(({ corpus }) => corpus === `sample-${language}`)),
    h("h2", {}, t("welcome.own")),
    h("ol", { class: "cards steps" }, key(keys), corpus(own, corpora.map((one) => one.corpus)), upload(own)),
  ];
});

function sample(made) {
  const button = h("button", { class: "primary", onclick: () => busy(button, async () => {
    const begun = await post("/samples", { language });
    location.assign(`${base}/jobs/${encodeURIComponent(begun.job_id)}`);
  }) }, t("welcome.sample"));
  const open = made && h("a", { class: "button primary", href: made.active_version ? `${base}/talk?corpus=${made.corpus}` : `${base}/c/${made.corpus}/jobs` }, t("welcome.sample_open"));
  return h("section", { class: "card sample", "aria-labelledby": "sample" },
    h("h2", { id: "sample" }, t("welcome.sample")), h("p", {}, t("welcome.sample_how")), h("div", {}, open || button));
}

const step = (number, name, isDone, ...content) =>
  h("li", { class: "card" }, h("header", {}, h("h3", {}, `${number}. ${t(`welcome.${name}`)}`), isDone && h("span", { class: "badge good" }, t("welcome.done"))), content);

function key(keys) {
  return step(1, "key", keys > 0,
    h("p", {}, t("welcome.key_how")),
    keys === null ? h("p", { class: "quiet" }, t("welcome.key_admin")) : h("div", {}, h("a", { class: "button", href: `${base}/settings/keys` }, t(keys ? "welcome.key_see" : "welcome.key_add"))));
}

function corpus(own, taken) {
  if (own) return step(2, "corpus", true, h("p", {}, own.title || own.corpus), h("div", {}, h("a", { class: "button", href: `${base}/knowledge` }, t("nav.knowledge"))));
  const button = h("button", {}, t("welcome.corpus_make"));
  const form = h("form", { class: "stack", onsubmit: (event) => {
    event.preventDefault();
    busy(button, async () => {
      const made = await createCorpus(new FormData(form));
      location.assign(`${base}/c/${encodeURIComponent(made.corpus)}/documents`);
    });
  } }, corpusFields(taken), h("div", {}, button));
  return step(2, "corpus", false, h("p", {}, t("welcome.corpus_how")), form);
}

function upload(own) {
  const isDone = own && Object.values(own.documents).some((number) => number > 0);
  return step(3, "upload", isDone, h("p", {}, t("welcome.upload_how")),
    own ? h("div", {}, h("a", { class: "button", href: `${base}/c/${encodeURIComponent(own.corpus)}/documents` }, t("welcome.upload"))) : h("p", { class: "quiet" }, t("welcome.upload_later")));
}
