// Files that were dropped or chosen, folders with all that is in them: [{ file, name }].

/** Names keep the folders below what was chosen. */
export const chosen = (input) => [...input.files].map((file) => ({ file, name: file.webkitRelativePath || file.name }));

export async function dropped(transfer) {
  // Entries have to be taken before the first wait: the list is empty afterwards.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => ({ file, name: file.name }));
  return (await Promise.all(entries.map((entry) => walk(entry, "")))).flat();
}

async function walk(entry, above) {
  const name = above + entry.name;
  if (entry.isFile) return [{ file: await new Promise((take, refuse) => entry.file(take, refuse)), name }];
  const reader = entry.createReader();
  const found = [];
  for (;;) { // a reader gives a hundred at a time
    const some = await new Promise((take, refuse) => reader.readEntries(take, refuse));
    if (!some.length) return found;
    for (const inner of some) found.push(...await walk(inner, `${name}/`));
  }
}
