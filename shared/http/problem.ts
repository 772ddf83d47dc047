import { STATUS_CODES } from 'node:http';

/** Phrases of RFC 9110 section 15 that differ from the older ones in node:http. */
const PHRASES: Readonly<Record<number, string>> = {
  413: 'Content Too Large',
  422: 'Unprocessable Content',
};

/** Returns the reason phrase of a status code. */
export function phraseOf(status: number): string {
  return PHRASES[status] ?? STATUS_CODES[status] ?? 'Error';
}

/** A representation of RFC 9457: the value of Content-Type, and the content. */
export interface Problem {
  readonly type: 'application/problem+json';
  readonly body: string;
}

/**
 * Returns problem details (RFC 9457 section 3). Without `extra.type` the type is `about:blank`, whose title is the
 * phrase of the status (section 4.2.1). `detail` says in plain words what is wrong and what to do.
 */
export function problem(
  status: number,
  title = phraseOf(status),
  detail?: string,
  extra?: Readonly<Record<string, unknown>>,
): Problem {
  return {
    type: 'application/problem+json',
    body: JSON.stringify({ ...extra, title, status, detail }),
  };
}
