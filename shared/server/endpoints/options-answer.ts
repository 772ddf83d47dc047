import type { Answer, Fields } from '#shared/http/answer.ts';
import { type Cors, isPreflight, preflight } from './cors.ts';
import type { AnyRequest } from '../message/message.ts';

/** What is known of an address before anybody is asked who they are. */
export interface Address {
  /** Absent: no script of another origin may call. */
  readonly cors?: Cors | undefined;
  /** All that it may have, whoever asks. */
  readonly methods: readonly string[];
  /** What OPTIONS says to everybody; undefined: it says so to whoever is let in. */
  readonly options: Fields | undefined;
}

/**
 * What a preflight is told (Fetch Standard, CORS protocol), and OPTIONS (RFC 9110 section 9.3.7); undefined: another
 * method, or one that is answered like others.
 */
export function optionsAnswer(
  request: AnyRequest,
  { cors, methods, options }: Address,
): Answer | undefined {
  if (cors && isPreflight(request)) return preflight(cors, request, methods);
  if (request.method !== 'OPTIONS' || options === undefined) return undefined;
  return { status: 204, fields: { ...options, ...cors?.answers(request.headers.origin) } };
}
