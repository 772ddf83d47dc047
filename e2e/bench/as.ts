import { decodeProtectedHeader } from 'jose';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import { startRedis } from '../parts/redis.ts';
import { LOAD_CPU, stayOn } from './cpu.ts';
import type { Server } from './cpu.ts';
import type { HttpContender } from './http-load.ts';
import type { Findings } from './report.ts';
import { always } from './requests.ts';
import { compareRequests } from './suite.ts';
import { startBareIssuer } from './targets/bare.ts';
import { startCountersign } from './targets/countersign.ts';
import { tokenRequest } from './tokens.ts';
import type { Grant } from './tokens.ts';

const CONNECTIONS = 16;
const SCOPE = 'documents:read';

/** Tokens a second: our authorization server on both stores against a bare oidc-provider. */
export async function measureAs(say: (line: string) => void): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  await using folder = await temporaryFolder();
  await using redis = await startRedis({ appendonly: true });
  await using onSqlite = await startCountersign();
  const store = { kind: 'redis', mode: 'single', urls: [redis.url] };
  await using onRedis = await startCountersign({ store });

  const client = await onSqlite.pair.addClient(SCOPE);
  const audience = onSqlite.pair.documents;
  await using bare = await startBareIssuer({ client, scope: SCOPE, audience }, folder.path);
  const redisClient = await onRedis.pair.addClient(SCOPE);

  const title = 'Authorization server: client_credentials, client_secret_basic, ES256 JWT';
  const contenders = [
    contender('oidc-provider alone, in memory', bare, client, audience),
    contender('ours, SQLite', onSqlite.authz, client, audience),
    contender('ours, Redis', onRedis.authz, redisClient, onRedis.pair.documents),
  ];
  const notes = [
    `wrk, ${CONNECTIONS} connections. Ours also spends two limits, reads the client and the revocation`,
    'generation from the store and writes a log line for each token. CPU time of Redis is not counted.',
  ];
  return { ...(await compareRequests({ [title]: contenders }, CONNECTIONS, say)), notes };
}

type Client = Grant['client'];

function contender(name: string, server: Server, client: Client, resource: string): HttpContender {
  const request = { client, scope: SCOPE, resource };
  const stranger = { ...client, secret: client.secret.toUpperCase() };
  return {
    name,
    server,
    load: always(tokenRequest(request)),
    answer: { status: 200, body: isJwtAnswer },
    forged: () => tokenRequest({ ...request, client: stranger }),
  };
}

/** An ES256 JWT (RFC 9068) of type Bearer (RFC 6749 section 5.1). */
function isJwtAnswer(text: string): boolean {
  const { access_token, token_type } = JSON.parse(text) as Record<string, string>;
  const { typ, alg } = decodeProtectedHeader(access_token ?? '');
  return token_type === 'Bearer' && typ === 'at+jwt' && alg === 'ES256';
}
