import type { Answer, Fields } from '#shared/http/answer.ts';
import { type Cors, isPreflight, preflight } from './cors.ts';
import type { AnyRequest } from '../message/message.ts';
import { note } from '../message/request-log.ts';

/** The browser tells the developer of the page only that the preflight failed. */
const FOREIGN = 'the origin is not in cors.origins of this space';

/** The data of an address that is known before authentication. */
export interface Address {
  /** Absent: no script of another origin may call. */
  readonly cors?: Cors | undefined;
  /** All that it may have, no matter who asks. */
  readonly methods: readonly string[];
  /** The fields of OPTIONS for everybody; undefined: only clients that are let in get them. */
  readonly options: Fields | undefined;
}

/**
 * Answers a preflight (Fetch Standard, CORS protocol) or OPTIONS (RFC 9110 section 9.3.7). Returns undefined for other
 * methods, and for an OPTIONS that is answered like them.
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
