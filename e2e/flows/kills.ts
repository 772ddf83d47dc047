/**
 * Kills servers, PostgreSQL, or Redis beside it during all uses, and reads back all acknowledged writes.
 * Throws AssertionError.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgresStore, startSharedStore } from '#shared/stores/postgres/started.fixture.ts';
import type { PostgresSettings } from '#shared/stores/settings.ts';
import { startPostgres } from '../parts/postgres.ts';
import { noUses, startServers, startUses } from './all-uses.ts';
import type { Tally } from './all-uses.ts';
import type { Flow } from './flow.ts';

interface Killable {
  kill(): Promise<void>;
  start(): Promise<void>;
}

interface Scene {
  readonly store: PostgresSettings;
  readonly parts: AsyncDisposable;
  /** Chooses the next process to kill. */
  victim(flow: Flow): Killable;
}

/** Redis writes with `appendfsync always`, so that it keeps all acknowledged writes. */
const shared = () => startSharedStore({ appendonly: true });

const SCENES = {
  async 'a server'() {
    const parts = await shared();
    const victim = ({ pair }: Flow) => {
      const servers = [...pair.authz, ...pair.resources];
      return servers[randomInt(servers.length)] as Killable;
    };
    return { store: parts.store, parts, victim };
  },
  async 'PostgreSQL alone'() {
    const postgres = await startPostgres();
    return { store: postgresStore([postgres.url]), parts: postgres, victim: () => postgres };
  },
  async 'PostgreSQL beside Redis'() {
    const parts = await shared();
    return { store: parts.store, parts, victim: () => parts.postgres };
  },
  async Redis() {
    const parts = await shared();
    return { store: parts.store, parts, victim: () => parts.redis };
  },
} satisfies Readonly<Record<string, () => Promise<Scene>>>;
export type Killed = keyof typeof SCENES;
export const KILLED = Object.keys(SCENES) as readonly Killed[];

/** Kills between two checks of all acknowledged writes. */
const KILLS = 10;
/** Milliseconds of all uses before a kill, at most. */
const LIFE = 12_000;

/**
 * Repeats `kills` times: kills a process, which starts again with the content of its disk, while all uses
 * go on.
 */
export async function killAmidUses(
  name: Killed,
  kills: number,
  progress: (done: number) => void,
): Promise<Tally> {
  const tally = noUses();
  await using parts = new AsyncDisposableStack();
  const { store, parts: started, victim } = await SCENES[name]();
  parts.use(started);
  const flow = parts.use(await startServers(store));
  for (let done = 0; done < kills;) {
    const uses = await startUses(flow, tally, { mayBreakOff: name === 'a server' });
    const end = Math.min(kills, done + KILLS);
    while (done < end) {
      await sleep(randomInt(LIFE));
      const killed = victim(flow);
      await killed.kill();
      await killed.start();
      await uses.goesOn();
      done += 1;
      progress(done);
    }
    await uses.finish();
  }
  return tally;
}
