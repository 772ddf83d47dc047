import { setTimeout as sleep } from 'node:timers/promises';
import { errors } from 'oidc-provider';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import { epochSeconds } from '#shared/base/clock.ts';
import { randomId } from '#shared/base/random.ts';
import type { Use } from '#shared/stores/oauth/artefacts.ts';
import { StoreUnavailable } from '#shared/stores/outage/unavailable.ts';
import { SETTLE_PAUSE } from './settled.ts';
import { engineRequest } from './engine-request.ts';
import { artefactAdapter } from '../storage/artefacts.ts';
import type { AdapterStore } from '../storage/store.ts';
import { storedId } from '../storage/stored-id.ts';
import { refreshTokenAfter } from './successor.ts';

/** Milliseconds after which an attempt has ended, well or badly: the deadline of the store, and a margin. */
const longestAttempt = ({ store }: AdapterStore['config']) =>
  1000 * (store.kind === 'sqlite' ? 1 : store.deadline) + 500;
/** Milliseconds in which a process that can write has settled what it answered, with half of them left for that. */
const SETTLING = 2 * SETTLE_PAUSE;
const PAUSE = 50;
/** Seconds for which somebody may step into the place of an attempt that ended badly. */
const LOST_SECONDS = 600;

/** Returns the error of the library itself for a second use of a code or token. */
function alreadyUsed(kind: string) {
  return kind === 'PushedAuthorizationRequest'
    ? new errors.InvalidRequestUri('request_uri is invalid, expired, or was already used')
    : new errors.InvalidGrant('already used');
}

/** Decides what is stored for a code or token after its use. */
export interface Afterwards {
  /** Whether it may be used once more. */
  forgives?(used: AdapterPayload): Promise<boolean>;
  /** It was used twice: what is done before the second user is refused. */
  twice?(used: AdapterPayload): Promise<void>;
  /** Returns the part to keep once its use is settled; undefined: all of it. */
  remains?(used: AdapterPayload): AdapterPayload | undefined;
}

/**
 * Stores codes and tokens that may be used once. The engine consumes one, and saves the resulting tokens some steps
 * later. This adapter writes both together when only the answer is left to do, so that a failure before leaves the
 * code or token as it was.
 *
 * A client that got 503, or nothing because the process died, cannot know whether the use was written. So a use is
 * settled only once its answer is out. A later attempt that finds an unsettled use waits until the earlier attempt
 * must have ended, and then takes its place. If several do so, one succeeds.
 */
export function singleUseAdapter(
  store: AdapterStore,
  kind: string,
  afterwards: Afterwards = {},
): Adapter {
  const { clock } = store;
  const { artefacts } = store.stores;
  const engines = artefactAdapter(store, kind);
  const successor = refreshTokenAfter(store);

  /** Whether nobody settles that attempt, or takes its place, within that time. */
  async function stays(id: string, attempt: unknown, milliseconds: number): Promise<boolean> {
    for (let waited = 0; waited < milliseconds; waited += PAUSE) {
      await sleep(PAUSE);
      if ((await engines.find(id))?.['attempt'] !== attempt) return false;
    }
    return true;
  }

  /**
   * Waits while that attempt may be under way; whether it has failed. What keeps us from writing, such as the lock
   * of another process, may keep others from settling: their time begins once it is over.
   */
  async function isLost(id: string, attempt: unknown): Promise<boolean> {
    if (!(await stays(id, attempt, longestAttempt(store.config)))) return false;
    await store.stores.ping();
    return (await stays(id, attempt, SETTLING)) && successor.isUnused(id);
  }

  async function write(id: string, use?: Use): Promise<void> {
    if ((await artefacts.consume(kind, storedId(kind, id), use)) === 'first') return;
    const used = await engines.find(id);
    // Its successor was written with that use.
    if (used && (await afterwards.forgives?.(used))) return;
    if (used) await afterwards.twice?.(used);
    throw alreadyUsed(kind);
  }

  return {
    ...engines,

    async find(id) {
      const found = await engines.find(id);
      const { attempt, consumed } = found ?? {};
      const request = engineRequest();
      const stored = storedId(kind, id);
      if (found) request?.found.set(stored, { ...found, jti: stored });
      if (request === undefined || typeof attempt !== 'string') return found;
      const recent = epochSeconds(clock) - Number(consumed) < LOST_SECONDS;
      const known = request.lost.get(stored) === attempt;
      if (!known && !(recent && (await isLost(id, attempt)))) return engines.find(id);
      request.lost.set(stored, attempt);
      return { ...found, consumed: undefined };
    },

    async consume(id) {
      const request = engineRequest();
      if (request === undefined) return write(id);
      const stored = storedId(kind, id);
      const attempt = randomId(store.random);
      const instead = request.lost.get(stored);
      request.use = {
        id,
        async write() {
          const began = clock.monotonic();
          await write(id, {
            attempt,
            ...(instead !== undefined && { instead }),
            ...(request.successor && { successor: request.successor.artefact }),
          });
          // Stopped meanwhile, perhaps: others did not wait for it.
          if (clock.monotonic() - began > longestAttempt(store.config) + SETTLING / 2) {
            throw new StoreUnavailable(
              'it took so long that another may have stepped in its place',
            );
          }
          // Nobody has written it since it was found, or the use would not be ours.
          const used = request.found.get(stored);
          request.settle = () =>
            artefacts.settle(kind, stored, attempt, used && afterwards.remains?.(used));
        },
      };
    },
  };
}
