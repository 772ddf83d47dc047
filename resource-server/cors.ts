import { allow } from '#shared/http/methods.ts';
import type { Answer, Fields } from '#shared/server/answer.ts';

const REQUEST_FIELDS = [
  'Authorization',
  'DPoP',
  'Content-Type',
  'If-Match',
  'If-None-Match',
  'If-Modified-Since',
  'If-Unmodified-Since',
].join(', ');
const RESPONSE_FIELDS = 'WWW-Authenticate, DPoP-Nonce, ETag, Location, Allow, Link';
const PREFLIGHT_SECONDS = '600';

/** Open to scripts of any origin: there is nothing secret and nobody is signed in. */
export const OPEN: Fields = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers': '*',
};

/** Answers a preflight with the methods the address really has; an origin not listed is told nothing. */
export function preflight(
  origins: readonly string[],
  origin: string | undefined,
  methods: Iterable<string>,
): Answer {
  const vary = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers';
  if (origin === undefined || !origins.includes(origin)) {
    return { status: 204, fields: { Vary: vary } };
  }
  return {
    status: 204,
    fields: {
      Vary: vary,
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Methods': allow(methods),
      'Access-Control-Allow-Headers': REQUEST_FIELDS,
      'Access-Control-Max-Age': PREFLIGHT_SECONDS,
    },
  };
}

/** Fields of an actual answer, errors included, so that a page of a listed origin can read it. */
export function corsFields(origins: readonly string[], origin: string | undefined): Fields {
  if (origins.length === 0) return {};
  if (origin === undefined || !origins.includes(origin)) return { Vary: 'Origin' };
  return {
    Vary: 'Origin',
    'Access-Control-Allow-Origin': origin,
    'Access-Control-Expose-Headers': RESPONSE_FIELDS,
  };
}
