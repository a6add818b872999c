// Test questions of a corpus, and what its versions made of them.

import { inAddress } from "../address.js";
import { base, get, query } from "../api.js";
import { at, h, put } from "../dom.js";
import { examsTab } from "../exams.js";
import { questionsTab } from "../questions.js";
import { page } from "../shell.js";
import { t } from "../text.js";

const TABS = { questions: questionsTab, runs: examsTab };

page(async () => {
  const { data: corpora } = await get("/corpora?limit=200");
  if (!corpora.length)
    return h("div", { class: "empty" }, h("h2", {}, t("tests.no_corpus")), h("p", {}, t("talk.nothing_how")),
      h("a", { class: "button primary", href: `${base}/knowledge` }, t("nav.knowledge")));
  const asked = inAddress(["corpus", "tab", "run"]);
  const corpus = corpora.find((one) => one.corpus === asked.corpus) ?? corpora[0];
  const current = asked.run ? "runs" : asked.tab in TABS ? asked.tab : "questions";
  head(corpus, corpora, current);
  return TABS[current](corpus, asked.run);
});

function head(corpus, corpora, current) {
  const go = ({ target }) => location.assign(`${base}/tests${query({ corpus: target.value, tab: current })}`);
  if (corpora.length > 1)
    put(at("title-actions"), h("select", { "aria-label": t("corpus"), onchange: go },
      corpora.map((one) => h("option", { value: one.corpus, selected: one === corpus }, one.title || one.corpus))));
  at("title").parentElement.after(h("nav", { class: "tabs", "aria-label": t("title.tests") },
    Object.keys(TABS).map((tab) => h("a", { href: query({ corpus: corpus.corpus, tab }), "aria-current": tab === current && "page" }, t(`tests.${tab}`)))));
}
