import type { Answer, Fields } from '#shared/http/answer.ts';
import { type Cors, isPreflight, preflight } from './cors.ts';
import type { AnyRequest } from '../message/message.ts';
import { note } from '../message/request-log.ts';

/** The reason for the log: a browser shows the developer of a page only that the preflight failed. */
const FOREIGN = 'the origin is not in cors.origins of this space';

/** The data of an address that is known before authentication. */
export interface Address {
  /** Absent: scripts of other origins may not call the address. */
  readonly cors?: Cors | undefined;
  /** All methods of the address, for any client. */
  readonly methods: readonly string[];
  /** The fields of OPTIONS for every client; undefined: only admitted clients get them. */
  readonly options: Fields | undefined;
}

/**
 * Answers a preflight (Fetch Standard, CORS protocol) or OPTIONS (RFC 9110 section 9.3.7). Returns undefined for other
 * methods, and for an OPTIONS that needs authentication.
 */
export function optionsAnswer(
  request: AnyRequest,
  { cors, methods, options }: Address,
): Answer | undefined {
  if (cors && isPreflight(request)) {
    if (cors.callers(request.headers.origin) === undefined) note(request, { reason: FOREIGN });
    return preflight(cors, request, methods);
  }
  if (request.method !== 'OPTIONS' || options === undefined) return undefined;
  return { status: 204, fields: { ...options, ...cors?.answers(request.headers.origin) } };
}
