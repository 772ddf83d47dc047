import { PROXY } from '#shared/auth/scheme.ts';
import { PassingAnswer } from '../forwarding/passing-answer.ts';
import { sendByNode } from '../forwarding/send-by-node.ts';
import { requestLines } from './fields.ts';
import type { Forwarding } from './forwarding.ts';

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
