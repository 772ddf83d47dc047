import { allow } from '#shared/http/methods.ts';
import type { Answer, Fields } from '#shared/server/answer.ts';
import type { Space } from './spaces.ts';

/** What pages may send besides what they may send anyway (Fetch, section CORS-safelisted request-header). */
const REQUEST_FIELDS = [
  'Authorization',
  'DPoP',
  'Content-Type',
  'If-Match',
  'If-None-Match',
  'If-Modified-Since',
  'If-Unmodified-Since',
  'If-Range',
  'Range',
  'Accept',
  'Depth',
  'Destination',
  'If',
  'Lock-Token',
  'Overwrite',
  'Timeout',
];

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
  'Retry-After',
].join(', ');

const PREFLIGHT_SECONDS = '600';

/** Open to scripts of any origin: there is nothing secret and nobody is signed in. */
export const OPEN: Fields = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Headers': '*',
};

type Shared = Pick<Space, 'corsOrigins' | 'corsCredentials' | 'apiKeyField'>;

/** Answers a preflight with the methods the address may have; an origin not listed is told nothing. */
export function preflight(
  space: Shared,
  origin: string | undefined,
  methods: readonly string[],
): Answer {
  const fields = {
    Vary: 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers',
  };
  if (!isListed(space, origin)) return { status: 204, fields };
  const { apiKeyField } = space;
  return {
    status: 204,
    fields: {
      ...fields,
      ...letIn(space, origin),
      // No page can send TRACE (Fetch, section forbidden methods), so none needs to hear of it.
      'Access-Control-Allow-Methods': allow(methods.filter((method) => method !== 'TRACE')),
      'Access-Control-Allow-Headers': [
        ...REQUEST_FIELDS,
        ...(apiKeyField === undefined ? [] : [apiKeyField]),
      ].join(', '),
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
