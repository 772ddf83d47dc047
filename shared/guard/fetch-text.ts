export type Fetch = typeof globalThis.fetch;

/** Milliseconds for the whole of an answer. */
const PATIENCE = 5000;
/** Bytes of an answer; a page of revocations has half of them at most. */
const LONGEST = 1_048_576;

/** Thrown if there was an answer, but not the expected one. */
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
 * answer but 200, when it is longer than 1 MiB, and when it takes over five seconds unless there is a `signal` of
 * one's own.
 */
export async function fetchText(
  fetch: Fetch,
  url: string,
  { signal = AbortSignal.timeout(PATIENCE), ...init }: RequestInit = {},
): Promise<string> {
  /** The message of fetch says only that it failed, or that an answer was broken off. */
  const failed = (error: Error): never => {
    const { cause = error } = error;
    throw new Error(`no answer from ${url}: ${String(cause)}`, { cause });
  };
  const answer = await fetch(url, { ...init, signal, redirect: 'error' }).catch(failed);
  const text = await textOf(answer).catch(failed);
  if (answer.status === 200) return text;
  // An error of OAuth (RFC 6749 section 5.2).
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
