import { startRedis } from '../parts/redis.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import { LOAD_CPU, stayOn } from './cpu.ts';
import type { Server } from './cpu.ts';
import { basic } from './gate.ts';
import { type Http2Load, overHttp2 } from './http2-load.ts';
import { type HttpContender, overWrk } from './http-load.ts';
import {
  COLLECTION,
  furnish,
  LARGE,
  LARGE_PUTS,
  MEMBERS,
  putting,
  SMALL,
  SMALL_PUTS,
  STOCK,
} from './library.ts';
import type { Schedule } from './measure.ts';
import type { Findings } from './report.ts';
import { type HttpRequest, inTurn } from './requests.ts';
import { type Fields, ORIGIN } from './site.ts';
import { type Comparison, compareAll } from './suite.ts';
import { startApacheDav } from './targets/apache-dav.ts';
import { type Settings, startCountersign } from './targets/countersign.ts';

const MANY = 16;
/** Of what takes milliseconds: what is not over at the end of a round is not counted. */
const FEW = 2;
const HTTP2: Http2Load = { connections: 4, streams: 8 };
const HTTP2_FEW: Http2Load = { connections: 2, streams: 1 };

/** Many comparisons in a few minutes. */
const SCHEDULE: Schedule = { rounds: 3, seconds: 2, warmUp: 2 };

const SETTINGS: Settings = {
  resource: ORIGIN,
  spaces: [
    {
      url: `${ORIGIN}/documents/`,
      realm: 'documents',
      schemes: ['Basic'],
      scopes: { safe: ['documents:read'], unsafe: ['documents:write'] },
      grants: { everyone: ['documents:read', 'documents:write'] },
    },
  ],
};

const NOTES = [
  `Load: wrk, ${MANY} connections, ${FEW} for what is large and PROPFIND; over HTTP/2 (wrk knows neither that nor QUERY)`,
  `a client in Node, ${HTTP2.connections} connections with ${HTTP2.streams} streams each, ${HTTP2_FEW.connections} with one for QUERY. It is slower than Apache: there`,
  'the wall column is about the client. Small: 1 KiB; large: 8 MiB. All write a log line for each request.',
  'Basic, the same credentials again and again: Apache computes one SHA-1 for each request, ours remembers',
  'the verdict and asks whether it was revoked. Ours keeps documents that were read lately in memory;',
  'Apache reads the file, which the system keeps there.',
  'PUT replaces. Ours writes content, folder and row to the disk (fsync) before it answers; Apache syncs nothing.',
  '"In memory" has the data in /dev/shm, where syncing is nothing: what it gains there is what the disk costs, in',
  'CPU time of the file system and in waiting.',
  `PROPFIND: ${MEMBERS.length} members, five live properties of each. QUERY: JSONPath, a tenth of the items; Apache, which knows`,
  'no QUERY, sends the whole document instead. Ours on Redis: CPU time and memory include those of Redis, which',
  'has its log (appendfsync always) in memory. Peak: of the resident memory of all processes, in any round.',
];

/** Documents and WebDAV, ours on both stores beside Apache with mod_dav. */
export async function measureDocuments(say: (line: string) => void): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  await using stack = new AsyncDisposableStack();
  const comparisons = comparisonsOf(await startTargets(stack));
  return { ...(await compareAll(comparisons, say, SCHEDULE)), notes: NOTES };
}

/** A server with all documents in place, and what lets in and what does not. */
interface Target {
  readonly name: string;
  readonly server: Server;
  readonly right: Fields;
  readonly wrong: Fields;
}

interface Targets {
  readonly apache: Target;
  readonly sqlite: Target;
  readonly redis: Target;
  /** With SQLite. */
  readonly inMemory: Target;
}

async function startTargets(stack: AsyncDisposableStack): Promise<Targets> {
  const { path: folder } = stack.use(await temporaryFolder());
  const { path: data } = stack.use(await temporaryFolder('/dev/shm'));
  const redis = stack.use(await startRedis({ appendonly: true }));
  const redisPid = Number(/process_id:(\d+)/.exec(await redis.cli('INFO', 'server'))?.[1]);

  async function target(name: string, server: Server, who: Who): Promise<Target> {
    const right = basic(who.name, who.password);
    await furnish(server, right);
    return { name, server, right, wrong: basic(who.name, `${who.password}!`) };
  }
  async function ours(name: string, settings: Settings, beside: readonly number[] = []) {
    const { pair, resource } = stack.use(await startCountersign({ ...SETTINGS, ...settings }));
    const server = { ...resource, pids: [...resource.pids, ...beside] };
    return target(name, server, await pair.addPerson());
  }
  const who = { name: 'alice', password: 'correct horse battery' };
  const apache = await startApacheDav({ username: who.name, password: who.password, folder });
  const store = { kind: 'redis', mode: 'single', urls: [redis.url] };
  return {
    apache: await target('Apache mod_dav', stack.use(apache), who),
    sqlite: await ours('ours, SQLite', {}),
    redis: await ours('ours, Redis', { store }, [redisPid]),
    inMemory: await ours('ours, SQLite, in memory', { data }),
  };
}

interface Who {
  readonly name: string;
  readonly password: string;
}

/** One request of a task, and its answer. */
interface Task {
  requests(credentials: Fields): readonly HttpRequest[];
  readonly answer: HttpContender['answer'];
}

function contender({ name, server, right, wrong }: Target, task: Task): HttpContender {
  const [forged] = task.requests(wrong);
  if (forged === undefined) throw new Error('a task without a request');
  const load = inTurn(task.requests(right));
  return { name, server, load, answer: task.answer, forged: () => forged };
}

function reading({ path, content }: typeof SMALL): Task {
  return {
    requests: (fields) => [{ method: 'GET', path, fields }],
    answer: { status: 200, body: (found) => found === content },
  };
}

function replacing(documents: typeof SMALL_PUTS): Task {
  return {
    requests: (fields) => documents.map((document) => putting(document, fields)),
    answer: { status: 204 },
  };
}

const LISTING: Task = {
  requests: (fields) => [
    {
      method: 'PROPFIND',
      path: COLLECTION,
      fields: { ...fields, Depth: '1', 'Content-Type': 'application/xml' },
      body: `<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:"><D:prop><D:resourcetype/><D:getcontentlength/><D:getlastmodified/><D:getetag/><D:creationdate/></D:prop></D:propfind>`,
    },
  ],
  answer: {
    status: 207,
    body: (found) => found.match(/<D:response[ >]/g)?.length === MEMBERS.length + 1,
  },
};

const QUERYING: Task = {
  requests: (fields) => [
    {
      method: 'QUERY',
      path: STOCK.path,
      fields: { ...fields, 'Content-Type': 'application/jsonpath', Accept: 'application/json' },
      body: '$.items[?@.price < 10].name',
    },
  ],
  answer: { status: 200, body: (found) => found.startsWith('["Item 0","Item 1",') },
};

function comparisonsOf({ apache, sqlite, redis, inMemory }: Targets): readonly Comparison[] {
  const all = [apache, sqlite, redis];
  const http1 = (title: string, connections: number, task: Task, targets = all): Comparison => ({
    title,
    contenders: targets.map((target) => overWrk(contender(target, task), connections)),
  });
  const http2 = (title: string, at: Http2Load, task: (target: Target) => Task): Comparison => ({
    title,
    contenders: all.map((target) => overHttp2(contender(target, task(target)), at)),
  });
  return [
    http1('Documents: GET, small', MANY, reading(SMALL)),
    http2('Documents: GET, small, over HTTP/2', HTTP2, () => reading(SMALL)),
    http1('Documents: GET, large', FEW, reading(LARGE)),
    http1('Documents: PUT, small', MANY, replacing(SMALL_PUTS), [...all, inMemory]),
    http1('Documents: PUT, large', FEW, replacing(LARGE_PUTS), [...all, inMemory]),
    http1('Documents: PROPFIND, Depth: 1', FEW, LISTING),
    http2('Documents: QUERY of 100 KiB, over HTTP/2', HTTP2_FEW, (target) =>
      target === apache ? reading(STOCK) : QUERYING,
    ),
  ];
}
