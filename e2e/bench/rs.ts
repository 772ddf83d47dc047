import { LOAD_CPU, stayOn } from './cpu.ts';
import type { HttpContender } from './http-load.ts';
import type { Findings } from './report.ts';
import { inTurn } from './requests.ts';
import { type Resources, startResources } from './resources.ts';
import { BODY, ES256, get, RS256, verify } from './site.ts';
import { compareRequests } from './suite.ts';
import { byBearer, type Bearers, byProof, PROOFS } from './token-contenders.ts';

const CONNECTIONS = 32;
/** More than our servers remember (20,000), so that each is unseen when it comes again. */
const TOKENS = 21_000;

const NOTES = [
  `wrk, ${CONNECTIONS} connections; the answer is a text of ${BODY.length} bytes. HAProxy checks signature,`,
  'iss, aud, exp and scope and answers by itself; Koa answers from memory. Ours reads the document',
  'from disk (/verify answers 204), looks at revocations and writes a log line for each request.',
  `DPoP: one client key, one token, ${PROOFS} proofs made for each second. CPU time of Redis stands beside.`,
];

type Say = (line: string) => void;

/** Requests a second: our resource server against a bare Koa with jose and against HAProxy. */
export async function measureRs(say: Say): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  await using stack = new AsyncDisposableStack();
  const resources = await startResources(stack);
  say(`  ${3 * TOKENS} tokens`);
  const withTokens = await bearers(resources);

  const comparisons: Readonly<Record<string, readonly HttpContender[]>> = {
    'Resource server: Bearer, one token again and again (seen)': withTokens((all) =>
      inTurn(all.slice(0, 1)),
    ),
    [`Resource server: Bearer, ${TOKENS} tokens in turn (unseen)`]: withTokens(inTurn),
    'Resource server: DPoP, ES256, a new proof for each request': await proofs(resources),
  };
  return { ...(await compareRequests(comparisons, CONNECTIONS, say)), notes: NOTES };
}

/** The contenders for Bearer tokens, for any order in which the tokens come. */
async function bearers({ koa, haproxy, sqlite }: Resources) {
  const es256 = await sqlite.tokens(ES256, TOKENS);
  // The server must not remember the tokens of /verify from the documents.
  const others = await sqlite.tokens(ES256, TOKENS);
  const rs256 = await sqlite.tokens(RS256, TOKENS);
  const server = sqlite.servers.resource;
  const ecdsa = { space: ES256, tokens: es256, ask: get };
  const rsa = { space: RS256, tokens: rs256, ask: get };

  return (load: Bearers['load']): readonly HttpContender[] => [
    byBearer({ name: 'Koa + router + jose, ES256', server: koa, ...ecdsa, load }),
    byBearer({ name: 'HAProxy jwt_verify, ES256', server: haproxy.es256, ...ecdsa, load }),
    byBearer({ name: 'HAProxy jwt_verify, RS256', server: haproxy.rs256, ...rsa, load }),
    byBearer({ name: 'ours, ES256, document', server, ...ecdsa, load }),
    byBearer({ name: 'ours, RS256, document', server, ...rsa, load }),
    byBearer({
      name: 'ours, ES256, /verify',
      server,
      ...ecdsa,
      tokens: others,
      ask: verify,
      load,
    }),
  ];
}

async function proofs({ koa, sqlite, redis }: Resources): Promise<readonly HttpContender[]> {
  const server = sqlite.servers.resource;
  return [
    await byProof('Koa + router + jose', koa, sqlite, get),
    await byProof('ours, SQLite, document', server, sqlite, get),
    await byProof('ours, SQLite, /verify', server, sqlite, verify),
    await byProof('ours, Redis, document', redis.servers.resource, redis, get),
  ];
}
