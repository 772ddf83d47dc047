import type { Push } from '#shared/stores/push/push.ts';
import { type Commands, script } from '../connection/connection.ts';
import { COMMON_IN_SLOTS, type PushKeys } from './keys-in-slots.ts';

/** The position in the news of each slot that was asked for. */
type Positions = Readonly<Record<string, string>>;

/** KEYS: news. Replies with a position behind which all is that happens from now on. */
const begin = script(`${COMMON_IN_SLOTS}
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
return last and last[1] or whole(now() - 1) .. '-0'
`);

type Entry = readonly [id: string, fields: readonly string[]];

/** Each slot has its news. A process reads those of the slots in which somebody waits at it. */
export function newsInSlots(redis: Commands, keys: PushKeys): Pick<Push, 'news'> {
  return {
    async news(ids, position = '{}') {
      const positions: Positions = JSON.parse(position);
      const read = await Promise.all(
        [...Map.groupBy(ids, keys.news)].map(async ([news, here]) => {
          const after = positions[news];
          if (after === undefined) {
            return { of: here, next: [news, await redis.script<string>(begin, [news])] as const };
          }
          const entries = await redis.command<Entry[]>('XRANGE', news, `(${after}`, '+');
          const of = entries.flatMap(([, [, about]]) => about ?? []);
          return { of, next: [news, entries.at(-1)?.[0] ?? after] as const };
        }),
      );
      return {
        position: JSON.stringify(Object.fromEntries(read.map(({ next }) => next))),
        of: new Set(read.flatMap(({ of }) => of)),
      };
    },
  };
}
