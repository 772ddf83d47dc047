import { setImmediate } from 'node:timers/promises';
import type { ArtefactPlace } from '#shared/stores/oauth/artefacts.ts';
import type { AccessStore } from './access-store.ts';

/** The number of artefacts that are read or removed in one batch, so that other work gets a turn in between. */
export const BATCH = 50;

/** Yields all artefacts of one kind for a person, those with the longest life first. */
export async function* walk(
  { stores: { artefacts } }: AccessStore,
  kind: string,
  accountId: string,
): AsyncGenerator<Record<string, unknown>> {
  const all = await artefacts.countByAccount(kind, accountId);
  for (let skip = 0; skip < all; skip += BATCH) {
    yield* await artefacts.listByAccount(kind, accountId, { skip, count: BATCH });
    await setImmediate();
  }
}

/** Yields all artefacts of one kind for a client, of any person, in batches: those with the longest life first. */
export async function* batchesOfClient(
  { stores: { artefacts } }: AccessStore,
  kind: string,
  clientId: string,
): AsyncGenerator<readonly Record<string, unknown>[]> {
  let after: ArtefactPlace | undefined;
  do {
    const { found, next } = await artefacts.pageByClient(kind, clientId, { limit: BATCH, after });
    yield found;
    after = next;
    await setImmediate();
  } while (after !== undefined);
}

/**
 * Returns the artefacts that must end so that a person has at most `most` of a kind besides the new one: those that
 * would end soonest, the oldest first.
 */
export async function surplus(
  { stores: { artefacts } }: AccessStore,
  kind: string,
  accountId: string,
  most: number,
): Promise<readonly Record<string, unknown>[]> {
  const all = await artefacts.countByAccount(kind, accountId);
  if (all <= most) return [];
  const slice = { skip: all - BATCH, count: BATCH };
  const soonest = await artefacts.listByAccount(kind, accountId, slice);
  return soonest
    .toReversed()
    .toSorted((a, b) => Number(a['since']) - Number(b['since']))
    .slice(0, Math.min(all - most, BATCH - 1));
}
