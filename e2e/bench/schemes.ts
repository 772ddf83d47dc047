import { temporaryFolder } from '../parts/temporary-folder.ts';
import { keyComparisons } from './by-keys.ts';
import { LOAD_CPU, stayOn } from './cpu.ts';
import type { Server } from './cpu.ts';
import { addCrowd, basic, DOCUMENT, type Gate, openGate, SETTINGS } from './gate.ts';
import { at, byDigest, byKey, byPassword, reader, type Responses } from './gate-contenders.ts';
import { exchangeCosts } from './exchange-cost.ts';
import { equalBcrypt, type HashCost } from './hash-cost.ts';
import type { HttpContender } from './http-load.ts';
import type { Findings } from './report.ts';
import { byProof, mutualSpace } from './mutual-load.ts';
import { always, inTurn } from './requests.ts';
import { bearer, BODY } from './site.ts';
import { compareAll, compareRequests } from './suite.ts';
import { startApacheSchemes } from './targets/apache-schemes.ts';
import { startCountersign } from './targets/countersign.ts';
import { startNginx } from './targets/nginx.ts';
import { startRedisStore } from './targets/redis.ts';

const CONNECTIONS = 32;
/** A proof costs the same hash with any algorithm. */
const PROVED = 'iso-kam3-ec-p256-sha256';
/** Responses of Digest made for each second of a run: more than any server checks. */
const RESPONSES = 24_000;
/** More than our server remembers (10,000), so that each is unseen when it comes again. */
const CROWD = 11_000;

/** Requests a second for a small document behind Basic, Digest and API keys, beside Apache and nginx. */
export async function measureSchemes(say: (line: string) => void): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  await using stack = new AsyncDisposableStack();
  say('  one hash of each kind');
  const hashes = await equalBcrypt();
  const targets = await startTargets(stack, hashes);
  say(`  ${CROWD} people`);
  const comparisons: Readonly<Record<string, readonly HttpContender[]>> = {
    'Basic: mod_auth_basic hashes for each request, ours at first sight': await basics(targets),
    'Digest: a new response for each request': digests(targets),
    'API key: one key again and again': keys(targets),
    'Mutual: a new proof for each request': proofs(targets),
  };
  const found = await compareRequests(comparisons, CONNECTIONS, say);
  const keyed = await keyComparisons(stack);
  const byKeys = await compareAll(keyed.comparisons, say);
  return {
    tables: [...found.tables, ...byKeys.tables],
    errors: found.errors + byKeys.errors,
    notes: [...notes(hashes), keyed.note],
  };
}

const notes = ({ cost, bcrypt, argon2id }: HashCost) => [
  `wrk, ${CONNECTIONS} connections; the answer is a file of ${BODY.length} bytes. All write a log line for each request.`,
  `One hash, measured before in turns: argon2id, as ours, ${argon2id.toFixed(1)} ms of CPU time; bcrypt of cost ${cost},`,
  `the cost nearest to it, ${bcrypt.toFixed(1)} ms (htpasswd at cost 12, divided by 2^${12 - cost}). First sight: ${CROWD} people`,
  'in turn, more than are remembered; they share one hash. Apache remembers no verdict: one person.',
  `Digest: ${CONNECTIONS} clients, each with its nonce and its nc, ${RESPONSES} responses made for each second. Ours writes`,
  'each nc to the store; mod_auth_digest does not look at nc, and knows MD5 only. API key: nginx compares',
  'with a map in its memory; ours reads the key and its limit from the store. CPU time of Redis stands beside.',
  `Mutual: ${CONNECTIONS} sessions, each with its nc; nobody else serves it. What a key exchange computes, in a thread:`,
  ...exchangeCosts(),
];

interface Targets {
  readonly apache: Server;
  readonly nginx: Server;
  readonly sqlite: Gate;
  readonly redis: Gate;
  readonly cost: number;
}

async function startTargets(stack: AsyncDisposableStack, { cost }: HashCost): Promise<Targets> {
  const { path: folder } = stack.use(await temporaryFolder());
  const store = await startRedisStore(stack);
  const settings = {
    ...SETTINGS,
    spaces: [...SETTINGS.spaces, mutualSpace(PROVED)],
  };
  const sqlite = await openGate(stack.use(await startCountersign(settings)));
  const redis = await openGate(stack.use(await startCountersign(settings, { store })));
  const { name: username, password } = sqlite.person;
  const apache = stack.use(
    await startApacheSchemes({ username, password, cost, body: BODY, folder }),
  );
  const nginx = stack.use(await startNginx({ key: sqlite.key, body: BODY, folder }));
  return { apache, nginx, sqlite, redis, cost };
}

async function basics({ apache, sqlite, cost }: Targets): Promise<readonly HttpContender[]> {
  const { person, servers } = sqlite;
  const crowd = await addCrowd(servers.pair, CROWD);
  const asked = crowd.map(({ name, password }) => at(DOCUMENT, basic(name, password)));
  const wrong = at(DOCUMENT, basic(person.name, `${person.password}!`));
  return [
    byPassword(`Apache, bcrypt ${cost}`, apache, sqlite, '/basic/small'),
    reader('ours, first sight', servers.resource, inTurn(asked), () => wrong),
    byPassword('ours, repeats', servers.resource, sqlite),
  ];
}

function digests({ apache, sqlite, redis }: Targets): readonly HttpContender[] {
  const md5: Responses = { algorithm: 'MD5', clients: CONNECTIONS, perSecond: RESPONSES };
  const sha: Responses = { ...md5, algorithm: 'SHA-256' };
  const inSqlite = sqlite.servers.resource;
  return [
    byDigest('Apache, MD5', apache, sqlite, { ...md5, path: '/digest/small' }),
    byDigest('ours, SQLite, MD5', inSqlite, sqlite, md5),
    byDigest('ours, SQLite, SHA-256', inSqlite, sqlite, sha),
    byDigest('ours, Redis, SHA-256', redis.servers.resource, redis, sha),
  ];
}

function keys({ nginx, sqlite, redis }: Targets): readonly HttpContender[] {
  const { servers, token } = sqlite;
  const seen = always(at(DOCUMENT, bearer(token)));
  const forged = at(DOCUMENT, bearer(`${token.slice(0, -4)}AAAA`));
  return [
    byKey('nginx, a map of keys', nginx, sqlite, '/small'),
    byKey('ours, SQLite', servers.resource, sqlite),
    byKey('ours, Redis', redis.servers.resource, redis),
    reader('ours, Bearer (ES256), seen', servers.resource, seen, () => forged),
  ];
}

const ofPerson = ({ person: { name: user, password } }: Gate) => ({
  user,
  password,
  clients: CONNECTIONS,
  perSecond: RESPONSES,
});

function proofs({ sqlite, redis }: Targets): readonly HttpContender[] {
  const by = (name: string, gate: Gate) =>
    byProof(name, gate.servers.resource, { ...ofPerson(gate), algorithm: PROVED });
  return [
    byDigest('ours, Digest, SHA-256', sqlite.servers.resource, sqlite, {
      algorithm: 'SHA-256',
      clients: CONNECTIONS,
      perSecond: RESPONSES,
    }),
    by('ours, SQLite', sqlite),
    by('ours, Redis', redis),
  ];
}
