import { temporaryFolder } from '../../parts/temporary-folder.ts';
import {
  APACHE,
  type DocumentTarget,
  type OwnTarget,
  startApacheTarget,
  startOwnTarget,
} from '../document-targets.ts';
import {
  among,
  LISTING,
  NEW_LISTINGS,
  performing,
  reading,
  replacing,
  type Task,
} from '../document-tasks.ts';
import { ARCHIVE, LARGE, put, SMALL, SMALL_PUTS } from '../library.ts';
import { onHttp2, onWrk, startBareHttp } from '../loaded.ts';
import { startRedisStore } from '../targets/redis.ts';
import { type Loaded, type Loads, room, times } from '../work.ts';

/** Connections for works that take milliseconds: a request that is not over at the end of a round is not counted. */
const FEW = 2;

interface Targets {
  readonly http: Loaded;
  readonly apache: DocumentTarget;
  readonly sqlite: OwnTarget;
  readonly redis: OwnTarget;
  /** For HTTP/2 and TLS. */
  readonly others: OwnTarget;
  readonly workers: OwnTarget;
}

async function start(stack: AsyncDisposableStack): Promise<Targets> {
  const { path: folder } = stack.use(await temporaryFolder());
  const store = await startRedisStore(stack);
  return {
    http: await startBareHttp(stack, SMALL.content, folder),
    apache: await startApacheTarget(stack),
    sqlite: await startOwnTarget(stack, 'ours'),
    redis: await startOwnTarget(stack, 'ours', {}, { store }),
    others: await startOwnTarget(stack, 'ours'),
    workers: await startOwnTarget(stack, 'ours', {}, { workers: 2 }),
  };
}

const on = (target: DocumentTarget, task: Task) => onWrk(performing(target, task));

const onBoth = ({ sqlite, redis }: Targets, task: Task) => ({
  SQLite: on(sqlite, task),
  Redis: on(redis, task),
});

const writing = (targets: Targets, task: Task) => ({
  ...onBoth(targets, task),
  '2 workers': on(targets.workers, task),
});

function everyWay(targets: Targets, task: Task): Loads['ways'] {
  const { others } = targets;
  return {
    ...onBoth(targets, task),
    'HTTP/2': onHttp2(performing(others, task)),
    TLS: on({ ...others, server: others.servers.resourceTls }, task),
  };
}

/** More than our servers keep in memory. */
async function fromDisk(targets: Targets): Promise<Loads> {
  const { apache, sqlite } = targets;
  for (const { server, right } of [apache, sqlite]) await put(server, right, ARCHIVE);
  return {
    beside: [on(apache, reading(...ARCHIVE))],
    ways: { SQLite: on(sqlite, reading(...ARCHIVE)) },
  };
}

const WITHOUT_PUT = 'the same without PUT';

/** Documents and WebDAV. */
export const DOCUMENTS = room(start, [
  {
    name: 'GET 1 KiB of a tree',
    goals: { 'node:http': times(4.2) },
    loads: (all) => ({ beside: [all.http], ways: everyWay(all, reading(SMALL)) }),
  },
  {
    name: 'GET 8 MiB, from memory',
    goals: { [APACHE]: times(1.2) },
    atOnce: FEW,
    loads: (all) => ({
      beside: [on(all.apache, reading(LARGE))],
      ways: everyWay(all, reading(LARGE)),
    }),
  },
  {
    name: 'GET 8 MiB, from disk',
    goals: { [APACHE]: times(1 / 0.45) },
    atOnce: FEW,
    loads: fromDisk,
  },
  {
    name: 'PUT 1 KiB',
    goals: { [APACHE]: times(1.8), '2 workers': times(1.1) },
    loads: (all) => ({
      beside: [on(all.apache, replacing(SMALL_PUTS))],
      ways: writing(all, replacing(SMALL_PUTS)),
    }),
  },
  {
    name: 'GET 1 KiB, a tenth PUT',
    goals: { [WITHOUT_PUT]: times(1.5) },
    loads: (all) => ({
      beside: [on({ ...all.sqlite, name: WITHOUT_PUT }, reading(SMALL))],
      ways: writing(all, among(SMALL, SMALL_PUTS)),
    }),
  },
  {
    name: 'PROPFIND of 1,000',
    goals: { [APACHE]: times(1), Redis: times(2.5) },
    atOnce: FEW,
    loads: (all) => ({ beside: [on(all.apache, LISTING)], ways: onBoth(all, LISTING) }),
  },
  {
    name: 'PROPFIND of 1,000, each with another question',
    atOnce: FEW,
    loads: (all) => ({ beside: [on(all.apache, NEW_LISTINGS)], ways: onBoth(all, NEW_LISTINGS) }),
  },
]);
