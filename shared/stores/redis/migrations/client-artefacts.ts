import { script } from '../connection/connection.ts';
import type { Connection } from '../connection/connection.ts';

/** ARGV: member, milliseconds or ''. The set lives as long as the member that lives longest. */
const add = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], ARGV[2] == '' and 'inf' or string.format('%.0f', now + ARGV[2]), ARGV[1])
local longest = redis.call('ZRANGE', KEYS[1], 0, 0, 'REV', 'WITHSCORES')[2]
if longest == 'inf' then redis.call('PERSIST', KEYS[1]) else redis.call('PEXPIREAT', KEYS[1], longest) end
`);

/** Schema 11: grants and consents are listed by their clients through `{prefix}:client:{kind}:{clientId}`. */
export async function giveGrantsToClients(redis: Connection, prefix: string): Promise<void> {
  async function list(kind: string, key: string): Promise<void> {
    const [payload, left] = await Promise.all([
      redis.command<string | null>('HGET', key, 'payload'),
      redis.command<number>('PTTL', key),
    ]);
    const { clientId } = JSON.parse(payload ?? '{}') as { readonly clientId?: unknown };
    if (typeof clientId !== 'string' || left === -2) return;
    const member = key.slice(`{${prefix}}:artefact:`.length);
    const life = left === -1 ? '' : String(left);
    await redis.durable(add, [`${prefix}:client:${kind}:${clientId}`], member, life);
  }

  for (const kind of ['Access', 'Consent']) {
    for await (const keys of redis.keys(`{${prefix}}:artefact:${kind}:*`)) {
      await Promise.all(keys.map((key) => list(kind, key)));
    }
  }
}
