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
import { type OnEachStore, ofEachStore, onEachStore } from '../targets/stores.ts';
import { type Loaded, type Loads, room, times } from '../work.ts';

/**
 * Connections for works that take milliseconds: a request that is unfinished at the end of a round is not
 * counted.
 */
const FEW = 2;

interface Targets {
  readonly http: Loaded;
  readonly apache: DocumentTarget;
  readonly stores: OnEachStore<OwnTarget>;
  /** The server for HTTP/2 and TLS. */
  readonly others: OwnTarget;
  readonly workers: OwnTarget;
}

async function start(stack: AsyncDisposableStack): Promise<Targets> {
  const { path: folder } = stack.use(await temporaryFolder());
  return {
    http: await startBareHttp(stack, SMALL.content, folder),
    apache: await startApacheTarget(stack),
    stores: await onEachStore(stack, (store) => startOwnTarget(stack, 'ours', {}, store)),
    others: await startOwnTarget(stack, 'ours'),
    workers: await startOwnTarget(stack, 'ours', {}, { workers: 2 }),
  };
}

const on = (target: DocumentTarget, task: Task) => onWrk(performing(target, task));

const onEach = ({ stores }: Targets, task: Task) => ofEachStore(stores, (one) => on(one, task));

const writing = async (targets: Targets, task: Task) => ({
  ...(await onEach(targets, task)),
  '2 workers': on(targets.workers, task),
});

async function everyWay(targets: Targets, task: Task): Promise<Loads['ways']> {
  const { others } = targets;
  return {
    ...(await onEach(targets, task)),
    'HTTP/2': onHttp2(performing(others, task)),
    TLS: on({ ...others, server: others.servers.resourceTls }, task),
  };
}

/** More documents than our servers keep in memory. */
async function fromDisk(targets: Targets): Promise<Loads> {
  const { apache, stores } = targets;
  const sqlite = stores.SQLite;
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
    loads: async (all) => ({ beside: [all.http], ways: await everyWay(all, reading(SMALL)) }),
  },
  {
    name: 'GET 8 MiB, from memory',
    goals: { [APACHE]: times(1.2) },
    atOnce: FEW,
    loads: async (all) => ({
      beside: [on(all.apache, reading(LARGE))],
      ways: await everyWay(all, reading(LARGE)),
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
    loads: async (all) => ({
      beside: [on(all.apache, replacing(SMALL_PUTS))],
      ways: await writing(all, replacing(SMALL_PUTS)),
    }),
  },
  {
    name: 'GET 1 KiB, a tenth PUT',
    goals: { [WITHOUT_PUT]: times(1.5) },
    loads: async (all) => ({
      beside: [on({ ...all.stores.SQLite, name: WITHOUT_PUT }, reading(SMALL))],
      ways: await writing(all, among(SMALL, SMALL_PUTS)),
    }),
  },
  {
    name: 'PROPFIND of 1,000',
    goals: { [APACHE]: times(1), PostgreSQL: times(2.5), 'PostgreSQL, Redis': times(2.5) },
    atOnce: FEW,
    loads: async (all) => ({ beside: [on(all.apache, LISTING)], ways: await onEach(all, LISTING) }),
  },
  {
    name: 'PROPFIND of 1,000, each with another question',
    atOnce: FEW,
    loads: async (all) => ({
      beside: [on(all.apache, NEW_LISTINGS)],
      ways: await onEach(all, NEW_LISTINGS),
    }),
  },
]);
