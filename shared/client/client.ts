import { isIP, type LookupFunction } from 'node:net';
import { createSecureContext, getCACertificates, type TLSSocket } from 'node:tls';
import { Agent, buildConnector, Client as OneConnection, type Dispatcher, request } from 'undici';
import { nextTick } from '#shared/base/safe-timers.ts';

/** For a connection, and between two pieces of an answer. */
const PATIENCE = 30_000;
/** At a time to one origin; further requests wait for these. */
const CONNECTIONS = 16;

export interface Client {
  readonly dispatcher: Dispatcher;
  readonly request: typeof request;
}

export interface ClientOptions {
  /** A certificate in PEM to be trusted beside those that the process trusts. */
  readonly ca?: string | Buffer;
  /** The time for an exchange. */
  readonly milliseconds: number;
  /** The only addresses that are dialled, whatever the name of the server. */
  readonly addresses?: readonly string[];
}

/** Connections of their own. A module by itself, since its import loads all of undici. */
export function openClient({ ca, milliseconds, addresses }: ClientOptions): Client {
  const connect = buildConnector({
    allowH2: false,
    timeout: Math.min(milliseconds, PATIENCE),
    ...(addresses && { lookup: lookupOf(addresses) }),
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

/** A look-up that gives these addresses for any name. */
function lookupOf(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, { all }, done) => {
    const [first] = found;
    if (all) done(null, found);
    else if (first) done(null, first.address, first.family);
  };
}

/** A client that has one connection, which is open, of TLS; the socket says what it exports. */
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
    connect: (_, done) => nextTick(() => done(null, socket)), // at once it would never go on
    headersTimeout: PATIENCE,
    bodyTimeout: PATIENCE,
  });
  return { client: { dispatcher, request }, socket };
}
