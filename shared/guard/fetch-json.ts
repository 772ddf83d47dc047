export type Fetch = typeof globalThis.fetch;

/** Milliseconds for the whole of an answer. */
const PATIENCE = 5000;

/**
 * The JSON behind a URL, by the `fetch` that everybody has. Rejects for a redirect and for any answer but 200, and
 * when it takes over five seconds.
 */
export async function fetchJson(
  fetch: Fetch,
  url: string,
  { signal = AbortSignal.timeout(PATIENCE), ...init }: Omit<RequestInit, 'redirect'> = {},
): Promise<unknown> {
  const answer = await fetch(url, { ...init, signal, redirect: 'error' }).catch((error: Error) => {
    // What fetch says itself is that it failed.
    const { cause = error } = error;
    throw new Error(`no answer from ${url}: ${String(cause)}`, { cause });
  });
  if (answer.status === 200) return answer.json();
  await answer.body?.cancel();
  throw new Unexpected(url, answer.status);
}

/** There was an answer, but not the one. */
export class Unexpected extends Error {
  override readonly name = 'Unexpected';
  readonly status: number;

  constructor(url: string, status: number) {
    super(`${url} answered ${status}`);
    this.status = status;
  }
}
