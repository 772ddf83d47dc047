import { LOAD_CPU, stayOn } from './cpu.ts';
import type { Server } from './cpu.ts';
import type { HttpContender } from './http-load.ts';
import type { Findings } from './report.ts';
import { always, fresh, inTurn } from './requests.ts';
import type { HttpRequest, Load } from './requests.ts';
import { startResources } from './resources.ts';
import type { Resources } from './resources.ts';
import { bearer, BODY, ES256, get, ORIGIN, RS256, verify } from './site.ts';
import type { Site, Space } from './site.ts';
import { compareRequests } from './suite.ts';

const CONNECTIONS = 32;
/** More than our servers remember (20,000), so that each is unseen when it comes again. */
const TOKENS = 21_000;
/** Proofs made for each second of a run: more than any server checks. */
const PROOFS = 12_000;

const NOTES = [
  `wrk, ${CONNECTIONS} connections; the answer is a text of ${BODY.length} bytes. HAProxy checks signature,`,
  'iss, aud, exp and scope and answers by itself; Koa answers from memory. Ours reads the document',
  'from disk (/verify answers 204), looks at revocations and writes a log line for each request.',
  `DPoP: one client key, one token, ${PROOFS} proofs made for each second. CPU time of Redis is not counted.`,
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
    'Resource server: Bearer, one token again and again (seen)': withTokens(([request]) =>
      always(required(request)),
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
  const ours = sqlite.servers.resource;

  return (load: (requests: readonly HttpRequest[]) => Load): readonly HttpContender[] => {
    const reader = (name: string, server: Server, space: Space, tokens: readonly string[]) => ({
      name,
      server,
      load: load(tokens.map((token) => get(space, bearer(token)))),
      answer: DOCUMENT,
      forged: () => get(space, bearer(forged(required(tokens[0])))),
    });
    return [
      reader('Koa + router + jose, ES256', koa, ES256, es256),
      reader('HAProxy jwt_verify, ES256', haproxy.es256, ES256, es256),
      reader('HAProxy jwt_verify, RS256', haproxy.rs256, RS256, rs256),
      reader('ours, ES256, document', ours, ES256, es256),
      reader('ours, RS256, document', ours, RS256, rs256),
      {
        name: 'ours, ES256, /verify',
        server: ours,
        load: load(others.map((token) => verify(ES256, bearer(token)))),
        answer: VERDICT,
        forged: () => verify(ES256, bearer(forged(required(others[0])))),
      },
    ];
  };
}

async function proofs({ koa, sqlite, redis }: Resources): Promise<readonly HttpContender[]> {
  const prover = async (
    name: string,
    server: Server,
    { bound }: Site,
    ask: typeof get,
  ): Promise<HttpContender> => {
    const one = async () => ask(ES256, await bound.fields('GET', ORIGIN + ES256.path));
    const fields = await bound.fields('GET', ORIGIN + ES256.path);
    return {
      name,
      server,
      load: fresh(one, PROOFS),
      answer: ask === get ? DOCUMENT : VERDICT,
      forged: () => ask(ES256, { ...fields, DPoP: forged(required(fields['DPoP'])) }),
    };
  };
  const ours = sqlite.servers.resource;
  return [
    await prover('Koa + router + jose', koa, sqlite, get),
    await prover('ours, SQLite, document', ours, sqlite, get),
    await prover('ours, SQLite, /verify', ours, sqlite, verify),
    await prover('ours, Redis, document', redis.servers.resource, redis, get),
  ];
}

const DOCUMENT: HttpContender['answer'] = { status: 200, body: (text) => text === BODY };
const VERDICT: HttpContender['answer'] = { status: 204 };

/** The same JWT with another signature. */
function forged(jwt: string): string {
  const at = jwt.lastIndexOf('.') + 1;
  return `${jwt.slice(0, at)}${jwt[at] === 'A' ? 'B' : 'A'}${jwt.slice(at + 1)}`;
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('there is none');
  return value;
}
