import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '#shared/clock.ts';
import type { Config } from '#shared/config/schema.ts';
import type { Random } from '#shared/random.ts';
import type { Clients } from '#shared/stores/clients.ts';
import { spaceScopes } from './resources.ts';

const CLIENT = 'demo-machine';
const FILE = 'first-start.txt';

/** For the parent process to print. */
export interface FirstStart {
  /** The file that keeps what was printed; later starts name it. */
  readonly firstStart?: string;
  /** Absent when this was not the first start. */
  readonly lines?: readonly string[];
}

/**
 * Development only: makes a machine client so that there is something to try, and keeps its secret in a
 * file that only its owner may read. Of several processes that start at once one makes it.
 */
export async function firstStart(
  config: Config,
  clients: Clients,
  clock: Clock,
  random: Random,
): Promise<FirstStart> {
  const file = join(config.data, FILE);
  const secret = random(32).toString('base64url');
  const [documents] = config.spaces;
  const made = await clients.add({
    client_id: CLIENT,
    client_name: 'Demo machine',
    grant_types: ['client_credentials'],
    token_endpoint_auth_method: 'client_secret_basic',
    secret_hash: createHash('sha256').update(secret).digest('base64url'),
    scope: [...(documents ? spaceScopes(documents) : [])].join(' '),
    demo: true,
    created_at: clock.now(),
  });
  if (!made) return existsSync(file) ? { firstStart: file } : {};
  const lines = [
    `client_id      ${CLIENT}`,
    `client_secret  ${secret}`,
    '',
    `TOKEN=$(curl -s ${config.issuer}/token -u ${CLIENT}:${secret} -d grant_type=client_credentials \\`,
    `  | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`,
    ...(documents ? [`curl -i ${documents.url} -H "Authorization: Bearer $TOKEN"`] : []),
  ];
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600, flush: true });
  return { firstStart: file, lines: [...lines, '', `These lines are kept in ${file}`] };
}
