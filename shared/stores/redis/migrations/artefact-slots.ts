import { script } from '../connection/connection.ts';
import type { Connection } from '../connection/connection.ts';

/** Kinds that are used once. Schema 5 has them in the slot of the revocations, where the successor is written with the use. */
const KINDS: ReadonlySet<string> = new Set([
  'AuthorizationCode',
  'DeviceCode',
  'PushedAuthorizationRequest',
  'RefreshToken',
]);

/**
 * KEYS: the artefact under its former name, and where it waits, in the same slot. Replies with its fields and the
 * milliseconds that it has left. From then on a server of an older version finds nothing, so that nothing can be
 * used under both names.
 */
const take = script(`
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('RENAME', KEYS[1], KEYS[2]) end
return { redis.call('HGETALL', KEYS[2]), redis.call('PTTL', KEYS[2]) }
`);

/** KEYS: the artefact. ARGV: milliseconds or -1, and its fields. One that is there may have been used since. */
const put = script(`
if redis.call('EXISTS', KEYS[1]) == 1 then return end
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
if ARGV[1] ~= '-1' then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
`);

/**
 * Schema 5: `{prefix}:artefact:{kind}:{id}` with the prefix as its hash tag, for `KINDS`. Schema 1 of some versions
 * had them without. Artefacts that a server of such a version writes after this are not found by any other: its
 * clients have to ask people to sign in again.
 */
export async function giveSlotToArtefacts(redis: Connection, prefix: string): Promise<void> {
  const waiting = (key: string) => `${prefix}:artefact:moving:{${key}}`;
  const found = new RegExp(`^${prefix}:artefact:(?:moving:{${prefix}:artefact:)?(\\w+):([^}]+)`);

  async function move(kind: string, id: string): Promise<void> {
    const [from, to] = [`${prefix}:artefact:${kind}:${id}`, `{${prefix}}:artefact:${kind}:${id}`];
    const [fields, left] = await redis.durable<[string[], number]>(take, [from, waiting(from)]);
    if (fields.length === 0) return;
    await redis.durable(put, [to], String(left), ...fields);
    // After the write: what is ended with its grant meanwhile is not there again.
    const { grantId } = JSON.parse(fields[fields.indexOf('payload') + 1] ?? '{}');
    if (typeof grantId === 'string') {
      const grant = `${prefix}:grant:${grantId}`;
      const listed = await redis.command<string | null>('ZSCORE', grant, `${kind}:${id}`);
      if (listed === null) await redis.durableCommand('DEL', to);
    }
    await redis.durableCommand('DEL', waiting(from));
  }

  for await (const keys of redis.keys(`${prefix}:artefact:*`)) {
    await Promise.all(
      keys.map(async (key) => {
        const [, kind = '', id = ''] = found.exec(key) ?? [];
        if (KINDS.has(kind)) await move(kind, id);
      }),
    );
  }
}
