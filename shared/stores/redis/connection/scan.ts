import type { Commands } from './connection.ts';

/** Fields at a time, about. */
const COUNT = '250';

/**
 * The fields of a hash with their values, in slices, so that no answer is long. Fields that are there all the time are
 * yielded, perhaps more than once.
 */
export async function* scan(
  redis: Commands,
  key: string,
): AsyncGenerator<readonly (readonly [field: string, value: string])[]> {
  let cursor = '0';
  do {
    const asked = [cursor, 'COUNT', COUNT];
    const [next, some] = await redis.command<[string, string[]]>('HSCAN', key, ...asked);
    yield some.flatMap((field, n) => (n % 2 === 0 ? [[field, some[n + 1] ?? ''] as const] : []));
    cursor = next;
  } while (cursor !== '0');
}

/** Every value of a hash once. */
export async function scanValues(redis: Commands, key: string): Promise<string[]> {
  const values = new Map<string, string>();
  for await (const slice of scan(redis, key)) {
    for (const [field, value] of slice) values.set(field, value);
  }
  return [...values.values()];
}
