/** A request that is sent many times, or once among many. */
export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The requests of a load generator, run by run. */
export interface Load {
  /** The requests of the next run, in order; it begins again when they are all sent. */
  take(seconds: number): Promise<readonly HttpRequest[]>;
  /** Told how many were sent. */
  sent(count: number): void;
}

/** HTTP/1.1 on the wire (RFC 9112). */
export function serialize({ method, path, fields, body = '' }: HttpRequest, host: string): string {
  const length = body === '' ? {} : { 'Content-Length': `${Buffer.byteLength(body)}` };
  const lines = Object.entries({ Host: host, ...fields, ...length });
  const section = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `${method} ${path} HTTP/1.1\r\n${section}\r\n${body}`;
}

/** One request again and again. */
export function always(request: HttpRequest): Load {
  return { take: async () => [request], sent: () => {} };
}

/**
 * All requests in one order that goes on from run to run, also over several servers that share the
 * load: none comes again before all others were sent.
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

/** New requests for every run: what they carry may be used once and is soon too old. */
export function fresh(make: () => Promise<HttpRequest>, perSecond: number): Load {
  return {
    take: (seconds) => Promise.all(Array.from({ length: seconds * perSecond }, make)),
    sent: () => {},
  };
}
