import { Http2ServerRequest } from 'node:http2';
import type { AnyRequest } from '../message/message.ts';
import type { ServerLimits } from '#shared/config/server-limits.ts';

interface Awaited {
  /** Bytes that its connection had received when we last looked; undefined: it was not its turn. */
  readonly before: number | undefined;
  readonly cut: () => void;
}

/**
 * Cuts off content that comes too slowly. If several requests of one connection (HTTP/2) wait for
 * content, the connection has to bring that many times more. Content that waits for us is not looked at.
 */
export class Pace implements Disposable {
  readonly #least: number;
  readonly #timer: NodeJS.Timeout;
  readonly #awaited = new Map<AnyRequest, Awaited>();

  constructor({ bytes, milliseconds }: ServerLimits['pace']) {
    this.#least = bytes;
    this.#timer = setInterval(() => this.look(), milliseconds).unref();
  }

  /** Watches the content of a request until it is complete or the connection is gone. */
  watch(request: AnyRequest, cut: () => void): void {
    this.#awaited.set(request, { before: undefined, cut });
    const forget = () => this.#awaited.delete(request);
    request.once('end', forget).once('close', forget);
  }

  /** Judges what has come since the last look. */
  look(): void {
    const waiting = Map.groupBy(this.#awaited.keys(), connectionOf);
    for (const requests of waiting.values()) {
      for (const request of requests) this.#judge(request, this.#least * requests.length);
    }
  }

  #judge(request: AnyRequest, least: number): void {
    const awaited = this.#awaited.get(request);
    const content = request instanceof Http2ServerRequest ? request.stream : request;
    if (awaited === undefined || request.complete || content.destroyed) {
      this.#awaited.delete(request);
      return;
    }
    const { before, cut } = awaited;
    const now = request.socket.bytesRead;
    const waits = content.readableLength + request.readableLength > 0;
    if (!waits && before !== undefined && now - before < least) {
      this.#awaited.delete(request);
      cut();
    } else {
      this.#awaited.set(request, { before: waits ? undefined : now, cut });
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}

function connectionOf(request: AnyRequest): object {
  return request instanceof Http2ServerRequest
    ? (request.stream.session ?? request.stream)
    : request.socket;
}
