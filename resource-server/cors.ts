import { allow } from '#shared/http/methods.ts';
import type { Answer, Fields } from '#shared/http/answer.ts';
import type { AnyRequest } from '#shared/server/message.ts';
import { requestedFields } from '#shared/server/preflight.ts';
import type { Space } from './spaces.ts';

/** What pages may read besides what they may read anyway. */
const RESPONSE_FIELDS = [
  'ETag',
  'Location',
  'Content-Location',
  'Allow',
  'Accept-Query',
  'Accept-Patch',
  'Accept-Ranges',
  'Content-Range',
  'DAV',
  'Lock-Token',
  'WWW-Authenticate',
  'Authentication-Info',
  'DPoP-Nonce',
  'Link',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
].join(', ');

const PREFLIGHT_SECONDS = '600';

/** Open to scripts of any origin: there is nothing secret and nobody is signed in. */
export const OPEN: Fields = { 'Access-Control-Allow-Origin': '*' };
/** To a preflight, besides (Fetch, section CORS protocol). */
export const OPEN_OPTIONS: Fields = { 'Access-Control-Allow-Headers': '*' };

type Shared = Pick<Space, 'corsOrigins' | 'corsCredentials'>;

/** Answers a preflight with the methods the address may have; an origin not listed is told nothing. */
export function preflight(
  space: Shared,
  request: Pick<AnyRequest, 'headers'>,
  methods: readonly string[],
): Answer {
  const { origin } = request.headers;
  const fields = {
    Vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
  };
  if (!isListed(space, origin)) return { status: 204, fields };
  return {
    status: 204,
    fields: {
      ...fields,
      ...letIn(space, origin),
      // No page can send TRACE (Fetch, section forbidden methods), so none needs to hear of it.
      'Access-Control-Allow-Methods': allow(methods.filter((method) => method !== 'TRACE')),
      ...requestedFields(request),
      'Access-Control-Max-Age': PREFLIGHT_SECONDS,
    },
  };
}

/** Fields of an actual answer, errors included, so that a page of a listed origin can read it. */
export function corsFields(space: Shared, origin: string | undefined): Fields {
  if (space.corsOrigins.length === 0) return {};
  const fields = { Vary: 'Origin' };
  if (!isListed(space, origin)) return fields;
  return { ...fields, ...letIn(space, origin), 'Access-Control-Expose-Headers': RESPONSE_FIELDS };
}

function isListed({ corsOrigins }: Shared, origin: string | undefined): origin is string {
  return origin !== undefined && corsOrigins.includes(origin);
}

function letIn({ corsCredentials }: Shared, origin: string): Fields {
  return {
    'Access-Control-Allow-Origin': origin,
    ...(corsCredentials && { 'Access-Control-Allow-Credentials': 'true' }),
  };
}
