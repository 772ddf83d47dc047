import type { Duplex } from 'node:stream';

/** A field line; names are compared without case. Of the values, one character is one octet. */
export type Field = readonly [name: string, value: string];

export interface HttpRequest {
  readonly method: string;
  /** As it stands in the request line: origin-form, absolute-form, or host and port of a CONNECT. */
  readonly target: string;
  readonly fields: readonly Field[];
  readonly content: Buffer;
}

export interface HttpResponse {
  readonly status: number;
  readonly fields: readonly Field[];
  readonly content: Buffer;
  readonly trailers: readonly Field[];
  /** The tunnel of a granted CONNECT; the clients of the schemes do not look at it. */
  readonly tunnel?: Duplex;
}

/** Yields what to send, is sent what came back, returns the last answer; throws at a false server. */
export type Exchange = AsyncGenerator<HttpRequest, HttpResponse, HttpResponse>;

/** A client of one person and one protection space; it remembers what the scheme lets it remember. */
export interface SchemeClient {
  exchange(request: HttpRequest): Exchange;
}

/** Carries one request to a server and brings its answer. */
export type Send = (request: HttpRequest) => Promise<HttpResponse>;

/**
 * Carries an exchange to its end. Two credentials on one request are two exchanges, one inside the
 * other: `run(origin.exchange(request), (inner) => run(proxy.exchange(inner), send))`.
 */
export async function run(exchange: Exchange, send: Send): Promise<HttpResponse> {
  let step = await exchange.next();
  while (step.done !== true) step = await exchange.next(await send(step.value));
  return step.value;
}

/** Status and fields of authentication at an origin and at a proxy (RFC 9110 sections 11.6, 11.7). */
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

/** Values of all lines of one field, in their order. */
export function valuesOf(fields: readonly Field[], name: string): readonly string[] {
  return fields.flatMap(([found, value]) =>
    found.toLowerCase() === name.toLowerCase() ? [value] : [],
  );
}
