import type { Push } from '#shared/stores/push/push.ts';
import type { Commands } from '../connection/connection.ts';

type Entry = readonly [id: string, fields: readonly string[]];

/** Behind this stands whoever came before there was any news. */
const START = '0-0';

export function redisNews(redis: Commands, base: string): Pick<Push, 'news'> {
  const stream = `${base}:news`;
  return {
    async news(ids, position) {
      if (position === undefined) {
        const [last] = await redis.command<Entry[]>('XREVRANGE', stream, '+', '-', 'COUNT', '1');
        return { position: last?.[0] ?? START, of: new Set(ids) };
      }
      const entries = await redis.command<Entry[]>('XRANGE', stream, `(${position}`, '+');
      const of = new Set(entries.flatMap(([, [, about]]) => about ?? []));
      return { position: entries.at(-1)?.[0] ?? position, of };
    },
  };
}
