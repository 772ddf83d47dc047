/** What is true of a method wherever it is used (RFC 9110 section 9.2). */
export interface MethodPolicy {
  readonly safe: boolean;
  readonly idempotent: boolean;
  /** `conditional`: only with explicit freshness and a Content-Location of the target (RFC 9110 section 9.3.3). */
  readonly cacheable: boolean | 'conditional';
  /** `none`: content has no meaning. */
  readonly body: 'none' | 'optional' | 'expected';
  readonly spec: string;
}

type Row = readonly [
  method: string,
  safe: 'safe' | 'unsafe',
  idempotent: 'idempotent' | 'once',
  cacheable: MethodPolicy['cacheable'],
  body: MethodPolicy['body'],
  spec: string,
];

/**
 * The IANA method registry as far as an HTTP/1.1 parser passes it, CONNECT and PRI included, and
 * the two methods of caches that nobody has registered. The order is that of the Allow field.
 */
const ROWS: readonly Row[] = [
  ['GET', 'safe', 'idempotent', true, 'none', 'RFC 9110 section 9.3.1'],
  ['HEAD', 'safe', 'idempotent', true, 'none', 'RFC 9110 section 9.3.2'],
  ['OPTIONS', 'safe', 'idempotent', false, 'optional', 'RFC 9110 section 9.3.7'],
  ['POST', 'unsafe', 'once', 'conditional', 'expected', 'RFC 9110 section 9.3.3'],
  ['PUT', 'unsafe', 'idempotent', false, 'expected', 'RFC 9110 section 9.3.4'],
  ['PATCH', 'unsafe', 'once', 'conditional', 'expected', 'RFC 5789 section 2'],
  ['DELETE', 'unsafe', 'idempotent', false, 'none', 'RFC 9110 section 9.3.5'],
  ['QUERY', 'safe', 'idempotent', true, 'expected', 'RFC 10008'],
  ['TRACE', 'safe', 'idempotent', false, 'none', 'RFC 9110 section 9.3.8'],
  ['CONNECT', 'unsafe', 'once', false, 'none', 'RFC 9110 section 9.3.6'],
  ['PRI', 'safe', 'idempotent', false, 'none', 'RFC 9113 section 3.4'],
  ['PROPFIND', 'safe', 'idempotent', false, 'optional', 'RFC 4918 section 9.1'],
  ['PROPPATCH', 'unsafe', 'idempotent', false, 'expected', 'RFC 4918 section 9.2'],
  ['MKCOL', 'unsafe', 'idempotent', false, 'optional', 'RFC 4918 section 9.3'],
  ['COPY', 'unsafe', 'idempotent', false, 'optional', 'RFC 4918 section 9.8'],
  ['MOVE', 'unsafe', 'idempotent', false, 'optional', 'RFC 4918 section 9.9'],
  ['LOCK', 'unsafe', 'once', false, 'optional', 'RFC 4918 section 9.10'],
  ['UNLOCK', 'unsafe', 'idempotent', false, 'none', 'RFC 4918 section 9.11'],
  ['PURGE', 'unsafe', 'idempotent', false, 'none', 'unregistered, a convention of HTTP caches'],
  ['BAN', 'unsafe', 'idempotent', false, 'none', 'unregistered, a convention of HTTP caches'],
  ['ACL', 'unsafe', 'idempotent', false, 'expected', 'RFC 3744 section 8.1'],
  ['BIND', 'unsafe', 'idempotent', false, 'expected', 'RFC 5842 section 4'],
  ['CHECKOUT', 'unsafe', 'idempotent', false, 'optional', 'RFC 3253 section 4.3'],
  ['LINK', 'unsafe', 'idempotent', false, 'none', 'RFC 2068 section 19.6.1.2'],
  ['MERGE', 'unsafe', 'idempotent', false, 'expected', 'RFC 3253 section 11.2'],
  ['MKACTIVITY', 'unsafe', 'idempotent', false, 'optional', 'RFC 3253 section 13.5'],
  ['MKCALENDAR', 'unsafe', 'idempotent', false, 'optional', 'RFC 4791 section 5.3.1'],
  ['REBIND', 'unsafe', 'idempotent', false, 'expected', 'RFC 5842 section 6'],
  ['REPORT', 'safe', 'idempotent', false, 'expected', 'RFC 3253 section 3.6'],
  ['SEARCH', 'safe', 'idempotent', false, 'expected', 'RFC 5323 section 2'],
  ['UNBIND', 'unsafe', 'idempotent', false, 'expected', 'RFC 5842 section 5'],
  ['UNLINK', 'unsafe', 'idempotent', false, 'none', 'RFC 2068 section 19.6.1.3'],
];

/** The methods known anywhere; what is not here is 501 (RFC 9110 section 9.1). */
export const METHODS: ReadonlyMap<string, MethodPolicy> = new Map(
  ROWS.map(([method, safe, idempotent, cacheable, body, spec]) => [
    method,
    { safe: safe === 'safe', idempotent: idempotent === 'idempotent', cacheable, body, spec },
  ]),
);

/** The value of Allow (RFC 9110 section 10.2.1): OPTIONS always, HEAD wherever GET is. */
export function allow(methods: Iterable<string>): string {
  const allowed = new Set([...methods, 'OPTIONS']);
  if (allowed.has('GET')) allowed.add('HEAD');
  return [...METHODS.keys()].filter((method) => allowed.has(method)).join(', ');
}
