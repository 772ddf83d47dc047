export type Fetch = typeof globalThis.fetch;

/** Milliseconds for a whole answer. */
const PATIENCE = 5000;
/** Most bytes of an answer; a page of revocations has at most half as many. */
const LONGEST = 1_048_576;

/** Thrown if the server sent an answer, but not the expected one. */
export class Unexpected extends Error {
  override readonly name = 'Unexpected';
  readonly status: number;

  constructor(url: string, status: number, code = '') {
    super(`${url} answered ${status} ${code}`.trimEnd());
    this.status = status;
  }
}

/**
 * Fetches the content of a URL with the global `fetch`. Rejects for a redirect, with `Unexpected` for any status but
 * 200, and for more than 1 MiB. Without a `signal` it also rejects after five seconds.
 */
export async function fetchText(
  fetch: Fetch,
  url: string,
  { signal = AbortSignal.timeout(PATIENCE), ...init }: RequestInit = {},
): Promise<string> {
  /** The message of fetch says only that it failed, or that an answer was incomplete; the cause says more. */
  const failed = (error: Error): never => {
    const { cause = error } = error;
    throw new Error(`no answer from ${url}: ${String(cause)}`, { cause });
  };
  const answer = await fetch(url, { ...init, signal, redirect: 'error' }).catch(failed);
  const text = await textOf(answer).catch(failed);
  if (answer.status === 200) return text;
  // Matches an error of OAuth (RFC 6749 section 5.2).
  const [, code] = /"error":"(\w{1,64})"/.exec(text) ?? [];
  throw new Unexpected(url, answer.status, code);
}

async function textOf({ url, body }: Response): Promise<string> {
  const decoder = new TextDecoder();
  let size = 0;
  let text = '';
  for await (const piece of body ?? []) {
    size += piece.length;
    if (size > LONGEST) throw new Error(`${url} answered with more than ${LONGEST} bytes`);
    text += decoder.decode(piece, { stream: true });
  }
  return text + decoder.decode();
}
