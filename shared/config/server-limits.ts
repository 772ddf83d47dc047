import type { Rate } from '#shared/stores/limits/limits.ts';

/** Bytes, milliseconds, and how many of a thing. */
export interface ServerLimits {
  /** Connections of all workers of a server together: from one address (or IPv6 network of 64 bits), and from all. */
  readonly connections: { readonly address: number; readonly total: number };
  /** Request line and header section together. */
  readonly headerBytes: number;
  /** Field lines of the header section, pseudo-header fields among them. */
  readonly fields: number;
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
  /** Content that is waited for, and is slower than these bytes in each of these times, is cut off. */
  readonly pace: { readonly bytes: number; readonly milliseconds: number };
  /** Content of a method that takes none. */
  readonly needlessBytes: number;
  /** Content that nobody has read by the end of the answer: with more, the connection ends. */
  readonly leftoverBytes: number;
  readonly requestsPerConnection: number;
  /** Requests under way at a time on a connection of HTTP/2. */
  readonly streams: number;
  /** Streams of a connection of HTTP/2 that end by a reset (CVE-2023-44487). */
  readonly resets: Rate;
  /** PING and SETTINGS frames of a connection of HTTP/2. */
  readonly controls: Rate;
  /** Octets of header sections that a connection of HTTP/2 may unpack (RFC 7541) beyond an ordinary measure. */
  readonly unpackedBytes: number;
  /** Malformed requests, frames without effect and header sections that are refused unseen on a connection of HTTP/2. */
  readonly invalidFrames: number;
}

export const LIMITS: ServerLimits = {
  connections: { address: 1000, total: 10_000 },
  headerBytes: 16_384,
  fields: 200,
  targetBytes: 8192, // RFC 9112 section 3 asks for 8000 at least
  headersTimeout: 15_000,
  requestTimeout: 300_000,
  idleTimeout: 120_000,
  keepAliveTimeout: 75_000,
  checkInterval: 5000,
  pace: { bytes: 3000, milliseconds: 30_000 },
  needlessBytes: 65_536,
  leftoverBytes: 64 * 1024 * 1024,
  requestsPerConnection: 10_000,
  streams: 100,
  resets: { burst: 200, per: 0.05 },
  controls: { burst: 100, per: 0.1 },
  unpackedBytes: 1024 * 1024,
  invalidFrames: 500,
};

/** Where Negotiate is spoken: the ticket of a person in many groups takes up to 64 KiB. */
export const TICKETS: Partial<ServerLimits> = { headerBytes: 81_920 };

/** Where requests are passed on: which content is needless is for others to say. */
export const FORWARDING: Partial<ServerLimits> = { ...TICKETS, needlessBytes: Infinity };
