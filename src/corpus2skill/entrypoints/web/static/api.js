// The public HTTP interface, as any program has it; the sign-in's cookie goes along by itself.

import { unique } from "./dom.js";
import { language, t } from "./text.js";

export const base = document.documentElement.dataset.base || "";

/** An answer that was no success: `message` is the server's own sentence in the reader's language. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || t("problem.unknown", { status }));
    Object.assign(this, { status, body, code: body.code || "", requestId: body.request_id });
  }
}

/** `raw` is a body that is sent as it is, a file for instance, with a `Content-Type` of its own. */
async function send(method, path, { body, raw, headers = {}, signal } = {}) {
  const given = { Accept: "application/json", "Accept-Language": language, ...headers };
  const isForm = body instanceof FormData;
  if (body !== undefined && !isForm) given["Content-Type"] = "application/json";
  // A click that is sent twice by a bad network is done once.
  if (method === "POST" && !isForm) given["Idempotency-Key"] ??= unique();
  const wanted = { method, headers: given, signal, body: raw ?? (body === undefined || isForm ? body : JSON.stringify(body)) };
  let answer;
  try {
    answer = await fetch(`${base}/v1${path}`, wanted);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, { detail: t("problem.unreachable"), code: "unreachable" });
  }
  if (answer.status === 401) {
    location.assign(`${base}/sign-in?next=${encodeURIComponent(location.pathname.slice(base.length) + location.search)}`);
    await new Promise(() => {}); // the page is going away
  }
  const isJson = (answer.headers.get("content-type") || "").includes("json");
  const content = answer.status === 204 ? null : isJson ? await answer.json() : await answer.text();
  if (!answer.ok) throw new Problem(answer.status, isJson ? content : {});
  return { content, etag: answer.headers.get("etag"), location: answer.headers.get("location") };
}

export const get = async (path, options) => (await send("GET", path, options)).content;
export const post = async (path, body, options) => (await send("POST", path, { ...options, body })).content;
export const change = async (path, body, options) => (await send("PUT", path, { ...options, body })).content;
export const patch = async (path, body, options) => (await send("PATCH", path, { ...options, body })).content;
export const remove = async (path, options) => (await send("DELETE", path, options)).content;
/** The answer with its `etag` and `location`. */
export const whole = send;

/** A path's query from an object; empty values are left out. */
export function query(values) {
  const pairs = Object.entries(values).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return pairs.length ? `?${new URLSearchParams(pairs)}` : "";
}

/** Every page of a list, one page at a time. */
export async function* pages(path, options = {}) {
  let cursor = null;
  do {
    const separator = path.includes("?") ? "&" : "?";
    const page = await get(cursor ? `${path}${separator}cursor=${encodeURIComponent(cursor)}` : path, options);
    yield page.data;
    cursor = page.next_cursor;
  } while (cursor);
}
