import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '#shared/base/log.ts';
import type { KoaContextWithOIDC } from 'oidc-provider';

/** Milliseconds between two attempts to settle a use, and how long they go on: longer than a failover takes. */
export const SETTLE_PAUSE = 500;
const PATIENCE = 60_000;

/**
 * A use is settled once its answer is out: a client that never got it may repeat. Until it is, anybody who has
 * what was used may pass for the client that lost the answer.
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
