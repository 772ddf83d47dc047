import { STATUS_CODES } from 'node:http';

/** A representation of RFC 9457: the value of Content-Type, and the content. */
export interface Problem {
  readonly type: 'application/problem+json';
  readonly body: string;
}

/**
 * Problem details (RFC 9457 section 3). Without `extra.type` the type is `about:blank`, whose title
 * is the phrase of the status (section 4.2.1). `detail` says in plain words what was wrong and what to do.
 */
export function problem(
  status: number,
  title = STATUS_CODES[status] ?? 'Error',
  detail?: string,
  extra?: Readonly<Record<string, unknown>>,
): Problem {
  return {
    type: 'application/problem+json',
    body: JSON.stringify({ ...extra, title, status, detail }),
  };
}
