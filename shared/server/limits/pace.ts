import { Http2ServerRequest } from 'node:http2';
import { Bag, type Placed } from '#shared/base/bag.ts';
import type { AnyRequest } from '../message/message.ts';
import type { ServerLimits } from '#shared/config/server-limits.ts';
import { setInterval } from '#shared/base/safe-timers.ts';

interface Awaited extends Placed {
  readonly request: AnyRequest;
  /** Octets that the connection had received at the last check; undefined before the first check. */
  before: number | undefined;
  readonly cut: () => void;
}

/**
 * Cuts off content that arrives too slowly. If several requests of one HTTP/2 connection wait for content, the
 * connection must bring the content of all of them at that pace. Content that waits for the server is not checked.
 */
export class Pace implements Disposable {
  readonly #least: number;
  readonly #timer: NodeJS.Timeout;
  readonly #awaited = new Bag<Awaited>();

  constructor({ bytes, milliseconds }: ServerLimits['pace']) {
    this.#least = bytes;
    this.#timer = setInterval(() => this.look(), milliseconds).unref();
  }

  /** Watches the content of a request until it is complete or the connection is closed. */
  watch(request: AnyRequest, cut: () => void): void {
    const awaited: Awaited = { place: -1, request, before: undefined, cut };
    this.#awaited.add(awaited);
    const forget = () => this.#awaited.delete(awaited);
    request.once('end', forget).once('close', forget);
  }

  /** Checks how much has arrived since the last check. */
  look(): void {
    const waiting = Map.groupBy(this.#awaited.toArray(), ({ request }) => connectionOf(request));
    for (const ofOne of waiting.values()) {
      for (const awaited of ofOne) this.#judge(awaited, this.#least * ofOne.length);
    }
  }

  #judge(awaited: Awaited, least: number): void {
    const { request, before, cut } = awaited;
    const content = request instanceof Http2ServerRequest ? request.stream : request;
    if (request.complete || content.destroyed) {
      this.#awaited.delete(awaited);
      return;
    }
    const now = request.socket.bytesRead;
    const waits = content.readableLength + request.readableLength > 0;
    if (!waits && before !== undefined && now - before < least) {
      this.#awaited.delete(awaited);
      cut();
    } else {
      awaited.before = waits ? undefined : now;
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
