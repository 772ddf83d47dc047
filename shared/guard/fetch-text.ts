export type Fetch = typeof globalThis.fetch;

/** Milliseconds for the whole of an answer. */
const PATIENCE = 5000;

/** There was an answer, but not the one. */
export class Unexpected extends Error {
  override readonly name = 'Unexpected';
  readonly status: number;

  constructor(url: string, status: number, code = '') {
    super(`${url} answered ${status} ${code}`.trimEnd());
    this.status = status;
  }
}

/**
 * The content behind a URL, by the `fetch` that everybody has. Rejects for a redirect, with `Unexpected` for any
 * answer but 200, and when it takes over five seconds unless there is a `signal` of one's own.
 */
export async function fetchText(
  fetch: Fetch,
  url: string,
  { signal = AbortSignal.timeout(PATIENCE), ...init }: RequestInit = {},
): Promise<string> {
  const answer = await fetch(url, { ...init, signal, redirect: 'error' }).catch((error: Error) => {
    // What fetch says itself is that it failed.
    const { cause = error } = error;
    throw new Error(`no answer from ${url}: ${String(cause)}`, { cause });
  });
  const text = await answer.text();
  if (answer.status === 200) return text;
  // An error of OAuth (RFC 6749 section 5.2).
  const [, code] = /"error":"(\w{1,64})"/.exec(text) ?? [];
  throw new Unexpected(url, answer.status, code);
}
