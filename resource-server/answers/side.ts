import { constants, Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import type { AnyRequest, AnyResponse } from '#shared/server/message/message.ts';
import type { Side } from '#shared/server/tunnels/tunnel.ts';

export function sideOf(request: AnyRequest): Side {
  return request instanceof Http2ServerRequest ? request.stream : request.socket;
}

/**
 * Returns the stream that closes when a request is over, with any result. Over HTTP/2 this is not the response, which
 * never closes for a HEAD without an answer in node:http2.
 */
export function exchangeOf(response: AnyResponse): Writable {
  return response instanceof Http2ServerResponse ? response.stream : response;
}

/**
 * Breaks a connection off, so that the client cannot mistake this for the end of the data. `code`: the error code of
 * HTTP/2.
 */
export function breakOff(side: Side, code = constants.NGHTTP2_INTERNAL_ERROR): void {
  if (side instanceof Socket) {
    // While a FIN is being sent, no reset is possible: libuv refuses it, and node:net would lose the handle.
    const ending = side.writableEnded && !side.writableFinished;
    if (side instanceof TLSSocket || ending) side.destroy();
    else side.resetAndDestroy();
  } else if (side.closed) side.destroy();
  else side.close(code);
}
