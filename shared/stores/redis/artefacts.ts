import { epochSeconds } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import type { Artefacts, Consumption } from '#shared/stores/artefacts.ts';
import { script } from './connection.ts';
import type { Connection } from './connection.ts';
import { GrantIndex } from './grant-index.ts';
import { milliseconds } from './milliseconds.ts';

/** ARGV: payload, milliseconds or ''. The field `consumed` stays as it is. */
const put = script(`
redis.call('HSET', KEYS[1], 'payload', ARGV[1])
if ARGV[2] == '' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
`);

/** ARGV: NumericDate. */
const consume = script(`
if redis.call('EXISTS', KEYS[1]) == 0 then return 'absent' end
if redis.call('HSETNX', KEYS[1], 'consumed', ARGV[1]) == 0 then return 'again' end
return 'first'
`);

/** Removes a lookup key if it still names the artefact ARGV[1]. */
const unlink = script(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
`);

type Payload = Readonly<Record<string, unknown>>;
const lookups = ['uid', 'userCode'] as const;

/**
 * `{prefix}:artefact:{kind}:{id}`: a hash of payload and consumed. Lookup keys name the id; they are
 * written before the artefact and removed after it, so that a crash between leaves a name of nothing.
 */
export function redisArtefacts(redis: Connection, prefix: string, clock: Clock): Artefacts {
  const grants = new GrantIndex(redis, prefix);
  const name = (kind: string, id: string) => `${prefix}:artefact:${kind}:${id}`;

  /** The lookup keys of a payload. */
  const links = (kind: string, payload: Payload): string[] =>
    lookups.flatMap((by) => {
      const value = payload[by];
      return typeof value === 'string' ? [link(by, kind, value)] : [];
    });
  const link = (by: (typeof lookups)[number], kind: string, value: string) =>
    `${prefix}:${by}:${kind}:${value}`;

  async function getBy(by: (typeof lookups)[number], kind: string, value: string) {
    const id = await redis.command<string | null>('GET', link(by, kind, value));
    const found = id === null ? undefined : await artefacts.get(kind, id);
    return found?.[by] === value ? found : undefined;
  }

  const artefacts: Artefacts = {
    async put({ kind, id, payload, seconds }) {
      const life = seconds === undefined ? '' : milliseconds(seconds);
      const expiry = life === '' ? [] : ['PX', life];
      const { grantId } = payload;
      await Promise.all([
        ...links(kind, payload).map((lookup) => redis.command('SET', lookup, id, ...expiry)),
        ...(typeof grantId === 'string' ? [grants.add(grantId, kind, id, life)] : []),
      ]);
      await redis.script(put, [name(kind, id)], JSON.stringify(payload), life);
      // The grant was removed between the two writes: so is what was written under it.
      if (typeof grantId === 'string' && !(await grants.has(grantId, kind, id))) {
        await artefacts.remove(kind, id);
      }
    },

    async get(kind, id) {
      const [payload, consumed] = await redis.command<[string | null, string | null]>(
        'HMGET',
        name(kind, id),
        'payload',
        'consumed',
      );
      if (payload === null) return undefined;
      const stored: Record<string, unknown> = JSON.parse(payload);
      return consumed === null ? stored : { ...stored, consumed: Number(consumed) };
    },

    getByUid: (kind, uid) => getBy('uid', kind, uid),
    getByUserCode: (kind, userCode) => getBy('userCode', kind, userCode),

    consume: (kind, id) =>
      redis.script<Consumption>(consume, [name(kind, id)], String(epochSeconds(clock))),

    async remove(kind, id) {
      const stored = await redis.command<string | null>('HGET', name(kind, id), 'payload');
      if (stored === null) return;
      const payload: Payload = JSON.parse(stored);
      await redis.command('DEL', name(kind, id));
      const { grantId } = payload;
      await Promise.all([
        ...links(kind, payload).map((lookup) => redis.script(unlink, [lookup], id)),
        ...(typeof grantId === 'string' ? [grants.delete(grantId, [[kind, id]])] : []),
      ]);
    },

    async removeByGrant(grantId) {
      for (;;) {
        const members = await grants.members(grantId);
        if (members.length === 0) return;
        const remove = () => members.map(([kind, id]) => artefacts.remove(kind, id));
        await Promise.all(remove());
        await grants.delete(grantId, members);
        // Once more for what was written in between: from now on `put` sees that the grant is gone.
        await Promise.all(remove());
      }
    },
  };
  return artefacts;
}
