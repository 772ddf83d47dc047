import type { Writable } from 'node:stream';
import { BadRequest } from '#shared/http/fields.ts';
import { problem } from '#shared/http/problem.ts';
import { StoreUnavailable } from '#shared/stores/stores.ts';
import type { AnyRequest, AnyResponse } from './message.ts';

/** Response header fields: name as it is written, value or values. */
export type Fields = Readonly<Record<string, string | readonly string[]>>;

/** A whole answer that needs no handler. */
export interface Answer<Body extends string | Uint8Array = string> {
  readonly status: number;
  readonly fields: Fields;
  readonly body?: Body;
}

/** Ends a request with problem details (RFC 9457); `detail` is for the client: what to do about it. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly status: number;
  readonly fields: Fields;
  /** For the log, where the detail quotes what the client sent. */
  reason?: string;
  /** Instead of problem details, where a standard has a form of its own (RFC 4918 section 16). */
  readonly content: { readonly type: string; readonly body: string } | undefined;

  constructor(status: number, detail: string, fields: Fields = {}, content?: HttpError['content']) {
    super(detail);
    this.status = status;
    this.fields = fields;
    this.content = content;
  }
}

/** The one 404: what is hidden, what is missing and what never was look the same. */
export function notFound(): HttpError {
  return new HttpError(404, 'There is nothing at this address.');
}

/** RFC 9110 section 15.5.6. */
export function methodNotAllowed(allow: string): HttpError {
  return new HttpError(405, `This address has these methods: ${allow}.`, { Allow: allow });
}

/** RFC 9110 section 15.6.2: the method is known on no path here. */
export function notImplemented(method: string): HttpError {
  return new HttpError(501, `No resource of this server knows the method ${method}.`);
}

export function problemAnswer(status: number, detail: string, fields: Fields = {}): Answer {
  const { type, body } = problem(status, undefined, detail);
  const own = { 'Content-Type': type, 'X-Content-Type-Options': 'nosniff' };
  return { status, fields: { ...fields, ...own }, body };
}

/** The border between errors inside and answers outside: an error that is not known says nothing. */
export function errorAnswer(error: unknown): Answer {
  if (error instanceof HttpError) {
    const { status, message, fields, content } = error;
    if (content === undefined) return problemAnswer(status, message, fields);
    return { status, fields: { ...fields, 'Content-Type': content.type }, body: content.body };
  }
  if (error instanceof BadRequest) return problemAnswer(400, error.message);
  if (error instanceof StoreUnavailable) {
    return problemAnswer(503, 'The storage does not answer. Try again.', { 'Retry-After': '1' });
  }
  if (isOutOfFiles(error)) {
    return problemAnswer(503, 'The server is busy. Try again.', { 'Retry-After': '1' });
  }
  return problemAnswer(500, 'The server could not do this. The reason is in its log.');
}

/** The process, or the system, has as many files and connections open as it may. */
function isOutOfFiles(error: unknown): boolean {
  const { code } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  return code === 'EMFILE' || code === 'ENFILE';
}

/** Writes the answer; HEAD gets the fields of GET without the content (RFC 9110 section 9.3.2). */
export function send(
  request: AnyRequest,
  response: AnyResponse,
  answer: Answer<string | Uint8Array>,
): void {
  const { status, fields, body } = answer;
  const content: Writable = response;
  response.statusCode = status;
  for (const [name, value] of Object.entries(fields)) response.setHeader(name, value);
  // What a cache may give to others is no answer to one request.
  if (fields['Cache-Control']?.includes('public')) response.removeHeader('X-Request-Id');
  if (body?.length) response.setHeader('Content-Length', Buffer.byteLength(body));
  content.end(request.method === 'HEAD' ? undefined : body);
}
