import { epochSeconds } from '#shared/clock.ts';
import type { Clock } from '#shared/clock.ts';
import { KINDS_BY_ACCOUNT } from '#shared/stores/artefacts.ts';
import type { Artefact, Artefacts, Consumption } from '#shared/stores/artefacts.ts';
import { script } from './connection.ts';
import type { Connection } from './connection.ts';
import { ExpiringIndex } from './expiring-index.ts';
import { milliseconds } from './milliseconds.ts';

/**
 * ARGV: payload, milliseconds or '', and perhaps the payload that it replaces, which must not have
 * been consumed. The field `consumed` stays as it is.
 */
const write = script(`
if ARGV[3] then
  local stored = redis.call('HMGET', KEYS[1], 'payload', 'consumed')
  if stored[1] ~= ARGV[3] or stored[2] then return 0 end
end
redis.call('HSET', KEYS[1], 'payload', ARGV[1])
if ARGV[2] == '' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1
`);

/** ARGV: NumericDate. */
const consume = script(`
if redis.call('EXISTS', KEYS[1]) == 0 then return 'absent' end
if redis.call('HSETNX', KEYS[1], 'consumed', ARGV[1]) == 0 then return 'again' end
return 'first'
`);

/** Removes the artefact if its payload is still ARGV[1]. */
const remove = script(`
if redis.call('HGET', KEYS[1], 'payload') ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
`);

/** Removes a lookup key if it still names the artefact ARGV[1]. */
const unlink = script(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
`);

type Payload = Readonly<Record<string, unknown>>;
const lookups = ['uid', 'userCode'] as const;

/** How many artefacts of a grant are removed at a time. */
const BATCH = 500;

/**
 * `{prefix}:artefact:{kind}:{id}`: a hash of payload and consumed. Lookup keys name the id, the indexes
 * `{prefix}:grant:{grantId}` and `{prefix}:account:{kind}:{accountId}` many of them. Both are written
 * before the artefact and removed after it, so that a crash between leaves a name of nothing; and what
 * they name counts only if its payload says the same.
 */
export function redisArtefacts(redis: Connection, prefix: string, clock: Clock): Artefacts {
  const index = new ExpiringIndex(redis);
  // What a person sees and ends is in the slot of the revocations: its end is as durable as they are.
  const name = (kind: string, id: string) =>
    `${KINDS_BY_ACCOUNT.has(kind) ? `{${prefix}}` : prefix}:artefact:${kind}:${id}`;
  const link = (by: (typeof lookups)[number], kind: string, value: string) =>
    `${prefix}:${by}:${kind}:${value}`;
  const ofGrant = (grantId: string) => `${prefix}:grant:${grantId}`;
  const ofAccount = (kind: string, accountId: string) => `${prefix}:account:${kind}:${accountId}`;

  /** The lookup keys of a payload. */
  const links = (kind: string, payload: Payload): string[] =>
    lookups.flatMap((by) => {
      const value = payload[by];
      return typeof value === 'string' ? [link(by, kind, value)] : [];
    });

  /** The indexes that a payload is in. */
  const indexes = (kind: string, { grantId, accountId }: Payload): string[] => [
    ...(typeof grantId === 'string' ? [ofGrant(grantId)] : []),
    ...(typeof accountId === 'string' && KINDS_BY_ACCOUNT.has(kind)
      ? [ofAccount(kind, accountId)]
      : []),
  ];

  async function getBy(by: (typeof lookups)[number], kind: string, value: string) {
    const id = await redis.command<string | null>('GET', link(by, kind, value));
    const found = id === null ? undefined : await artefacts.get(kind, id);
    return found?.[by] === value ? found : undefined;
  }

  /** Whether it was written: always, unless it replaces `was` and that is not there. */
  async function put({ kind, id, payload, seconds }: Artefact, ...was: [] | [string]) {
    const life = seconds === undefined ? '' : milliseconds(seconds);
    const expiry = life === '' ? [] : ['PX', life];
    const within = indexes(kind, payload);
    await Promise.all([
      ...links(kind, payload).map((lookup) => redis.command('SET', lookup, id, ...expiry)),
      ...within.map((key) => index.add(key, [kind, id], life)),
    ]);
    const body = JSON.stringify(payload);
    if ((await redis.script<number>(write, [name(kind, id)], body, life, ...was)) === 0) {
      return false;
    }
    // It was removed between the two writes, by itself or with its grant: so is what was written now.
    const listed = await Promise.all(within.map((key) => index.has(key, [kind, id])));
    if (listed.includes(false)) {
      await removeIf(kind, id, (stored) => JSON.stringify(stored) === body);
    }
    return true;
  }

  /** Removes the artefact if its payload is such. Looks again for what was written in between. */
  async function removeIf(kind: string, id: string, such: (payload: Payload) => boolean) {
    for (;;) {
      const stored = await redis.command<string | null>('HGET', name(kind, id), 'payload');
      if (stored === null) return;
      const payload: Payload = JSON.parse(stored);
      if (!such(payload)) return;
      const verb = KINDS_BY_ACCOUNT.has(kind) ? 'durable' : 'script';
      if ((await redis[verb]<number>(remove, [name(kind, id)], stored)) === 0) continue;
      await Promise.all([
        ...links(kind, payload).map((lookup) => redis.script(unlink, [lookup], id)),
        ...indexes(kind, payload).map((key) => index.delete(key, [[kind, id]])),
      ]);
    }
  }

  const artefacts: Artefacts = {
    put: async (artefact) => void (await put(artefact)),

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

    async replace(artefact, was) {
      const { kind, id } = artefact;
      const expected = JSON.stringify(was);
      // Asked first, so that who has lost already writes no names.
      const stored = await redis.command<string | null>('HGET', name(kind, id), 'payload');
      return stored === expected && put(artefact, expected);
    },

    async listByAccount(kind, accountId) {
      const members = await index.members(ofAccount(kind, accountId));
      const found = await Promise.all(members.map((member) => artefacts.get(...member)));
      return found.flatMap((payload) => (payload?.['accountId'] === accountId ? [payload] : []));
    },

    remove: (kind, id) => removeIf(kind, id, () => true),

    async removeByGrant(grantId) {
      const key = ofGrant(grantId);
      for (;;) {
        const members = await index.members(key, BATCH);
        if (members.length === 0) return;
        const removeAll = () =>
          Promise.all(
            members.map(([kind, id]) =>
              removeIf(kind, id, (payload) => payload['grantId'] === grantId),
            ),
          );
        await removeAll();
        await index.delete(key, members);
        // Once more for what was written in between: from now on `put` sees that the grant is gone.
        await removeAll();
      }
    },
  };
  return artefacts;
}
