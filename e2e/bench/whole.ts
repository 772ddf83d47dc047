import { setTimeout as sleep } from 'node:timers/promises';
import { LOAD_CPU, stayOn } from './cpu.ts';
import { failure, type Line } from './line.ts';
import { type Schedule, WARM_UP } from './measure.ts';
import type { Findings } from './report.ts';
import type { Room } from './work.ts';
import { measureWork } from './work-lines.ts';
import { CACHE } from './works/cache.ts';
import { DOCUMENTS } from './works/documents.ts';
import { GATEWAY } from './works/gateway.ts';
import { GRANTS } from './works/grants.ts';
import { GUARD } from './works/guard.ts';
import { PASSWORDS } from './works/passwords.ts';
import { PROXY } from './works/proxy.ts';
import { SIGN_IN } from './works/sign-in.ts';
import { TOKENS } from './works/tokens.ts';

/** All works of the table, in its order. */
export const ROOMS: readonly Room[] = [
  TOKENS,
  GUARD,
  PASSWORDS,
  DOCUMENTS,
  PROXY,
  GATEWAY,
  CACHE,
  GRANTS,
  SIGN_IN,
];

const SCHEDULE: Schedule = { rounds: 3, seconds: 2, warmUp: { ...WARM_UP, seconds: 7 } };
/** Milliseconds after which a work is abandoned, so that the other works are measured. */
const PATIENCE = 600_000;

const TITLE = 'CPU time of the server, beside peers and goals';
const NOTES = [
  'CPU us: of a request, a tunnel or a MiB; the median of the rounds, and the least and the most. Ratio and goal:',
  'how many times that which stands beside it. The first way of a work has a line beside each of its peers; the other',
  'ways stand beside the first. Store us: CPU time of PostgreSQL and Redis, which is in no other column. p50: with so many',
  'requests at a time ("at once"), and with one. Peak: of the memory that its processes held, in any round. Warmed up',
  'with 20,000 requests, at most 7 seconds; peers that are no programs of Node for a second. All write a log line for',
  'each request, but node:http, oidc-provider, argon2id and the APIs of Guard, which have no log. PostgreSQL has its',
  'data in memory, and Redis writes none.',
];

type Say = (line: string) => void;

export interface Measuring {
  readonly say: Say;
  readonly schedule: Schedule;
  /** Whether the work of this name is measured. */
  isWanted(name: string): boolean;
}

/**
 * Measures every work in every way for one table. A failure gets a line with its reason, and ends nothing
 * else.
 */
export function measureWhole(
  say: Say,
  isWanted: Measuring['isWanted'] = () => true,
): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  return measureRooms(ROOMS, { say, schedule: SCHEDULE, isWanted });
}

export async function measureRooms(
  rooms: readonly Room[],
  measuring: Measuring,
): Promise<Findings> {
  const lines: Line[] = [];
  for (const room of rooms) {
    const wanted = room.names.filter((name) => measuring.isWanted(name));
    if (wanted.length === 0) continue;
    try {
      await measureRoom(room, measuring, lines);
    } catch (error) {
      const missing = wanted.filter((name) => lines.every(({ work }) => work !== name));
      lines.push(...missing.map((work) => failure(work, '', error)));
    }
  }
  const errors = lines.reduce((sum, line) => sum + Number(line['errors']), 0);
  return { tables: [{ title: TITLE, rows: lines }], notes: NOTES, errors };
}

/** Adds a line for each way of each work, once it is measured. */
async function measureRoom(room: Room, measuring: Measuring, lines: Line[]): Promise<void> {
  await using stack = new AsyncDisposableStack();
  for (const work of await room.open(stack)) {
    if (!measuring.isWanted(work.name)) continue;
    measuring.say(`  ${work.name}`);
    try {
      lines.push(...(await inTime(measureWork(work, measuring.schedule))));
    } catch (error) {
      lines.push(failure(work.name, '', error));
    }
  }
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  const late = sleep(PATIENCE, undefined, { ref: false }).then(() => {
    throw new Error(`not within ${PATIENCE / 1000} s`);
  });
  return Promise.race([work, late]);
}
