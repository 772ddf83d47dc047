import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { Http2ServerResponse } from 'node:http2';
import { HttpError } from '#shared/http/answer.ts';
import type { AnyResponse } from '#shared/server/message/message.ts';

/** A promised request and its answer (RFC 9113 section 8.4). */
export interface Promised {
  readonly path: string;
  readonly fields: OutgoingHttpHeaders & { readonly ':status': number };
  readonly body?: Buffer;
}

/** Returns the stream for server push. Throws HttpError 406 if the client does not accept pushes. */
export function pushable(response: AnyResponse): ServerHttp2Stream {
  if (response instanceof Http2ServerResponse && response.stream.pushAllowed) {
    return response.stream;
  }
  throw notTaken();
}

const notTaken = () =>
  new HttpError(
    406,
    'Messages come as events (send Accept: text/event-stream), or by server push of HTTP/2, which this connection does not support.',
  );

/**
 * Pushes one answer, and resolves to whether the client received all of it.
 * Answers are pushed one at a time, so that a client that reads nothing or allows no streams has only one waiting.
 * False: the client refused the answer or has left. Rejects with HttpError 406 if the client has turned server push
 * off.
 */
export async function push(stream: ServerHttp2Stream, { path, fields, body }: Promised) {
  const { session } = stream;
  if (stream.closed || stream.destroyed || session === undefined) return false;
  if (!stream.pushAllowed) throw notTaken();
  if (session.remoteSettings.maxConcurrentStreams === 0) return false;
  return new Promise<boolean>((resolve) => {
    const left = () => resolve(false);
    stream.once('close', left);
    stream.pushStream({ ':path': path }, (error, promised) => {
      if (error) return resolve(false);
      promised.on('error', () => {}); // `close` reports the error
      promised.once('close', () => {
        stream.off('close', left);
        resolve(promised.rstCode === constants.NGHTTP2_NO_ERROR);
      });
      if (body === undefined) {
        // Without content the stream closes at once. If the client refuses the promise, its refusal arrives before the
        // answer to a ping.
        if (session.destroyed) return;
        session.ping(() => {
          if (!promised.closed) promised.respond(fields, { endStream: true });
        });
        return;
      }
      promised.respond(fields);
      promised.end(body);
    });
  });
}

/** Sends a heartbeat, since servers in between close quiet connections. */
export function ping({ session }: ServerHttp2Stream): void {
  if (session && !session.destroyed) session.ping(() => {});
}
