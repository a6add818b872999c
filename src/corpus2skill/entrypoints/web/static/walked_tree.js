// The tree beside a conversation: opened along the way that is walked, the walked nodes marked.

import { base, query } from "./api.js";
import { t } from "./text.js";
import { TreeList } from "./tree_list.js";

/** `chosen` nodes open in the explorer. */
export class WalkedTree extends TreeList {
  constructor(corpus, version) {
    const chosen = (path) => window.open(`${base}/c/${encodeURIComponent(corpus)}/tree${query({ version, node: path })}`, "_blank", "noopener");
    super({ corpus, version, label: t("talk.way"), chosen, hasVisits: false });
  }
}
