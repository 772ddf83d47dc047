/** Bytes, milliseconds, and requests. */
export interface ServerLimits {
  /** Request line and header section together. */
  readonly headerBytes: number;
  readonly targetBytes: number;
  /** Until the header section is complete. */
  readonly headersTimeout: number;
  /** Until the content is complete. */
  readonly requestTimeout: number;
  /** Without a byte in either direction while a request is under way. */
  readonly idleTimeout: number;
  /** Between two requests: longer than a load balancer waits (60 s), so that it is the one to close. */
  readonly keepAliveTimeout: number;
  /** How often the first two timeouts are looked at. */
  readonly checkInterval: number;
  readonly requestsPerConnection: number;
  /** Requests under way at a time on a connection of HTTP/2. */
  readonly streams: number;
}

export const LIMITS: ServerLimits = {
  headerBytes: 16_384,
  targetBytes: 8192, // RFC 9112 section 3 asks for 8000 at least
  headersTimeout: 15_000,
  requestTimeout: 300_000,
  idleTimeout: 120_000,
  keepAliveTimeout: 75_000,
  checkInterval: 5000,
  requestsPerConnection: 10_000,
  streams: 100,
};

/** Where Negotiate is spoken: the ticket of a person in many groups takes up to 64 KiB. */
export const TICKETS: Partial<ServerLimits> = { headerBytes: 81_920 };
