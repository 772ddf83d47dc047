/** A request that is sent once or repeatedly. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The requests of a load generator, run by run. */
export interface Load {
  /** The requests of the next run in order, repeated from the start when all are sent. */
  take(seconds: number): Promise<readonly HttpRequest[]>;
  /** Called with the number of sent requests. */
  sent(count: number): void;
}

/** The octets of an HTTP/1.1 request (RFC 9112). */
export function serialize({ method, path, fields, body = '' }: HttpRequest, host: string): string {
  const length = body === '' ? {} : { 'Content-Length': `${Buffer.byteLength(body)}` };
  const lines = Object.entries({ Host: host, ...fields, ...length });
  const section = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `${method} ${path} HTTP/1.1\r\n${section}\r\n${body}`;
}

/** One request, repeated. */
export function always(request: HttpRequest): Load {
  return { take: async () => [request], sent: () => {} };
}

/**
 * All requests in rotation across runs and across several servers with this load: no request is repeated
 * before all others were sent.
 */
export function inTurn(requests: readonly HttpRequest[]): Load {
  let next = 0;
  return {
    take: async () => [...requests.slice(next), ...requests.slice(0, next)],
    sent(count) {
      next = (next + count) % requests.length;
    },
  };
}

/** New requests for every run, because each may be used once and expires soon. */
export function fresh(make: () => Promise<HttpRequest>, perSecond: number): Load {
  return {
    take: (seconds) => Promise.all(Array.from({ length: seconds * perSecond }, make)),
    sent: () => {},
  };
}
