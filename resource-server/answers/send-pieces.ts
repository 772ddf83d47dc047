import { Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { Fields } from '#shared/http/answer.ts';
import { type AnyRequest, type AnyResponse, setFields } from '#shared/server/message/message.ts';
import { note } from '#shared/server/message/request-log.ts';
import { breakOff, sideOf } from './side.ts';
import type { Pieces, ResourceAnswer } from './pieces.ts';

/** An answer whose content is sent in pieces. */
export type InPieces = ResourceAnswer & { readonly body: Pieces };

const KIB = 1024;
/** Octets of a piece over TLS, which copies each piece. */
const OVER_TLS = 256 * KIB;
/** Octets of a piece over HTTP/2. A window (RFC 9113 section 5.2) may be smaller, but a frame has at least FRAME. */
const OVER_HTTP2 = 64 * KIB;
const FRAME = 16 * KIB;

/**
 * Writes the answer, each piece once the previous one is sent or copied. Resolves when all is written or the client has
 * left. If the content breaks off, rejects, and breaks off the connection or stream. The log line says why.
 */
export async function sendPieces(
  request: AnyRequest,
  response: AnyResponse,
  { status, fields, body, trailers }: InPieces,
): Promise<void> {
  const { method, socket } = request;
  await using content = body;
  if (response.writableEnded) return; // the client was refused meanwhile, and has another answer
  const side = response instanceof Http2ServerResponse ? response.stream : response;
  response.statusCode = status;
  setFields(response, fields);
  try {
    if (method !== 'HEAD') {
      for await (const piece of content.each(pieceFor(response, socket))) {
        if (!(await written(response, side, piece))) return;
      }
    }
    if (trailers) response.addTrailers(lines(trailers()));
    response.end();
  } catch (error) {
    if (side.destroyed) return; // the client left first
    note(request, { reason: (error as Error).message });
    breakOff(sideOf(request));
    throw error;
  }
}

/** Resolves to true once the piece is sent, or at least copied, and to false if the client has left. */
function written(response: Writable, side: Writable, piece: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    if (side.destroyed) return resolve(false);
    const left = () => resolve(false);
    side.once('close', left);
    response.write(piece, (error) => {
      side.off('close', left);
      resolve(!error);
    });
  });
}

/**
 * Returns the length of a piece. A written piece stays in memory, so it is at most as long as the client's free buffer
 * or window.
 */
function pieceFor(response: AnyResponse, socket: Socket): number {
  if (!(response instanceof Http2ServerResponse)) {
    return socket instanceof TLSSocket ? OVER_TLS : Infinity;
  }
  const { session } = response.stream;
  const ofStream = session?.remoteSettings.initialWindowSize ?? FRAME;
  const ofConnection = session?.state.remoteWindowSize ?? FRAME;
  return Math.max(Math.min(OVER_HTTP2, ofStream, ofConnection), FRAME);
}

function lines(fields: Fields): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : [...value],
    ]),
  );
}
