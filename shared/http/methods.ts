/** The properties of a method at every resource (RFC 9110 section 9.2). */
export interface MethodPolicy {
  /** True if the resource server serves the method somewhere. */
  readonly served: boolean;
  readonly safe: boolean;
  readonly idempotent: boolean;
  /**
   * `conditional`: the answer is stored only with explicit freshness and a Content-Location of the target (RFC 9110
   * section 9.3.3).
   */
  readonly cacheable: boolean | 'conditional';
  /** `none`: content of a request has no meaning. */
  readonly body: 'none' | 'optional' | 'expected';
  readonly spec: string;
}

type Row = readonly [
  method: string,
  served: 'served' | 'known',
  safe: 'safe' | 'unsafe',
  idempotent: 'idempotent' | 'once',
  cacheable: MethodPolicy['cacheable'],
  body: MethodPolicy['body'],
  spec: string,
];

/**
 * The methods that the resource server serves, and methods that it must recognize: of proxies, connections and
 * caches, and the safe methods of WebDAV behind `/verify`. Allow has this order.
 */
const ROWS: readonly Row[] = [
  ['GET', 'served', 'safe', 'idempotent', true, 'none', 'RFC 9110 section 9.3.1'],
  ['HEAD', 'served', 'safe', 'idempotent', true, 'none', 'RFC 9110 section 9.3.2'],
  ['OPTIONS', 'served', 'safe', 'idempotent', false, 'optional', 'RFC 9110 section 9.3.7'],
  ['POST', 'served', 'unsafe', 'once', 'conditional', 'expected', 'RFC 9110 section 9.3.3'],
  ['PUT', 'served', 'unsafe', 'idempotent', false, 'expected', 'RFC 9110 section 9.3.4'],
  ['PATCH', 'served', 'unsafe', 'once', 'conditional', 'expected', 'RFC 5789 section 2'],
  ['DELETE', 'served', 'unsafe', 'idempotent', false, 'none', 'RFC 9110 section 9.3.5'],
  ['QUERY', 'served', 'safe', 'idempotent', true, 'expected', 'RFC 10008 section 2'],
  ['TRACE', 'served', 'safe', 'idempotent', false, 'none', 'RFC 9110 section 9.3.8'],
  ['CONNECT', 'known', 'unsafe', 'once', false, 'none', 'RFC 9110 section 9.3.6'],
  ['PRI', 'known', 'safe', 'idempotent', false, 'none', 'RFC 9113 section 3.4'],
  ['PROPFIND', 'served', 'safe', 'idempotent', false, 'optional', 'RFC 4918 section 9.1'],
  ['PROPPATCH', 'served', 'unsafe', 'idempotent', false, 'expected', 'RFC 4918 section 9.2'],
  ['MKCOL', 'served', 'unsafe', 'idempotent', false, 'optional', 'RFC 4918 section 9.3'],
  ['COPY', 'served', 'unsafe', 'idempotent', false, 'optional', 'RFC 4918 section 9.8'],
  ['MOVE', 'served', 'unsafe', 'idempotent', false, 'optional', 'RFC 4918 section 9.9'],
  ['LOCK', 'served', 'unsafe', 'once', false, 'optional', 'RFC 4918 section 9.10'],
  ['UNLOCK', 'served', 'unsafe', 'idempotent', false, 'none', 'RFC 4918 section 9.11'],
  ['PURGE', 'known', 'unsafe', 'idempotent', false, 'none', 'unregistered, of HTTP caches'],
  ['BAN', 'known', 'unsafe', 'idempotent', false, 'optional', 'unregistered, of HTTP caches'],
  ['REPORT', 'known', 'safe', 'idempotent', false, 'expected', 'RFC 3253 section 3.6'],
  ['SEARCH', 'known', 'safe', 'idempotent', false, 'expected', 'RFC 5323 section 2'],
];

/** The methods whose properties the code knows. */
export const METHODS: ReadonlyMap<string, MethodPolicy> = new Map(
  ROWS.map(([method, served, safe, idempotent, cacheable, body, spec]) => [
    method,
    {
      served: served === 'served',
      safe: safe === 'safe',
      idempotent: idempotent === 'idempotent',
      cacheable,
      body,
      spec,
    },
  ]),
);

/**
 * The methods that the resource server serves somewhere. Any other method gets 501 on any path (RFC 9110 section
 * 9.1).
 */
export const SERVED: ReadonlySet<string> = new Set(
  [...METHODS].filter(([, { served }]) => served).map(([method]) => method),
);

/** The methods that a cache itself answers: they say which stored answers it must remove. */
export const CACHE_METHODS: readonly string[] = ['PURGE', 'BAN'];

/** Matches a method in upper case (RFC 9110 section 9.1) of up to 64 characters. */
export const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Z-]{1,64}$/;

/**
 * Returns the value of Allow for 405 and OPTIONS (RFC 9110 section 10.2.1): OPTIONS always, HEAD with GET, and last
 * the methods that only an application supports.
 */
export function allow(methods: Iterable<string>): string {
  const allowed = new Set([...methods, 'OPTIONS']);
  if (allowed.has('GET')) allowed.add('HEAD');
  const known = [...METHODS.keys()].filter((method) => allowed.has(method));
  return [...known, ...[...allowed].filter((method) => !METHODS.has(method))].join(', ');
}
