import { once } from 'node:events';
import http2 from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { closedLoop } from './closed-loop.ts';
import { type HttpContender, probe } from './http-load.ts';
import type { Contender } from './measure.ts';
import type { HttpRequest } from './requests.ts';

export interface Http2Load {
  readonly connections: number;
  /** Parallel streams of each connection. */
  readonly streams: number;
}

/**
 * Loads the server over clear-text HTTP/2 with prior knowledge (RFC 9113 section 3.3), from this process.
 */
export function overHttp2(
  contender: HttpContender,
  { connections, streams }: Http2Load,
): Contender {
  const { name, server, load, answer } = contender;
  return {
    name,
    server,
    probe: () => probe(contender),
    async prepare(seconds) {
      const [request] = await load.take(seconds);
      if (request === undefined) throw new Error(`${name} has nothing to answer`);
      return async () => {
        const sessions = Array.from({ length: connections }, () => connect(server.url));
        const visit = async () => {
          const session = sessions.shift();
          if (session === undefined) throw new RangeError('there are no connections');
          sessions.push(session);
          const status = await ask(session, request);
          if (status !== answer.status) throw new Error(`${name} answered ${status}`);
        };
        const done = await closedLoop(visit, connections * streams, seconds);
        for (const session of sessions) session.destroy();
        load.sent(done.count);
        return done;
      };
    },
  };
}

function connect(url: string): ClientHttp2Session {
  return http2.connect(url).on('error', () => {}); // each stream reports the failure, too
}

/** The status, once the whole content has arrived. */
async function ask(session: ClientHttp2Session, { method, path, fields, body }: HttpRequest) {
  const stream = session.request({ ...fields, ':method': method, ':path': path });
  let status: number | undefined;
  stream.once('response', (headers) => {
    status = headers[':status'];
  });
  stream.end(body).resume();
  await once(stream, 'close');
  return stream.readableEnded ? status : undefined;
}
