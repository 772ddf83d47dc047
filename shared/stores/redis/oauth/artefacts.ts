import { epochSeconds } from '#shared/base/clock.ts';
import type { Clock } from '#shared/base/clock.ts';
import { KINDS_BY_ACCOUNT, KINDS_BY_CLIENT } from '#shared/stores/oauth/artefacts.ts';
import type { Artefact, Artefacts, Consumption, Use } from '#shared/stores/oauth/artefacts.ts';
import { script } from '../connection/connection.ts';
import type { Commands } from '../connection/connection.ts';
import { byEnd, ExpiringIndex, type Placed } from './expiring-index.ts';
import { firstOf } from '../connection/first-of.ts';
import { milliseconds } from '../connection/milliseconds.ts';
import type { Slots } from '../connection/slots.ts';
import { clientIndexes } from './client-indexes.ts';

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

/**
 * KEYS: the artefact, and perhaps its successor. ARGV: NumericDate, the attempt and the one in whose place
 * it steps, each or '', and of the successor payload and milliseconds.
 */
const consume = script(`
if redis.call('EXISTS', KEYS[1]) == 0 then return 'absent' end
local used = redis.call('HMGET', KEYS[1], 'consumed', 'attempt')
if used[1] and (ARGV[3] == '' or used[2] ~= ARGV[3]) then return 'again' end
redis.call('HSETNX', KEYS[1], 'consumed', ARGV[1])
if ARGV[2] ~= '' then redis.call('HSET', KEYS[1], 'attempt', ARGV[2])
else redis.call('HDEL', KEYS[1], 'attempt') end
if KEYS[2] then
  redis.call('HSET', KEYS[2], 'payload', ARGV[4])
  if ARGV[5] == '' then redis.call('PERSIST', KEYS[2]) else redis.call('PEXPIRE', KEYS[2], ARGV[5]) end
end
return 'first'
`);

/** ARGV: the attempt, and perhaps what remains of the payload. */
const settle = script(`
if redis.call('HGET', KEYS[1], 'attempt') ~= ARGV[1] then return end
redis.call('HDEL', KEYS[1], 'attempt')
if ARGV[2] then redis.call('HSET', KEYS[1], 'payload', ARGV[2]) end
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

/**
 * These are in the slot that their identifier names: what is used once, since one script writes the use and the
 * successor, and what a person sees and ends, since one script writes its end and the entry of the audit log. Others
 * are in the slot of their own name.
 */
const IN_SLOTS: ReadonlySet<string> = new Set([
  ...KINDS_BY_ACCOUNT,
  'AuthorizationCode',
  'DeviceCode',
  'PushedAuthorizationRequest',
  'RefreshToken',
]);

/** How many artefacts of a grant are removed at a time. */
const BATCH = 500;

/**
 * `{prefix}:artefact:{kind}:{id}`: a hash of payload, consumed and attempt. Lookup keys name the id, the indexes
 * `{prefix}:grant:{grantId}` and `{prefix}:account:{kind}:{accountId}` many of them, and so do those of a client
 * (client-indexes.ts). All are written before the artefact and removed after it, so that a crash between leaves a name of nothing; and what
 * they name counts only if its payload says the same. `ofArtefacts`: the connection for the artefacts themselves.
 */
export function redisArtefacts(
  redis: Commands,
  prefix: string,
  slots: Slots,
  clock: Clock,
  ofArtefacts = redis,
): Artefacts {
  const index = new ExpiringIndex(redis);
  const name = (kind: string, id: string) =>
    `${IN_SLOTS.has(kind) ? slots.of(id) : prefix}:artefact:${kind}:${id}`;
  const link = (by: (typeof lookups)[number], kind: string, value: string) =>
    `${prefix}:${by}:${kind}:${value}`;
  const ofGrant = (grantId: string) => `${prefix}:grant:${grantId}`;
  const ofAccount = (kind: string, accountId: string) => `${prefix}:account:${kind}:${accountId}`;
  const ofClients = clientIndexes(slots);

  /** The lookup keys of a payload. */
  const links = (kind: string, payload: Payload): string[] =>
    lookups.flatMap((by) => {
      const value = payload[by];
      return typeof value === 'string' ? [link(by, kind, value)] : [];
    });

  /** The indexes that a payload is in. */
  const indexes = (kind: string, id: string, payload: Payload): string[] => {
    const { grantId, accountId, clientId } = payload;
    return [
      ...(typeof grantId === 'string' ? [ofGrant(grantId)] : []),
      ...(typeof accountId === 'string' && KINDS_BY_ACCOUNT.has(kind)
        ? [ofAccount(kind, accountId)]
        : []),
      ...(typeof clientId === 'string' && KINDS_BY_CLIENT.has(kind)
        ? [ofClients.of(kind, clientId, id)]
        : []),
    ];
  };

  async function getBy(by: (typeof lookups)[number], kind: string, value: string) {
    const id = await redis.command<string | null>('GET', link(by, kind, value));
    const found = id === null ? undefined : await artefacts.get(kind, id);
    return found?.[by] === value ? found : undefined;
  }

  /** Names an artefact that is about to be written; `check` it afterwards. */
  async function announce({ kind, id, payload, seconds }: Artefact) {
    const life = seconds === undefined ? '' : milliseconds(seconds);
    const expiry = life === '' ? [] : ['PX', life];
    const within = indexes(kind, id, payload);
    await Promise.all([
      ...links(kind, payload).map((lookup) => redis.durableCommand('SET', lookup, id, ...expiry)),
      ...within.map((key) => index.add(key, [kind, id], life)),
    ]);
    const body = JSON.stringify(payload);
    return {
      body,
      life,
      /** It was removed between the two writes, by itself or with its grant: so is what was written now. */
      async check() {
        const listed = await Promise.all(within.map((key) => index.has(key, [kind, id])));
        if (listed.includes(false)) {
          await removeIf(kind, id, (stored) => JSON.stringify(stored) === body);
        }
      },
    };
  }

  /** Whether it was written: always, unless it replaces `was` and that is not there. */
  async function put(artefact: Artefact, ...was: [] | [string]): Promise<boolean> {
    const { body, life, check } = await announce(artefact);
    const key = name(artefact.kind, artefact.id);
    if ((await ofArtefacts.durable<number>(write, [key], body, life, ...was)) === 0) return false;
    await check();
    return true;
  }

  /** Removes the artefact if its payload is such. Looks again for what was written in between. */
  async function removeIf(kind: string, id: string, such: (payload: Payload) => boolean) {
    for (;;) {
      const stored = await redis.command<string | null>('HGET', name(kind, id), 'payload');
      if (stored === null) return redis.settled(name(kind, id));
      const payload: Payload = JSON.parse(stored);
      if (!such(payload)) return;
      if ((await ofArtefacts.durable<number>(remove, [name(kind, id)], stored)) === 0) continue;
      await Promise.all([
        ...links(kind, payload).map((lookup) => redis.durable(unlink, [lookup], id)),
        ...indexes(kind, id, payload).map((key) => index.delete(key, [[kind, id]])),
      ]);
    }
  }

  async function removeGrant(grantId: string) {
    const key = ofGrant(grantId);
    for (;;) {
      const members = await index.members(key, BATCH);
      if (members.length === 0) return redis.settled(key);
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
  }

  const artefacts: Artefacts = {
    put: async (artefact) => void (await put(artefact)),

    async get(kind, id) {
      const members = ['payload', 'consumed', 'attempt'];
      const [payload, consumed, attempt] = await redis.command<(string | null)[]>(
        'HMGET',
        name(kind, id),
        ...members,
      );
      if (payload == null) return undefined;
      return {
        ...(JSON.parse(payload) as Record<string, unknown>),
        ...(consumed != null && { consumed: Number(consumed) }),
        ...(attempt != null && { attempt }),
      };
    },

    beginningAfter: (id) => slots.beginningOf(id),

    getByUid: (kind, uid) => getBy('uid', kind, uid),
    getByUserCode: (kind, userCode) => getBy('userCode', kind, userCode),

    async consume(kind, id, { attempt = '', instead = '', successor }: Partial<Use> = {}) {
      const use = [String(epochSeconds(clock)), attempt, instead];
      if (successor === undefined) {
        return ofArtefacts.durable<Consumption>(consume, [name(kind, id)], ...use);
      }
      const { body, life, check } = await announce(successor);
      const keys = [name(kind, id), name(successor.kind, successor.id)] as const;
      const outcome = await ofArtefacts.durable<Consumption>(consume, keys, ...use, body, life);
      if (outcome === 'first') await check();
      return outcome;
    },

    async settle(kind, id, attempt, remains) {
      const kept = remains ? [JSON.stringify(remains)] : [];
      await ofArtefacts.durable(settle, [name(kind, id)], attempt, ...kept);
    },

    async replace(artefact, was) {
      const { kind, id } = artefact;
      const expected = JSON.stringify(was);
      // Asked first, so that who has lost already writes no names.
      const stored = await redis.command<string | null>('HGET', name(kind, id), 'payload');
      return stored === expected && put(artefact, expected);
    },

    async listByAccount(kind, accountId, slice) {
      const members = await index.latest(ofAccount(kind, accountId), slice);
      const found = await Promise.all(members.map((member) => artefacts.get(...member)));
      return found.flatMap((payload) => (payload?.['accountId'] === accountId ? [payload] : []));
    },

    countByAccount: (kind, accountId) => index.count(ofAccount(kind, accountId)),

    async pageByClient(kind, clientId, { limit, after }) {
      const place = after && { member: [kind, after.id] as const, end: after.end };
      const parts = ofClients
        .all(kind, clientId)
        .map(
          (key) => (last: Placed | undefined, count: number) =>
            index.page(key, count, last ?? place),
        );
      const placed = await firstOf(parts, byEnd, limit + 1);
      const page = placed.slice(0, limit);
      const found = await Promise.all(page.map(({ member }) => artefacts.get(...member)));
      const last = placed.length > limit ? page.at(-1) : undefined;
      return {
        found: found.flatMap((payload) => (payload?.['clientId'] === clientId ? [payload] : [])),
        ...(last && { next: { end: last.end, id: last.member[1] } }),
      };
    },

    async remove(kind, ...ids) {
      await Promise.all(ids.map((id) => removeIf(kind, id, () => true)));
    },

    async removeByGrant(...grantIds) {
      await Promise.all(grantIds.map(removeGrant));
    },
  };
  return artefacts;
}
