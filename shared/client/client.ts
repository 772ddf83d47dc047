import { isIP, type LookupFunction } from 'node:net';
import { createSecureContext, getCACertificates, type TLSSocket } from 'node:tls';
import { Agent, buildConnector, Client as OneConnection, type Dispatcher, request } from 'undici';
import { nextTick } from '#shared/base/safe-timers.ts';

/** Milliseconds for a connection, and between two pieces of an answer. */
const PATIENCE = 30_000;
/** Most connections to one origin at a time; further requests wait. */
const CONNECTIONS = 16;

export interface Client {
  readonly dispatcher: Dispatcher;
  readonly request: typeof request;
}

export interface ClientOptions {
  /** A certificate in PEM that is trusted beside those that the process trusts. */
  readonly ca?: string | Buffer;
  /** The time limit of an exchange. */
  readonly milliseconds: number;
  /** The only addresses to which the client connects, whatever the name of the server. */
  readonly addresses?: readonly string[];
}

/** Opens a client with connections of its own. This module is separate, since its import loads all of undici. */
export function openClient({ ca, milliseconds, addresses }: ClientOptions): Client {
  const connect = buildConnector({
    allowH2: false,
    timeout: Math.min(milliseconds, PATIENCE),
    ...(addresses && { lookup: lookupOf(addresses) }),
    ...(ca && { secureContext: createSecureContext({ ca: [...getCACertificates(), ca] }) }),
  });
  // If HTTP/2 is possible, undici makes one connection at a time, however many requests wait.
  const dispatcher = new Agent({
    allowH2: false,
    connect,
    connections: CONNECTIONS,
    headersTimeout: PATIENCE,
    bodyTimeout: PATIENCE,
  });
  return { dispatcher, request };
}

/** Returns a look-up that gives these addresses for any name. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, { all }, done) => {
    const [first] = found;
    if (all) done(null, found);
    else if (first) done(null, first.address, first.family);
  };
}

/** Opens a client with one connection over TLS, which is already open; the socket exports keying material. */
export async function openOnTls(
  url: URL,
): Promise<{ readonly client: Client; readonly socket: TLSSocket }> {
  const connect = buildConnector({ allowH2: false, timeout: PATIENCE });
  const { hostname, host, protocol, port } = url;
  const socket = await new Promise<TLSSocket>((resolve, reject) => {
    connect({ hostname, host, protocol, port }, (error, opened) =>
      error === null ? resolve(opened as TLSSocket) : reject(error),
    );
  });
  const dispatcher = new OneConnection(url.origin, {
    allowH2: false,
    connect: (_, done) => nextTick(() => done(null, socket)), // undici does not continue if it is called at once
    headersTimeout: PATIENCE,
    bodyTimeout: PATIENCE,
  });
  return { client: { dispatcher, request }, socket };
}
