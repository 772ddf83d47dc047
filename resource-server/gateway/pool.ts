import { buildConnector, Pool } from 'undici';
import type { UpstreamConfig } from '#shared/config/upstream-schema.ts';
import { ANSWER_HEADER } from '../forwarding/send-by-node.ts';

/** Milliseconds for a connection. */
const CONNECT = 10_000;

/** How the application proves that it is there. */
export interface Secure {
  readonly ca?: (string | Buffer)[];
  readonly servername: string;
}

export interface PoolOptions {
  readonly url: URL;
  readonly config: UpstreamConfig;
  readonly secure: Secure;
  /** Milliseconds after which a connection without a request is closed. */
  readonly idle: number;
}

/** Opens connections to an application, none of which is made yet. This module has all of undici. */
export function openPool({ url, config, secure, idle }: PoolOptions): Pool {
  const { connections, timeout, tls } = config;
  return new Pool(url.origin, {
    connections,
    connect: honestly(
      { timeout: CONNECT, allowH2: tls.http2, preferH2: tls.http2, ...secure },
      secure,
    ),
    allowH2: tls.http2,
    headersTimeout: timeout * 1000,
    bodyTimeout: timeout * 1000,
    keepAliveTimeout: idle,
    maxHeaderSize: ANSWER_HEADER,
    pipelining: 1,
  });
}

/**
 * Connections to a server that proves to be of this name, where undici would have it of the request's Host, and
 * of which a reset is not the end. undici takes it for that of an answer without a length, which ends with the
 * connection, but not with one that breaks off (RFC 9112 section 8).
 */
function honestly(
  options: buildConnector.BuildOptions,
  { servername }: Secure,
): buildConnector.connector {
  const connect = buildConnector(options);
  return (target, done) => {
    connect({ ...target, servername }, (error, socket) => {
      if (error) return done(error, null);
      socket.prependListener('error', (reset: NodeJS.ErrnoException) => {
        if (reset.code === 'ECONNRESET') reset.code = 'ECONNABORTED';
      });
      done(null, socket);
    });
  };
}
