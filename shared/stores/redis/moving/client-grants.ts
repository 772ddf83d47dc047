import { clientIndexes } from '../oauth/client-indexes.ts';
import { ExpiringIndex, type Placed } from '../oauth/expiring-index.ts';
import { everyKey } from './every-key.ts';
import type { Move, Mover } from './move.ts';

/** Members that are moved at a time: a client that everybody uses has millions. */
const SLICE = 500;

/** The sets of the grants of clients. What is in them goes to the slots of the grants. */
export const moveClientGrants: Mover = async (run) => {
  await everyKey(run.redis, `${run.prefix}:client:*`, async (keys) => {
    for (const key of keys) await moveSet(run, key);
  });
};

async function moveSet({ redis, mine, prefix, slots, count }: Move, key: string): Promise<void> {
  const [kind = '', ...id] = key.slice(`${prefix}:client:`.length).split(':');
  const { of } = clientIndexes(prefix, slots);
  const [before, now] = [new ExpiringIndex(redis), new ExpiringIndex(mine)];
  for (;;) {
    const placed = await before.page(key, SLICE);
    if (placed.length === 0) break;
    const bySet = Map.groupBy(placed, ({ member }: Placed) => of(kind, id.join(':'), member[1]));
    await Promise.all(Array.from(bySet, ([set, members]) => now.addAll(set, members)));
    await before.delete(
      key,
      placed.map(({ member }) => member),
    );
    count(placed.length);
  }
  // The rest has expired.
  await redis.durableCommand('DEL', key);
}
