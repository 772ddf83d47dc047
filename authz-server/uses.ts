import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Log } from '#shared/log.ts';
import { beginUsing } from './adapter/using.ts';

type Next = () => Promise<unknown>;

/**
 * What a token request used up is written, together with what came of it, when all that is left to do is to
 * answer; what failed has used nothing. A use is settled once the answer is out: a client that never got it
 * may repeat.
 */
export function uses(log: Log) {
  return async (ctx: KoaContextWithOIDC, next: Next): Promise<void> => {
    const request = beginUsing(ctx);
    await next();
    const { using } = request;
    if (using === undefined || ctx.status >= 400) return;
    if (ctx.oidc.route === 'token') await using.write();
    ctx.res.once('finish', () => {
      using.settle?.().catch((error: unknown) => log.warn('unsettled', { reason: String(error) }));
    });
  };
}
