import { createPublicKey, hash, type webcrypto } from 'node:crypto';
import { script } from '../connection/connection.ts';
import type { Connection } from '../connection/connection.ts';
import { scan } from '../connection/scan.ts';

type Jwk = Readonly<Record<string, unknown>>;

/** A client as schema 11 has it. */
interface Client {
  readonly jwks?: { readonly keys: readonly Jwk[] };
  readonly gnap?: { readonly key: { readonly jwk?: Jwk } };
}

/** KEYS: clients, their keys by client, their clients by key. ARGV: id, the record, its fingerprints. 0: it was changed in between. */
const index = script(`
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
for key in string.gmatch(ARGV[3], '%S+') do redis.call('ZADD', KEYS[3], 0, key .. ' ' .. ARGV[1]) end
return 1
`);

/** Schema 12: clients are found by the fingerprints of their keys. */
export async function giveKeysToClients(redis: Connection, prefix: string): Promise<void> {
  const clients = `${prefix}:clients`;
  const keys = [clients, `{${clients}}:keys`, `{${clients}}:by-key`] as const;
  const indexed = async (id: string): Promise<void> => {
    const record = await redis.command<string | null>('HGET', clients, id);
    if (record === null) return;
    const found = fingerprintsIn(JSON.parse(record) as Client);
    if (found.length === 0) return;
    const done = await redis.durable<number>(index, keys, id, record, found.join(' '));
    if (done === 0) await indexed(id);
  };
  for await (const slice of scan(redis, clients)) {
    await Promise.all(slice.map(([id]) => indexed(id)));
  }
}

const fingerprintsIn = ({ jwks, gnap }: Client): readonly string[] => [
  ...new Set(
    [...(jwks?.keys ?? []), ...(gnap?.key.jwk ? [gnap.key.jwk] : [])].flatMap(fingerprintOf),
  ),
];

function fingerprintOf({ kty, crv, x, y, n, e }: Jwk): readonly string[] {
  try {
    const key = createPublicKey({
      key: { kty, crv, x, y, n, e } as webcrypto.JsonWebKey,
      format: 'jwk',
    });
    return [hash('sha256', key.export({ format: 'der', type: 'spki' }), 'base64url')];
  } catch {
    return [];
  }
}
