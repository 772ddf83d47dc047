import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Log } from '#shared/base/log.ts';
import { beginUsing } from './adapter/using.ts';

type Next = () => Promise<unknown>;

/** Milliseconds between two tries to settle a use, and for which they go on: longer than a failover takes. */
const PAUSE = 500;
const PATIENCE = 60_000;

/**
 * What a token request used up is written, together with what came of it, when all that is left to do is to
 * answer; what failed has used nothing, and so has who went away meanwhile. A use is settled once the answer
 * is out: a client that never got it may repeat.
 */
export function uses(log: Log) {
  return async (ctx: KoaContextWithOIDC, next: Next): Promise<void> => {
    const request = beginUsing(ctx);
    await next();
    const { using } = request;
    if (using === undefined || ctx.status >= 400) return;
    if (ctx.oidc.route === 'token') {
      if (await isGone(ctx)) return;
      await using.write();
    }
    const { settle } = using;
    if (settle) ctx.res.once('finish', () => void settled(settle, log));
  };
}

/**
 * Whether the client gave up while this process was held up. What lies behind the request on its connection,
 * such as the end of it, is read a turn of the event loop later, and some requests take less than one.
 */
async function isGone(ctx: KoaContextWithOIDC): Promise<boolean> {
  await turn();
  await turn();
  return !ctx.writable;
}

/** Until it is, whoever has the used one may pass for the client that lost the answer. */
async function settled(settle: () => Promise<void>, log: Log): Promise<void> {
  for (let waited = 0; ; waited += PAUSE) {
    try {
      return await settle();
    } catch (error) {
      if (waited >= PATIENCE) return log.warn('unsettled', { reason: String(error) });
      await sleep(PAUSE, undefined, { ref: false });
    }
  }
}
