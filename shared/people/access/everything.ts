import { setImmediate } from 'node:timers/promises';
import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import { type AccessStore, changing } from './access-store.ts';
import { removeConsents } from './consents.ts';
import { removeSignIns } from './sign-ins.ts';
import { BATCH, walk } from './walk.ts';

/** How many sign-ins and grants of a person were ended. */
export interface Ended {
  readonly signIns: number;
  readonly grants: number;
  /** The person's generation from now on. */
  readonly generation: number;
}

/** Signs a person out everywhere and ends everything that they allowed. `events` are recorded with the change. */
export async function endEverything(
  store: AccessStore,
  accountId: string,
  ...events: readonly AuditEvent[]
): Promise<Ended> {
  const revocations = changing(store, 'revocations', ...events);
  const generation = await revocations.raise('person', accountId, untilForgotten(store));
  return clearEarlier(store, accountId, generation);
}

/**
 * Raises a person's generation before a change that is followed by `endEverything`, so that no earlier token survives
 * a crash between the two. A store that does not answer is ignored here: the change itself reports it.
 */
export async function endAhead(store: AccessStore, accountId: string): Promise<void> {
  const { revocations } = store.stores;
  await revocations.raise('person', accountId, untilForgotten(store)).catch(() => {});
}

const untilForgotten = ({ clock, longestLife }: AccessStore) =>
  rememberUntil(clock.now(), longestLife);

/**
 * Removes a person's sign-ins and grants of earlier generations than the raised one. They and their tokens are
 * refused already; this function only cleans up, in batches.
 */
export async function clearEarlier(
  store: AccessStore,
  accountId: string,
  generation: number,
): Promise<Ended> {
  const { artefacts } = store.stores;

  /** Removes all records of a kind; resolves to the number of open ones. */
  async function clear(kind: string, remove: (ids: readonly string[]) => Promise<unknown>) {
    const gone: Record<string, unknown>[] = [];
    for await (const one of walk(store, kind, accountId)) {
      if (Number(one['generation']) < generation) gone.push(one);
    }
    const ids = gone.map(({ grantId, uid }) => String(grantId ?? uid));
    for (let start = 0; start < ids.length; start += BATCH) {
      await remove(ids.slice(start, start + BATCH));
      await setImmediate();
    }
    return gone.filter((one) => one['generation'] === generation - 1).length;
  }

  const signIns = await clear('SignIn', (ids) => removeSignIns(store, ...ids));
  const grants = await clear('Access', async (ids) => {
    await artefacts.removeByGrant(...ids);
    await artefacts.remove('Grant', ...ids);
  });
  await removeConsents(store, accountId, (consent) => consent.generation < generation);
  return { signIns, grants, generation };
}
