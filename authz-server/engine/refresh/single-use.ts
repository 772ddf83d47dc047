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

/** Milliseconds after which an attempt has succeeded or failed: the deadline of the store, and a margin. */
const longestAttempt = ({ store }: AdapterStore['config']) =>
  1000 * (store.kind === 'sqlite' ? 1 : store.deadline) + 500;
/**
 * Milliseconds within which a process that can write settles the uses that it has answered. Half of the time is a
 * margin.
 */
const SETTLING = 2 * SETTLE_PAUSE;
const PAUSE = 50;
/** Seconds for which a client may repeat a failed attempt. */
const LOST_SECONDS = 600;

/** Returns the error with which the library itself refuses a second use of a code or token. */
function alreadyUsed(kind: string) {
  return kind === 'PushedAuthorizationRequest'
    ? new errors.InvalidRequestUri('request_uri is invalid, expired, or was already used')
    : new errors.InvalidGrant('already used');
}

/** Decides what is stored for a code or token after its use. */
export interface Afterwards {
  /** Whether a used code or token may be used once more. */
  forgives?(used: AdapterPayload): Promise<boolean>;
  /** Called if a code or token was used twice, before the second user is refused. */
  twice?(used: AdapterPayload): Promise<void>;
  /** Returns the members to store after the use is settled, or undefined for all members. */
  remains?(used: AdapterPayload): AdapterPayload | undefined;
}

/**
 * Stores codes and tokens that may be used once. The engine consumes a code or token first, and saves the resulting
 * tokens some steps later. This adapter writes both together just before the answer, so that an earlier failure changes
 * nothing. A client that got 503, or no answer because the process died, cannot know whether the use was written. So a
 * use is settled only after its answer was sent. A later attempt that finds an unsettled use waits until the earlier
 * attempt must have ended, and then replaces it. If several attempts do so, one succeeds.
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

  /** Whether the attempt is still unsettled after that time, and no other attempt has replaced it. */
  async function stays(id: string, attempt: unknown, milliseconds: number): Promise<boolean> {
    for (let waited = 0; waited < milliseconds; waited += PAUSE) {
      await sleep(PAUSE);
      if ((await engines.find(id))?.['attempt'] !== attempt) return false;
    }
    return true;
  }

  /**
   * Waits while the attempt may still run, and returns whether it has failed. If this process cannot write, for example
   * while another process has a lock, other processes may be unable to settle, too. Their time then begins when the
   * lock ends.
   */
  async function isLost(id: string, attempt: unknown): Promise<boolean> {
    if (!(await stays(id, attempt, longestAttempt(store.config)))) return false;
    await store.stores.ping();
    return (await stays(id, attempt, SETTLING)) && successor.isUnused(id);
  }

  async function write(id: string, use?: Use): Promise<void> {
    if ((await artefacts.consume(kind, storedId(kind, id), use)) === 'first') return;
    const used = await engines.find(id);
    // The successor was written together with this use.
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
          // This process may have been suspended, and other attempts did not wait for it.
          if (clock.monotonic() - began > longestAttempt(store.config) + SETTLING / 2) {
            throw new StoreUnavailable(
              'it took so long that another may have stepped in its place',
            );
          }
          // The stored row is unchanged since it was read; otherwise `consume` would have failed.
          const used = request.found.get(stored);
          request.settle = () =>
            artefacts.settle(kind, stored, attempt, used && afterwards.remains?.(used));
        },
      };
    },
  };
}
