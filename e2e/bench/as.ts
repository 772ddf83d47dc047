import { temporaryFolder } from '../parts/temporary-folder.ts';
import { LOAD_CPU, stayOn } from './cpu.ts';
import { byClient, CODES, SCOPE } from './grant-contenders.ts';
import type { Findings } from './report.ts';
import { compareRequests } from './suite.ts';
import { startBareIssuer } from './targets/bare.ts';
import { startCountersign } from './targets/countersign.ts';
import { startRedisStore } from './targets/redis.ts';

const CONNECTIONS = 16;

/** Tokens a second: our authorization server on both stores against a bare oidc-provider. */
export async function measureAs(say: (line: string) => void): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  await using folder = await temporaryFolder();
  await using stack = new AsyncDisposableStack();
  const store = await startRedisStore(stack);
  await using onSqlite = await startCountersign();
  await using onRedis = await startCountersign({}, { store });

  const client = await onSqlite.pair.addClient(SCOPE);
  const audience = onSqlite.pair.documents;
  await using bare = await startBareIssuer(
    { client, scope: SCOPE, audience, ...CODES },
    folder.path,
  );
  const redisClient = await onRedis.pair.addClient(SCOPE);

  const title = 'Authorization server: client_credentials, client_secret_basic, ES256 JWT';
  const contenders = [
    byClient('oidc-provider alone, in memory', bare, client, audience),
    byClient('ours, SQLite', onSqlite.authz, client, audience),
    byClient('ours, Redis', onRedis.authz, redisClient, onRedis.pair.documents),
  ];
  const notes = [
    `wrk, ${CONNECTIONS} connections. Ours also spends two limits, reads the client and the revocation`,
    'generation from the store and writes a log line for each token. CPU time of Redis stands beside.',
  ];
  return { ...(await compareRequests({ [title]: contenders }, CONNECTIONS, say)), notes };
}
