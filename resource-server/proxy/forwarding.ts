import type { Socket } from 'node:net';
import type { Seal } from '#shared/auth/scheme.ts';
import type { Fields } from '#shared/http/answer.ts';
import type { AnyRequest, AnyResponse } from '#shared/server/message/message.ts';
import type { ProxyTarget } from './target.ts';

/** A request on its way through the proxy, and its answer on the way back. */
export interface Forwarding {
  readonly request: AnyRequest;
  readonly response: AnyResponse;
  readonly target: ProxyTarget;
  /** The connection to the target, for this request alone. */
  readonly socket: Socket;
  /** Of the proxy's own, for the answer. */
  readonly fields: Fields;
  readonly seal?: Seal<Fields> | undefined;
  readonly pseudonym: string;
  /** Seconds that may pass without a byte in either direction. */
  readonly idle: number;
}
