import {
  byOurs,
  byPeer,
  hit,
  MISS,
  QUERY_HIT,
  SMALL_BY_POOL,
  VALIDATION,
} from './cache-contenders.ts';
import { type CacheTargets, type PeerName, startCacheTargets } from './cache-targets.ts';
import { LOAD_CPU, stayOn } from './cpu.ts';
import { WARM_UP } from './measure.ts';
import type { Findings } from './report.ts';
import { compareAll, type Comparison } from './suite.ts';

const CONNECTIONS = 32;
const SCHEDULE = { rounds: 3, seconds: 2, warmUp: { ...WARM_UP, seconds: 6 } };

const NOTES = [
  `${CONNECTIONS} connections of wrk. Behind all of them nginx sends files from memory; it shares the CPU of the load`,
  'generator. All write a line for each request: what varnishncsa spends on Varnish’s is counted ("no log file": without',
  'it). nginx keeps answers in files alone, HAProxy in memory alone; neither validates what may not be used once. None of',
  'them keeps the answer to a QUERY: the first of that table is our own hit by GET; both by undici, since wrk sends no',
  'QUERY. Ours keeps answers of up to 64 KiB in memory, also where it has a disk. Peak: with the octets of the answers.',
];

const IN_MEMORY: readonly PeerName[] = [
  'Varnish',
  'Varnish, no log file',
  'Squid',
  'Apache, socache',
  'HAProxy',
];
const ON_DISK: readonly PeerName[] = ['Varnish, file', 'Squid, ufs', 'Apache, disk', 'nginx'];
const VALIDATE: readonly PeerName[] = ['Varnish, validating', 'Squid', 'Apache, disk'];

/** Hits, misses and validation by the gateway's cache, beside those that Debian has. */
export async function measureCache(
  say: (line: string) => void,
  isWanted: (title: string) => boolean,
): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  await using stack = new AsyncDisposableStack();
  const targets = await startCacheTargets(stack);
  const wanted = comparisons(targets).filter(({ title }) => isWanted(title));
  return { ...(await compareAll(wanted, say, SCHEDULE)), notes: NOTES };
}

function comparisons(on: CacheTargets): readonly Comparison[] {
  const peers = (names: readonly PeerName[], asking = MISS) =>
    names.map((name) => byPeer(on, name, asking));
  const [small, medium] = [hit('small'), hit('medium')];
  const inMemory = (asking: typeof small) => [
    ...peers(IN_MEMORY, asking),
    byOurs(on, 'open', asking),
    byOurs(on, 'guarded', asking),
  ];
  const onDisk = (asking: typeof small) => [...peers(ON_DISK, asking), byOurs(on, 'disk', asking)];
  const loads = {
    'Cache: hit, 1 KiB in memory': inMemory(small),
    'Cache: hit, 100 KiB in memory': inMemory(medium),
    'Cache: hit, 1 KiB on disk': onDisk(small),
    'Cache: hit, 100 KiB on disk': onDisk(medium),
    'Cache: QUERY hit, 1 KiB in memory': [
      byOurs(on, 'open', SMALL_BY_POOL),
      byOurs(on, 'open', QUERY_HIT),
      byOurs(on, 'guarded', QUERY_HIT),
    ],
    'Cache: miss, 1 KiB': [
      ...peers([...IN_MEMORY, 'nginx'], MISS),
      byOurs(on, 'open', MISS),
      byOurs(on, 'guarded', MISS),
      byOurs(on, 'disk', MISS),
    ],
    'Cache: validation, 1 KiB': [
      ...peers(VALIDATE, VALIDATION),
      byOurs(on, 'open', VALIDATION),
      byOurs(on, 'guarded', VALIDATION),
    ],
  };
  return Object.entries(loads).map(([title, contenders]) => ({
    title,
    contenders: contenders.map((load) => load(CONNECTIONS)),
  }));
}
