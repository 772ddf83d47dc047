import { startRedis } from '../parts/redis.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import { LOAD_CPU, stayOn } from './cpu.ts';
import type { Server } from './cpu.ts';
import { digestLoad } from './digest-load.ts';
import { addCrowd, basic, DOCUMENT, type Gate, openGate, SETTINGS } from './gate.ts';
import { equalBcrypt, type HashCost } from './hash-cost.ts';
import type { HttpContender } from './http-load.ts';
import type { Findings } from './report.ts';
import { always, type HttpRequest, inTurn, type Load } from './requests.ts';
import { bearer, BODY, type Fields } from './site.ts';
import { compareRequests } from './suite.ts';
import { startApacheSchemes } from './targets/apache-schemes.ts';
import { type Settings, startCountersign } from './targets/countersign.ts';
import { startNginx } from './targets/nginx.ts';

const CONNECTIONS = 32;
/** More than our server remembers (10,000), so that each is unseen when it comes again. */
const CROWD = 11_000;
/** Responses of Digest made for each second of a run: more than any server checks. */
const RESPONSES = 24_000;

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
  };
  return { ...(await compareRequests(comparisons, CONNECTIONS, say)), notes: notes(hashes) };
}

const notes = ({ cost, bcrypt, argon2id }: HashCost) => [
  `wrk, ${CONNECTIONS} connections; the answer is a file of ${BODY.length} bytes. All write a log line for each request.`,
  `One hash, measured before in turns: argon2id, as ours, ${argon2id.toFixed(1)} ms of CPU time; bcrypt of cost ${cost},`,
  `the cost nearest to it, ${bcrypt.toFixed(1)} ms (htpasswd at cost 12, divided by 2^${12 - cost}). First sight: ${CROWD} people`,
  'in turn, more than are remembered; they share one hash. Apache remembers no verdict: one person.',
  `Digest: ${CONNECTIONS} clients, each with its nonce and its nc, ${RESPONSES} responses made for each second. Ours writes`,
  'each nc to the store; mod_auth_digest does not look at nc, and knows MD5 only. API key: nginx compares',
  'with a map in its memory; ours reads the key and its limit from the store. CPU time of Redis is not counted.',
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
  const { url } = stack.use(await startRedis({ appendonly: true }));
  const open = async (settings: Settings) => openGate(stack.use(await startCountersign(settings)));
  const sqlite = await open(SETTINGS);
  const redis = await open({ ...SETTINGS, store: { kind: 'redis', mode: 'single', urls: [url] } });
  const { name: username, password } = sqlite.person;
  const apache = stack.use(
    await startApacheSchemes({ username, password, cost, body: BODY, folder }),
  );
  const nginx = stack.use(await startNginx({ key: sqlite.key, body: BODY, folder }));
  return { apache, nginx, sqlite, redis, cost };
}

const get = (path: string, fields: Fields): HttpRequest => ({ method: 'GET', path, fields });

/** Has to answer with the file, and 401 to these other credentials. */
const reader = (
  name: string,
  server: Server,
  load: Load,
  forged: HttpContender['forged'],
): HttpContender => ({
  name,
  server,
  load,
  answer: { status: 200, body: (text) => text === BODY },
  forged,
});

async function basics({ apache, sqlite, cost }: Targets): Promise<readonly HttpContender[]> {
  const { person, servers } = sqlite;
  const crowd = await addCrowd(sqlite, CROWD);
  const right = basic(person.name, person.password);
  const wrong = basic(person.name, `${person.password}!`);
  const inFile = '/basic/small';
  return [
    reader(`Apache, bcrypt ${cost}`, apache, always(get(inFile, right)), () => get(inFile, wrong)),
    reader(
      'ours, first sight',
      servers.resource,
      inTurn(crowd.map(({ name, password }) => get(DOCUMENT, basic(name, password)))),
      () => get(DOCUMENT, wrong),
    ),
    reader('ours, repeats', servers.resource, always(get(DOCUMENT, right)), () =>
      get(DOCUMENT, wrong),
    ),
  ];
}

function digests({ apache, sqlite, redis }: Targets): readonly HttpContender[] {
  const { name: username, password } = sqlite.person;
  const contender = (name: string, server: Server, path: string, algorithm: 'MD5' | 'SHA-256') => {
    const numbers = { clients: CONNECTIONS, perSecond: RESPONSES };
    const client = { username, password, algorithm };
    const load = digestLoad({ url: server.url, path, ...client, ...numbers });
    return reader(name, server, load, load.forged);
  };
  const inSqlite = sqlite.servers.resource;
  return [
    contender('Apache, MD5', apache, '/digest/small', 'MD5'),
    contender('ours, SQLite, MD5', inSqlite, DOCUMENT, 'MD5'),
    contender('ours, SQLite, SHA-256', inSqlite, DOCUMENT, 'SHA-256'),
    contender('ours, Redis, SHA-256', redis.servers.resource, DOCUMENT, 'SHA-256'),
  ];
}

function keys({ nginx, sqlite, redis }: Targets): readonly HttpContender[] {
  const contender = (name: string, server: Server, path: string, key: string) => {
    const field = (value: string): Fields => ({ 'X-API-Key': value });
    return reader(name, server, always(get(path, field(key))), () => get(path, field(`${key}0`)));
  };
  const { servers, token } = sqlite;
  return [
    contender('nginx, a map of keys', nginx, '/small', sqlite.key),
    contender('ours, SQLite', servers.resource, DOCUMENT, sqlite.key),
    contender('ours, Redis', redis.servers.resource, DOCUMENT, redis.key),
    reader(
      'ours, Bearer (ES256), seen',
      servers.resource,
      always(get(DOCUMENT, bearer(token))),
      () => get(DOCUMENT, bearer(`${token.slice(0, -4)}AAAA`)),
    ),
  ];
}
