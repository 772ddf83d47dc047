import { type Audit, MOST_ENTRIES, type RefusalCount } from '#shared/stores/audit/audit.ts';
import { type Commands, script } from '../connection/connection.ts';
import type { AuditStreams } from './streams.ts';

/** KEYS: counts, stream. ARGV: hour and person, most, text. */
const append = script(`
if redis.call('HINCRBY', KEYS[1], ARGV[1], 1) <= tonumber(ARGV[2]) then
  redis.call('XADD', KEYS[2], '*', 'text', ARGV[3])
end
`);

/** KEYS: counts, stream. ARGV: hour and person, perhaps text. */
const settle = script(`
if redis.call('HDEL', KEYS[1], ARGV[1]) == 0 then return 0 end
if ARGV[2] then redis.call('XADD', KEYS[2], '*', 'text', ARGV[2]) end
return 1
`);

/** The hashes of the counts. */
export interface RefusalPlaces {
  readonly all: readonly string[];
  of(person: string): string;
}

const fieldOf = ({ hour, person }: Omit<RefusalCount, 'count'>) => `${hour} ${person}`;

/** Refused sign-ins of each person and hour. Their entries are in the streams of the same slots. */
export function redisRefusals(
  redis: Commands,
  streams: AuditStreams,
  places: RefusalPlaces,
): Pick<Audit, 'appendRefusal' | 'refusals' | 'settleRefusal'> {
  const keysFor = ({ person }: Pick<RefusalCount, 'person'>) => {
    const counts = places.of(person);
    return [counts, streams.of(counts)] as const;
  };
  const some = String(Math.ceil(MOST_ENTRIES / places.all.length));

  async function before(hour: number, counts: string): Promise<readonly RefusalCount[]> {
    const scanned = ['0', 'COUNT', some];
    const [, found] = await redis.command<[string, string[]]>('HSCAN', counts, ...scanned);
    return found.flatMap((field, n): RefusalCount[] => {
      if (n % 2 === 1) return [];
      const space = field.indexOf(' ');
      const of = Number(field.slice(0, space));
      const count = Number(found[n + 1]);
      return of < hour ? [{ hour: of, person: field.slice(space + 1), count }] : [];
    });
  }

  return {
    appendRefusal: async (of, most, text) => {
      await redis.durable(append, keysFor(of), fieldOf(of), String(most), text);
    },

    refusals: async (hour) =>
      (await Promise.all(places.all.map((counts) => before(hour, counts)))).flat(),

    async settleRefusal(of, text) {
      const texts = text === undefined ? [] : [text];
      return (await redis.durable<number>(settle, keysFor(of), fieldOf(of), ...texts)) === 1;
    },
  };
}
