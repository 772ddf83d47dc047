import { buildConnector, Pool } from 'undici';
import type { UpstreamConfig } from '#shared/config/upstream-schema.ts';
import { ANSWER_HEADER } from '../forwarding/send-by-node.ts';

/** Milliseconds for opening a connection. */
const CONNECT = 10_000;

/** How the application proves its identity. */
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

/** Makes a pool of connections to an application, none of which is open yet. Only this module loads undici. */
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
 * Makes connections that verify the server's name from the URL, where undici would use the request's Host. It also
 * reports a reset as an error. Undici treats a reset as the end of an answer without a length. That is right for an
 * answer delimited by a regular end, and wrong for one that breaks off (RFC 9112 section 8).
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
