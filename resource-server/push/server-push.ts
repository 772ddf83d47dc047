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

/** Returns the stream if server push can go over it. Throws HttpError 406 if the client takes none. */
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
 * Pushes one answer, and resolves to whether the client took all of it. One at a time, so that a client which reads
 * nothing or allows no streams has one answer waiting and not many. False if the client refuses it or has left. Rejects with
 * HttpError 406 if it has turned server push off meanwhile.
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
      promised.on('error', () => {}); // it is told by its close
      promised.once('close', () => {
        stream.off('close', left);
        resolve(promised.rstCode === constants.NGHTTP2_NO_ERROR);
      });
      if (body === undefined) {
        // Without content it closes at once. A client that refuses the promise has said so by the answer to a ping.
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

/** A sign of life for whatever ends quiet connections. */
export function ping({ session }: ServerHttp2Stream): void {
  if (session && !session.destroyed) session.ping(() => {});
}
