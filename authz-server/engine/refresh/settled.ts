import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#shared/base/log.ts';
import type { KoaContextWithOIDC } from 'oidc-provider';

/**
 * The pause in milliseconds between two attempts to settle a use. PATIENCE is how long the attempts continue: longer
 * than a failover.
 */
export const SETTLE_PAUSE = 500;
const PATIENCE = 60_000;

/**
 * Settles the use of a code or token after its answer was sent. A client that got no answer may repeat the request.
 * Before the use is settled, anybody who has the code or token may pretend to be the client that lost the answer.
 */
export function settled(log: Log) {
  async function untilSettled(settle: () => Promise<void>): Promise<void> {
    for (let waited = 0; ; waited += SETTLE_PAUSE) {
      try {
        return await settle();
      } catch (error) {
        if (waited >= PATIENCE) return log.warn('unsettled', { reason: String(error) });
        await sleep(SETTLE_PAUSE, undefined, { ref: false });
      }
    }
  }

  return ({ req, res }: KoaContextWithOIDC, { settle }: { settle?: () => Promise<void> }): void => {
    if (!settle) return;
    res.once('finish', () => {
      if (!req.socket.readableEnded) void untilSettled(settle);
    });
  };
}
