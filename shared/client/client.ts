import { createSecureContext, getCACertificates } from 'node:tls';
import { Agent, buildConnector, request } from 'undici';

/** For a connection, and between two pieces of an answer. */
const PATIENCE = 30_000;
/** At a time to one origin; further requests wait for these. */
const CONNECTIONS = 16;

export interface Client {
  readonly dispatcher: Agent;
  readonly request: typeof request;
}

export interface ClientOptions {
  /** A certificate in PEM to be trusted beside those that the process trusts. */
  readonly ca?: string | Buffer;
  /** Of an exchange. */
  readonly milliseconds: number;
}

/** Connections of their own. A module by itself, since its import loads all of undici. */
export function openClient({ ca, milliseconds }: ClientOptions): Client {
  const connect = buildConnector({
    allowH2: false,
    timeout: Math.min(milliseconds, PATIENCE),
    ...(ca && { secureContext: createSecureContext({ ca: [...getCACertificates(), ca] }) }),
  });
  // Where HTTP/2 is possible, one connection is made at a time, however many wait.
  const dispatcher = new Agent({
    allowH2: false,
    connect,
    connections: CONNECTIONS,
    headersTimeout: PATIENCE,
    bodyTimeout: PATIENCE,
  });
  return { dispatcher, request };
}
