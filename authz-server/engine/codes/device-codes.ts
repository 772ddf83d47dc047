import { errors, Provider } from 'oidc-provider';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { epochSeconds } from '#shared/base/clock.ts';
import { AFTERLIFE } from '../../base/device-code.ts';
import { singleUseAdapter } from '../refresh/single-use.ts';
import type { AdapterStore } from '../storage/store.ts';
import { boundedForStrangers, byAnybody } from '../storage/strangers.ts';

const slowDown = (interval: number) =>
  `poll at most every ${interval} s; after this answer wait 5 s longer each time (RFC 8628 section 3.5)`;

/** Stores device codes, and limits how often a device may ask for tokens (RFC 8628 section 3.5). */
export function deviceCodeAdapter(store: AdapterStore): Adapter {
  const codes = boundedForStrangers(store, singleUseAdapter(store, 'DeviceCode'), byAnybody);
  const { interval } = store.config.device;
  // A second of tolerance for network delays, but never more than half of the interval.
  const rate = { burst: 1, per: Math.max(interval - 1, interval / 2) };

  const undecided = ({ accountId, error, exp = 0 }: AdapterPayload) =>
    accountId === undefined && error === undefined && exp > epochSeconds(store.clock);

  return {
    ...codes,

    upsert: (id, payload, expiresIn) => codes.upsert(id, payload, (expiresIn ?? 0) + AFTERLIFE),

    /**
     * A device that polls again after it got tokens has lost an answer, and is no thief. The engine would end the
     * grant, so `find` hides the use of the code. `consume` decides, and refuses the second poll.
     */
    async find(id) {
      const payload = await codes.find(id);
      if (!payload) return undefined;
      delete payload.consumed;
      if (Provider.ctx?.oidc.route === 'token' && undecided(payload)) {
        const spent = await store.stores.limits.spend('device-poll', id, rate);
        // The client must poll 5 s more slowly from now on. A client that keeps the first interval still gets answers.
        if (!spent.ok) throw new errors.SlowDown(slowDown(interval));
      }
      return payload;
    },

    /** A denial reveals no secret, so every poll gets it. */
    async consume(id) {
      const { error } = (await codes.find(id)) ?? {};
      if (error === undefined) await codes.consume(id);
    },
  };
}
