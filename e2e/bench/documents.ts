import { MEMORY, temporaryFolder } from '../parts/temporary-folder.ts';
import { LOAD_CPU, stayOn } from './cpu.ts';
import { type DocumentTarget, startApacheTarget, startOwnTarget } from './document-targets.ts';
import { LISTING, performing, QUERYING, reading, replacing, type Task } from './document-tasks.ts';
import { type Http2Load, overHttp2 } from './http2-load.ts';
import { overWrk } from './http-load.ts';
import { LARGE, LARGE_PUTS, MEMBERS, SMALL, SMALL_PUTS, STOCK } from './library.ts';
import { type Schedule, WARM_UP } from './measure.ts';
import type { Findings } from './report.ts';
import { type Comparison, compareAll } from './suite.ts';
import { startRedisStore } from './targets/redis.ts';

const MANY = 16;
/** Of what takes milliseconds: what is not over at the end of a round is not counted. */
const FEW = 2;
const HTTP2: Http2Load = { connections: 4, streams: 8 };
const HTTP2_FEW: Http2Load = { connections: 2, streams: 1 };

/** Many comparisons in a few minutes. */
const SCHEDULE: Schedule = { rounds: 3, seconds: 2, warmUp: { ...WARM_UP, seconds: 5 } };

const NOTES = [
  `Load: wrk, ${MANY} connections, ${FEW} for what is large and PROPFIND; over HTTP/2 (wrk knows neither that nor QUERY)`,
  `a client in Node, ${HTTP2.connections} connections with ${HTTP2.streams} streams each, ${HTTP2_FEW.connections} with one for QUERY. It is slower than Apache: there`,
  'the wall column is about the client. Small: 1 KiB; large: 8 MiB. All write a log line for each request.',
  'Basic, the same credentials again and again: Apache computes one SHA-1 for each request, ours remembers',
  'the verdict and asks whether it was revoked. Ours keeps documents that were read lately in memory;',
  'Apache reads the file, which the system keeps there.',
  'PUT replaces. Ours has it on the disk (fsync) before it answers; Apache syncs nothing.',
  '"In memory" has the data in /dev/shm, where syncing is nothing: what it gains there is what the disk costs, in',
  'CPU time of the file system and in waiting.',
  `PROPFIND: ${MEMBERS.length} members, five live properties of each. QUERY: JSONPath, a tenth of the items; Apache, which knows`,
  'no QUERY, sends the whole document instead. Redis, whose CPU time stands beside, has',
  'its log (appendfsync always) in memory. Peak: of the resident memory of all processes, in any round.',
];

/** Documents and WebDAV, ours on both stores beside Apache with mod_dav. */
export async function measureDocuments(say: (line: string) => void): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  await using stack = new AsyncDisposableStack();
  const comparisons = comparisonsOf(await startTargets(stack));
  return { ...(await compareAll(comparisons, say, SCHEDULE)), notes: NOTES };
}

interface Targets {
  readonly apache: DocumentTarget;
  readonly sqlite: DocumentTarget;
  readonly redis: DocumentTarget;
  /** With SQLite. */
  readonly inMemory: DocumentTarget;
}

async function startTargets(stack: AsyncDisposableStack): Promise<Targets> {
  const { path: data } = stack.use(await temporaryFolder(MEMORY));
  const store = await startRedisStore(stack);
  return {
    apache: await startApacheTarget(stack),
    sqlite: await startOwnTarget(stack, 'ours, SQLite'),
    redis: await startOwnTarget(stack, 'ours, Redis', {}, { store }),
    inMemory: await startOwnTarget(stack, 'ours, SQLite, in memory', { data }),
  };
}

function comparisonsOf({ apache, sqlite, redis, inMemory }: Targets): readonly Comparison[] {
  const all = [apache, sqlite, redis];
  const http1 = (title: string, connections: number, task: Task, targets = all): Comparison => ({
    title,
    contenders: targets.map((target) => overWrk(performing(target, task), connections)),
  });
  const http2 = (
    title: string,
    at: Http2Load,
    task: (target: DocumentTarget) => Task,
  ): Comparison => ({
    title,
    contenders: all.map((target) => overHttp2(performing(target, task(target)), at)),
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
