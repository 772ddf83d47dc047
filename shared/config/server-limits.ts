import type { Rate } from '#shared/stores/limits/limits.ts';

/** The limits of a server: bytes, milliseconds and numbers of things. */
export interface ServerLimits {
  /** Connections of all workers of a server together: from one address (or IPv6 network of 64 bits), and from all. */
  readonly connections: { readonly address: number; readonly total: number };
  /** Request line and header section together. */
  readonly headerBytes: number;
  /** Field lines of the header section, pseudo-header fields among them. */
  readonly fields: number;
  readonly targetBytes: number;
  /** Milliseconds until the header section of a request is complete. */
  readonly headersTimeout: number;
  /** Milliseconds until the content of a request is complete. */
  readonly requestTimeout: number;
  /** Milliseconds without a byte in either direction during a request. */
  readonly idleTimeout: number;
  /**
   * Milliseconds between two requests on a connection: longer than a load balancer waits (60 s), so that the load
   * balancer closes the connection first.
   */
  readonly keepAliveTimeout: number;
  /** Milliseconds between two checks of the first two timeouts. */
  readonly checkInterval: number;
  /** The lowest rate at which content must arrive while the server reads it. Slower content is cut off. */
  readonly pace: { readonly bytes: number; readonly milliseconds: number };
  /** The most bytes of content of a method that has no use for content. */
  readonly needlessBytes: number;
  /** The most bytes of content that may be unread when the answer ends. With more, the server closes the connection. */
  readonly leftoverBytes: number;
  readonly requestsPerConnection: number;
  /** Requests under way at a time on a connection of HTTP/2. */
  readonly streams: number;
  /** Streams of a connection of HTTP/2 that end by a reset (CVE-2023-44487). */
  readonly resets: Rate;
  /** PING and SETTINGS frames of a connection of HTTP/2. */
  readonly controls: Rate;
  /**
   * Octets of decompressed header sections (HPACK, RFC 7541) that an HTTP/2 connection may have beyond an ordinary
   * amount.
   */
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

/** Limits for servers with the scheme Negotiate: the Kerberos ticket of a person in many groups takes up to 64 KiB. */
export const TICKETS: Partial<ServerLimits> = { headerBytes: 81_920 };

/** Limits for servers that forward requests: the application decides which methods have content. */
export const FORWARDING: Partial<ServerLimits> = { ...TICKETS, needlessBytes: Infinity };
