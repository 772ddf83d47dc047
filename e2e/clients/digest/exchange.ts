import type { Duplex } from 'node:stream';

/** A field line. Comparisons of names ignore case; one character of a value is one octet. */
export type Field = readonly [name: string, value: string];

export interface HttpRequest {
  readonly method: string;
  /** The target of the request line: origin-form, absolute-form, or host and port of a CONNECT. */
  readonly target: string;
  readonly fields: readonly Field[];
  readonly content: Buffer;
}

export interface HttpResponse {
  readonly status: number;
  readonly fields: readonly Field[];
  readonly content: Buffer;
  readonly trailers: readonly Field[];
  /** The tunnel after a successful CONNECT. The schemes' clients ignore it. */
  readonly tunnel?: Duplex;
}

/**
 * Yields a request, receives its answer, and returns the last answer; throws if the server's proof is
 * false.
 */
export type Exchange = AsyncGenerator<HttpRequest, HttpResponse, HttpResponse>;

/** A client for one person and one protection space. It keeps the state that the scheme allows. */
export interface SchemeClient {
  exchange(request: HttpRequest): Exchange;
}

/** Sends one request to a server, and returns its answer. */
export type Send = (request: HttpRequest) => Promise<HttpResponse>;

/**
 * Runs an exchange to its end. Two credentials on one request are two nested exchanges:
 * `run(origin.exchange(request), (inner) => run(proxy.exchange(inner), send))`.
 */
export async function run(exchange: Exchange, send: Send): Promise<HttpResponse> {
  let step = await exchange.next();
  while (step.done !== true) step = await exchange.next(await send(step.value));
  return step.value;
}

/**
 * The status and the fields of authentication at an origin and at a proxy (RFC 9110 sections 11.6, 11.7).
 */
export const DOORS = {
  origin: {
    status: 401,
    ask: 'WWW-Authenticate',
    answer: 'Authorization',
    info: 'Authentication-Info',
  },
  proxy: {
    status: 407,
    ask: 'Proxy-Authenticate',
    answer: 'Proxy-Authorization',
    info: 'Proxy-Authentication-Info',
  },
} as const;

export type DoorName = keyof typeof DOORS;

/** The values of all lines of a field, in their order. */
export function valuesOf(fields: readonly Field[], name: string): readonly string[] {
  return fields.flatMap(([found, value]) =>
    found.toLowerCase() === name.toLowerCase() ? [value] : [],
  );
}
