import { STORES } from './targets/stores.ts';
import { LOAD_CPU, stayOn } from './cpu.ts';
import { overWrk } from './http-load.ts';
import { compare, type Contender } from './measure.ts';
import { replacingDocuments, sending } from './push-accepted.ts';
import { AT_ONCE, AT_ONCE_ELSEWHERE, delivering } from './push-delivered.ts';
import { startPushSite } from './push-site.ts';
import { measureWaiting, SENDERS, WAITERS } from './push-waiting.ts';
import { comparison, type Findings, type Table } from './report.ts';

const CONNECTIONS = 32;
const SCHEDULE = { rounds: 3, seconds: 2, warmUp: { count: 5000, seconds: 10 } };

const NOTES = [
  'All of it is in clear text, as from a proxy that ends TLS. A message has 1 KiB and a Topic, so that it replaces the',
  `one before it. "accepted": wrk, ${CONNECTIONS} connections; the load generator signs each JWT before the run. No limit is off:`,
  'each run has new subscriptions, so many that none of them and no key gets more than its burst.',
  `"delivered": ${AT_ONCE} at a time (to the other process ${AT_ONCE_ELSEWHERE}), each to another user agent, with a JWT that was seen`,
  'before. The ratio is to the first row; the CPU time is that of the process which takes the messages, and of the other',
  'one where user agents wait there. p50 and p99 are milliseconds from the answer 201 to the arrival; less than 0: the',
  'message came before its answer. "paced": messages come at any moment, few at a time. Take the latency to the other',
  'process from these rows: in those before them messages follow its looks at the store. Compare the CPU time of paced',
  'rows with one another only: fewer requests share a commit or a turn of the event loop.',
  `"wait": ${WAITERS} user agents at as many subscriptions, each once. Idle: CPU time in each second while nothing happens.`,
  `"all told s": seconds until a message to each has arrived, sent over ${SENDERS} connections. RSS shrinks late, so that a row`,
  'may have memory of the one before it.',
];

/**
 * Measures the messages per second that a push service accepts and delivers, and the cost of waiting user
 * agents.
 */
export async function measurePush(say: (line: string) => void): Promise<Findings> {
  stayOn(`${LOAD_CPU}`);
  const tables: Table[] = [];
  let errors = 0;
  for (const kind of STORES) {
    await using stack = new AsyncDisposableStack();
    const site = await startPushSite(kind, stack);
    const measure = async (title: string, contenders: readonly Contender[]) => {
      say(`  ${title}`);
      const measured = await compare(contenders, say, SCHEDULE);
      errors += measured.reduce((sum, row) => sum + row.errors, 0);
      tables.push(comparison(title, measured));
    };
    const accepted = [await replacingDocuments(site), ...sending(site)];
    await measure(
      `${kind}: accepted`,
      accepted.map((contender) => overWrk(contender, CONNECTIONS)),
    );
    await measure(`${kind}: delivered`, delivering(site));
    const waiting = await measureWaiting(`${kind}: ${WAITERS} wait`, site, say);
    errors += waiting.errors;
    tables.push(waiting.table);
  }
  return { tables, errors, notes: NOTES };
}
