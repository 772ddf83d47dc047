import type { Socket } from 'node:net';
import { PROXY, type Seal } from '#shared/auth/scheme.ts';
import type { Fields } from '#shared/http/answer.ts';
import type { AnyRequest, AnyResponse } from '#shared/server/message/message.ts';
import { PassingAnswer } from '../forwarding/passing-answer.ts';
import { sendByNode } from '../forwarding/send-by-node.ts';
import { requestLines } from './fields.ts';
import type { ProxyTarget } from './target.ts';

/** A request on its way through the proxy, and its answer on the way back. */
interface Forwarding {
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

/**
 * Forwards a request and its answer (RFC 9110 section 7.6), both as they come. Resolves when the answer
 * has begun. Rejects before that with HttpError 502 or 504, or BadRequest; an answer that breaks off
 * later breaks off for the client, and never looks like a whole one.
 */
export async function forward(forwarding: Forwarding): Promise<void> {
  const { request, target, socket, idle, pseudonym } = forwarding;
  const passing = new PassingAnswer({ ...forwarding, info: PROXY.info });
  const way = { createConnection: () => socket };
  try {
    const lines = requestLines(request, target, pseudonym);
    await sendByNode({ request, way, path: target.path, lines, idle }, passing);
  } catch (error) {
    socket.destroy();
    throw error;
  }
}
