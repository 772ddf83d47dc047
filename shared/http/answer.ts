import type { Refusal } from '#shared/refusals/refusal.ts';
import { problem } from './problem.ts';

/** Response header fields: the name as it is written, and one or more values. */
export type Fields = Readonly<Record<string, string | readonly string[]>>;

/** A whole answer that needs no handler. */
export interface Answer<Body = string> {
  readonly status: number;
  readonly fields: Fields;
  readonly body?: Body;
  /** The detail of the problem details, for a page that replaces them. */
  readonly detail?: string;
  /** The reason of an error, as in the log. It is sent only in development: see `withReason`. */
  readonly reason?: string;
  /** Returns fields that are known only after all content was sent (RFC 9110 section 6.5). */
  readonly trailers?: () => Fields;
}

/** An error that answers a request with problem details (RFC 9457). `detail` tells the client what to do. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly fields: Fields;
  /** The reason for the log, if the detail quotes the client. */
  reason?: string;
  /** The refusal of credentials, if the error is about credentials. */
  refusal?: Refusal;
  /** Content that replaces problem details, if a standard has a form of its own (RFC 4918 section 16). */
  readonly content: { readonly type: string; readonly body: string } | undefined;

  constructor(status: number, detail: string, fields: Fields = {}, content?: HttpError['content']) {
    super(detail);
    this.status = status;
    this.fields = fields;
    this.content = content;
  }
}

/** Returns the single 404: a hidden resource, a missing one and a removed one look the same. */
export function notFound(): HttpError {
  return new HttpError(404, 'There is nothing at this address.');
}

/** The request was admitted, and its credentials were revoked before its content had arrived. */
export function endedMeanwhile(): HttpError {
  return new HttpError(
    403,
    'The credentials of this request were revoked meanwhile. Nothing was changed.',
  );
}

/** Too much work of a kind waits (RFC 9110 section 15.6.4). */
export const busy = () =>
  new HttpError(503, 'Too many ask at the moment. Try again.', { 'Retry-After': '1' });

/** The content is well-formed, but cannot be processed (RFC 9110 section 15.5.21). */
export function unprocessable(detail: string): HttpError {
  return new HttpError(422, detail);
}

/** Returns the 405 of RFC 9110 section 15.5.6. `told`: replaces its text. */
export function methodNotAllowed(
  allow: string,
  told = (allowed: string) => `This address has these methods: ${allowed}.`,
): HttpError {
  return new HttpError(405, told(allow), { Allow: allow });
}

/** Returns the 501 of RFC 9110 section 15.6.2: no path of this server has the method. */
export function notImplemented(method: string): HttpError {
  return new HttpError(501, `No resource of this server knows the method ${method}.`);
}

/** Fields that keep an answer out of every cache (RFC 9111 section 5.2.2.5). */
export const UNSTORED: Fields = { 'Cache-Control': 'no-store' };

/**
 * Returns the answer of an error. No cache stores it unless its fields say otherwise. Without such fields a cache may
 * store a 404, 405, 414 or 501 (RFC 9110 section 15.1), but resources and rights can change at any time.
 */
export function problemAnswer(status: number, detail: string, fields: Fields = {}): Answer {
  const { type, body } = problem(status, undefined, detail);
  const own = { 'Content-Type': type, 'X-Content-Type-Options': 'nosniff' };
  return { status, fields: { ...UNSTORED, ...fields, ...own }, body, detail };
}

/**
 * Returns the answer for a server in development, with the reason as a member of its problem details (RFC 9457
 * section 3.2). Any answer without a reason or problem details is unchanged.
 */
export function withReason<Given extends Answer<unknown>>(answer: Given): Given | Answer {
  const { status, fields, detail, reason } = answer;
  if (detail === undefined || reason === undefined || detail.includes(reason)) return answer;
  const { body } = problem(status, undefined, detail, { reason });
  return { status, fields, body, detail };
}
