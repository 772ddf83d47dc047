import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPair } from '../pair/pair.ts';
import type { Findings, Table } from './report.ts';
import { percentile, round } from './statistics.ts';
import { UNLIMITED } from './targets/countersign.ts';

const ROWS = 1_000_000;
/** Rows of one transaction while the table is filled. */
const FILLED = 50_000;
/** Milliseconds after which an answer counts as held up. */
const STALL = 50;
/** Seconds; the first sweep begins a minute after the start. */
const QUIET = 50;
/** Seconds after which the rows count as left. */
const PATIENCE = 600;

const TITLE = `Sweep: ${ROWS} expired rows, while both servers answer`;
const NOTES = [
  'A pair finds them in transient.db when it starts, and sweeps from a minute later on ("during"). Requests',
  'go one after another to each of the two servers; those to the authorization server write to that file.',
  `Over ${STALL} ms: answers that took longer; on a busy machine there are some while nothing is swept.`,
];

const FILL = `
  WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${FILLED})
  INSERT INTO replay SELECT randomblob(32), ?1 - n FROM n`;

/** How long the sweep of a day's rows takes on SQLite, and what requests notice of it. */
export async function measureSweep(say: (line: string) => void): Promise<Findings> {
  await using pair = await startPair({ settings: UNLIMITED });
  const client = await pair.addClient();
  const servers = [...pair.authz, ...pair.resources];
  await Promise.all(servers.map((server) => server.kill('SIGTERM')));
  using database = new DatabaseSync(join(pair.data, 'transient.db'));
  for (let filled = 0; filled < ROWS; filled += FILLED) database.prepare(FILL).run(Date.now());
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  await Promise.all(servers.map((server) => server.start()));
  const walBytes = () => statSync(join(pair.data, 'transient.db-wal')).size;
  /** The oldest goes first: the last one is there until all are gone. */
  const last = database.prepare('SELECT key FROM replay ORDER BY expires DESC LIMIT 1').get();
  const left = database.prepare('SELECT 1 FROM replay WHERE key = ?');

  let errors = 0;
  /** Milliseconds of each answer of both servers until `over`. */
  const watch = async (over: () => boolean) => {
    const took: number[] = [];
    const token = await pair.token(client);
    const asks = [
      () =>
        pair
          .post('/token', { grant_type: 'client_credentials' }, client)
          .then(({ status }) => status),
      () => pair.get(token),
    ];
    await Promise.all(
      asks.map(async (ask) => {
        while (!over()) {
          const began = performance.now();
          if ((await ask()) !== 200) errors += 1;
          took.push(performance.now() - began);
          await sleep(2);
        }
      }),
    );
    return took;
  };
  const row = (name: string, took: readonly number[], seconds: number) => ({
    '': name,
    seconds: round(seconds, 1),
    answers: took.length,
    'p50 ms': round(percentile(took, 0.5), 1),
    'p99 ms': round(percentile(took, 0.99), 1),
    'most ms': round(Math.max(...took), 1),
    [`over ${STALL} ms`]: took.filter((one) => one > STALL).length,
  });
  const rows: Table['rows'][number][] = [];
  const began = performance.now();
  let gone = false;
  let wal = 0;
  const looking = (async () => {
    while (!gone && performance.now() < began + PATIENCE * 1000) {
      await sleep(1000);
      wal = Math.max(wal, walBytes());
      gone = left.get(last?.['key'] ?? '') === undefined;
    }
    return (performance.now() - began) / 1000;
  })();
  const before = await watch(() => performance.now() > began + QUIET * 1000);
  rows.push(row('before', before, QUIET));
  const during = await watch(() => gone || performance.now() > began + PATIENCE * 1000);
  rows.push(row('during', during, (await looking) - QUIET));
  say(`  the log of transient.db had ${Math.round(wal / 1024 ** 2)} MiB at most`);
  const end = performance.now() + QUIET * 1000;
  rows.push(row('after', await watch(() => performance.now() > end), QUIET));
  if (!gone) errors += ROWS;
  return { tables: [{ title: TITLE, rows }], notes: NOTES, errors };
}
