import type { Fields } from '#shared/http/answer.ts';
import type { AnyRequest } from './message.ts';

/** A CORS preflight (Fetch Standard). OPTIONS alone is none, and has to authenticate. */
export function isPreflight({ method, headers }: AnyRequest): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  );
}

const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/**
 * Allows a script that may call at all the fields that it names: what they mean is decided when they come, and
 * `*` would leave Authorization out (Fetch Standard, CORS-preflight fetch). What is no field name is left out.
 */
export function requestedFields({ headers }: Pick<AnyRequest, 'headers'>): Fields {
  const names = (headers['access-control-request-headers'] ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => NAME.test(name));
  return names.length === 0 ? {} : { 'Access-Control-Allow-Headers': names.join(', ') };
}
