/**
 * Random requests, the same for the same seed: valid requests with credentials, and wrong requests of
 * faulty clients or attackers.
 */
import { type Dice, pick } from '../dice.ts';

/** Credentials as a request field, and whether they have been revoked. */
export interface Credentials {
  readonly field: readonly [name: string, value: string];
  ended: boolean;
}

export interface Asked {
  readonly version: string;
  readonly method: string;
  readonly target: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  /** The credentials of the request, if they are complete and unchanged. */
  readonly shown: Credentials | undefined;
}

const METHODS = ['GET', 'GET', 'GET', 'GET', 'HEAD', 'OPTIONS', 'QUERY', 'PROPFIND'] as const;
const RARE_METHODS = ['TRACE', 'MOVE', 'DELETE', 'BREW', 'get', 'LOCK', 'PATCH'] as const;
const TARGETS = [
  '/documents/',
  '/documents/a.txt',
  '/documents/none',
  '/hidden/',
  '/dav/',
  '/dav/alice/',
  '/identity/',
  '/verify',
  '/verify',
  '/verify',
] as const;
const RARE_TARGETS = [
  '/',
  '*',
  '/health/live',
  '/health/ready',
  '/documents',
  '/documents//a.txt',
  '/documents/%2e%2e/hidden/',
  '/documents/%2fa',
  '/documents/a.txt?x=1&x=2',
  '/Documents/',
  '/verify/',
  '//',
  '/%',
  '/.well-known/oauth-protected-resource/documents/',
  'http://elsewhere.example/documents/',
] as const;
const VERSIONS = ['HTTP/1.0', 'HTTP/1.2', 'HTTP/2.0', 'http/1.1'] as const;

/** Fields that a request may have beside Host and credentials, some with invalid values. */
const FIELDS: readonly (readonly [name: string, values: readonly [string, ...string[]]])[] = [
  ['Accept', ['*/*', 'application/json', 'text/html;q=0', 'junk']],
  ['Accept-Encoding', ['gzip', 'identity;q=0', '*;q=0']],
  ['Accept-Ranges', ['bytes']],
  ['Connection', ['close', 'keep-alive', 'authorization']],
  ['Content-Length', ['0', '00', 'x', '-1']],
  ['Content_Length', ['0']],
  ['Content-Type', ['application/jsonpath', 'text/plain', '/']],
  ['Cookie', ['a=b', '=']],
  ['DPoP', ['x', 'a.b.c']],
  ['Depth', ['0', '1', 'infinity', 'x']],
  ['Expect', ['100-continue', 'x']],
  ['If-Match', ['*', '"x"', 'junk']],
  ['If-Modified-Since', ['Sun, 06 Nov 1994 08:49:37 GMT', 'junk']],
  ['If-None-Match', ['*', '"x"', 'W/"x", "y"', 'junk']],
  ['Max-Forwards', ['0', '1', 'x']],
  ['Origin', ['https://pages.example', 'https://evil.example', 'null', '']],
  ['Access-Control-Request-Method', ['GET', 'PUT', '']],
  ['Proxy-Authorization', ['Basic YTpi']],
  ['Range', ['bytes=0-3', 'bytes=-1', 'bytes=5-1', 'x']],
  ['Sec-Fetch-Site', ['same-origin', 'cross-site', 'none']],
  ['Transfer-Encoding', ['identity', 'gzip, chunked']],
  ['X-Forwarded-For', ['192.0.2.7', '192.0.2.7, 127.0.0.9', 'junk', '::ffff:192.0.2.1', '']],
  ['X-Request-Id', ['abc', 'a b', 'a'.repeat(65)]],
];

/** The fields by which a proxy describes its request to `/verify`. */
const TOLD: typeof FIELDS = [
  ['X-Forwarded-Method', ['GET', 'GET', 'GET', 'PUT', 'get', '']],
  ['X-Forwarded-Proto', ['http', 'http', 'http', 'https', 'HTTP', 'ftp']],
  ['X-Forwarded-Uri', ['/documents/', '/app/', '/app/a?b=c', '/app/%2e%2e/', '//app/', '*', '']],
];

/** Credentials that are malformed or of an unknown account. */
const WRONG = [
  'Bearer',
  'Bearer ',
  'Bearer a b',
  'Bearer a,b',
  'Bearer eyJhbGciOiJub25lIn0.e30.',
  'Basic',
  'Basic =',
  'Basic YQ==',
  'Basic YWxpY2U6d3Jvbmc=',
  'Digest username="alice"',
  'Digest username="alice", realm="dav", nonce="x", uri="/dav/", response="y", algorithm=SHA-256',
  'SCRAM-SHA-256 data="biws"',
  'Negotiate YII=',
  'PrivateToken token="AAE="',
  'API-Key x',
  '=',
  '',
] as const;

/** Respells the field name in another case, or adds spaces around the value. */
function spelt(
  roll: Dice,
  [name, value]: readonly [string, string],
): readonly [name: string, value: string] {
  const cases = [name, name, name.toLowerCase(), name.toUpperCase()] as const;
  return [pick(roll, cases), roll(20) === 0 ? ` \t${value}\t ` : value];
}

function credentialsOf(roll: Dice, known: readonly Credentials[]) {
  const one = known[roll(known.length)];
  if (one === undefined || roll(6) === 0) {
    return { field: ['Authorization', pick(roll, WRONG)] as const, shown: undefined };
  }
  const [name, value] = one.field;
  const [scheme = ''] = value.split(' ', 1);
  const odd = [
    value,
    value.replace(scheme, scheme.toLowerCase()),
    value.replace(scheme, scheme.toUpperCase()),
    value.replace(' ', '   '),
  ] as const;
  const cut = roll(12) === 0; // the changed last character makes the credentials wrong
  const shown = cut ? undefined : one;
  return { field: [name, cut ? value.slice(0, -1) : pick(roll, odd)] as const, shown };
}

/** Makes one request; `host`: the resource server's host. */
export function asked(roll: Dice, host: string, known: readonly Credentials[]): Asked {
  const target = pick(roll, roll(8) === 0 ? RARE_TARGETS : TARGETS);
  const fields: (readonly [string, string])[] = [];
  if (roll(40) > 0) fields.push(['Host', roll(25) === 0 ? 'elsewhere.example' : host]);
  const many = [1, 1, 1, 1, 1, 1, 0, 2][roll(8)] ?? 1;
  const found = Array.from({ length: many }, () => credentialsOf(roll, known));
  fields.push(...found.map(({ field }) => field));
  if (target === '/verify') {
    fields.push(['X-Forwarded-Host', roll(12) === 0 ? 'elsewhere.example' : host]);
    for (const [name, values] of TOLD) {
      if (roll(25) > 0) fields.push([name, roll(3) === 0 ? pick(roll, values) : values[0]]);
    }
  }
  for (let count = roll(4); count > 0; count -= 1) {
    const [name, values] = pick(roll, FIELDS as [(typeof FIELDS)[0], ...typeof FIELDS]);
    fields.push([name, pick(roll, values)]);
  }
  const twice = fields[roll(fields.length * 12)]; // one request in twelve repeats a field
  if (twice !== undefined) fields.push(twice);
  for (let at = fields.length - 1; at > 0; at -= 1) {
    const other = roll(at + 1);
    [fields[at], fields[other]] = [fields[other] as never, fields[at] as never];
  }
  return {
    version: roll(40) === 0 ? pick(roll, VERSIONS) : 'HTTP/1.1',
    method: pick(roll, roll(12) === 0 ? RARE_METHODS : METHODS),
    target,
    fields: fields.map((field) => spelt(roll, field)),
    shown: found.length === 1 ? found[0]?.shown : undefined,
  };
}
