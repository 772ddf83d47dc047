import { constants, Http2ServerRequest } from 'node:http2';
import { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { AnyRequest } from '#shared/server/message.ts';
import type { Side } from '#shared/server/tunnel.ts';

export function sideOf(request: AnyRequest): Side {
  return request instanceof Http2ServerRequest ? request.stream : request.socket;
}

/** Breaks off in a way that nobody can take for the end of the data. `code`: of HTTP/2. */
export function breakOff(side: Side, code = constants.NGHTTP2_INTERNAL_ERROR): void {
  if (side instanceof Socket) {
    // While a FIN is being sent there is no reset: libuv refuses, and node:net would lose the handle.
    const ending = side.writableEnded && !side.writableFinished;
    if (side instanceof TLSSocket || ending) side.destroy();
    else side.resetAndDestroy();
  } else if (side.closed) side.destroy();
  else side.close(code);
}
