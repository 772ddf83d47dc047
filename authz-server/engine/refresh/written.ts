import { setImmediate as turn } from 'node:timers/promises';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { EngineRequest } from './engine-request.ts';

/** All that is left to do is to answer: what was used is written, unless nobody waits for the answer any more. */
export async function written(ctx: KoaContextWithOIDC, { use }: EngineRequest): Promise<void> {
  if (use === undefined || ctx.oidc.route !== 'token') return;
  if (await isGone(ctx)) ctx.res.destroy();
  else await use.write();
}

/**
 * Whether the client gave up while this process was held up. What lies behind the request on its connection,
 * such as the end of it, is read a turn of the event loop later, and some requests take less than one. Who only
 * ended its own side (RFC 9112 section 9.6) looks the same.
 */
async function isGone(ctx: KoaContextWithOIDC): Promise<boolean> {
  await turn();
  await turn();
  return !ctx.writable || ctx.req.socket.readableEnded;
}
