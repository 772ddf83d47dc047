/**
 * Kills writers during changes that write audit events: the store has both change and event, or neither.
 * Throws AssertionError.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeOpen } from '#shared/audit/close.ts';
import { type Entry, entryOf } from '#shared/audit/entry.ts';
import { macKey } from '#shared/audit/mac.ts';
import { type Checkpoint, verifyLog } from '#shared/audit/verify.ts';
import { systemClock } from '#shared/base/clock.ts';
import { silentLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { everybodyIn, someOutboxMessage } from '#shared/stores/contract/samples.ts';
import { openStores, type StoresSpec } from '#shared/stores/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { startSharedStore } from '#shared/stores/postgres/started.fixture.ts';
import type { StoreKind } from '../flows/flow.ts';
import type { Postgres } from '../parts/postgres.ts';
import { memoryFolder } from '../parts/temporary-folder.ts';

const WRITERS = 2;
/** The kill comes after this many acknowledged changes, within LIFE milliseconds. */
const BEGUN = 40;
const LIFE = 60;
/** The person who signs in repeatedly and whose sessions the writers revoke. */
const SOMEBODY = 'somebody';
/** The prefix of the names of imported people. */
const IMPORTED = 'imported-';

export interface AuditCrashes {
  kills: number;
  acknowledged: number;
  /** Changes stored with their event whose writer was killed before it could report them. */
  silent: number;
  /** The rows of those batches of the log that a writer had closed before the kill. */
  closed: number;
}

interface Writer {
  readonly child: ChildProcess;
  readonly lines: string[];
  /** Resolves when the writer has reported `BEGUN` changes. */
  readonly begun: Promise<void>;
  readonly over: Promise<unknown>;
}

function startWriter(spec: StoresSpec, master: Buffer): Writer {
  const script = join(import.meta.dirname, 'audit-writer.fixture.ts');
  const args = [JSON.stringify(spec), master.toString('base64url'), SOMEBODY, IMPORTED];
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script, ...args],
    { stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const lines: string[] = [];
  const begin = Promise.withResolvers<void>();
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => {
    if (lines.push(line) === BEGUN) begin.resolve();
  });
  const over = Promise.all([once(child, 'close'), once(reader, 'close')]);
  void over.then(() => begin.reject(new Error(`a writer ended after ${lines.length} changes`)));
  return { child, lines, begun: begin.promise, over };
}

/**
 * Repeats `kills` times: during the changes of two writers, kills one writer or PostgreSQL, then the
 * remaining writers.
 */
export async function crashAudit(
  kind: StoreKind,
  kills: number,
  progress: (crashes: AuditCrashes) => void = () => {},
): Promise<AuditCrashes> {
  await using folder = await memoryFolder();
  await using shared = kind === 'postgres' ? await startSharedStore() : undefined;
  const spec: StoresSpec = {
    store: shared?.store ?? { kind: 'sqlite' },
    data: join(folder.path, 'data'),
    revocations: { lease: 0.2 },
    tokens: { skew: 5 },
  };
  const master = randomBytes(32);
  const crashes: AuditCrashes = { kills: 0, acknowledged: 0, silent: 0, closed: 0 };
  const acknowledged: string[] = [];
  let checkpoint: Checkpoint | undefined;
  // One process creates the store, as the first start of a server does.
  await (await open(spec))[Symbol.asyncDispose]();

  for (let kill = 0; kill < kills; kill += 1) {
    acknowledged.push(
      ...(await killed(spec, master, kill % 2 === 0 ? undefined : shared?.postgres)),
    );
    await using stores = await open(spec);
    const [head] = await stores.audit.links(undefined, 1);
    crashes.closed = head?.last ?? 0;
    const key = macKey(master);
    await closeOpen({ audit: stores.audit, key, clock: systemClock });
    const verified = await verifyLog(stores.audit, key, checkpoint);
    assert.ok(verified.ok, `kill ${kill}: ${JSON.stringify(verified)}`);
    checkpoint = verified.checkpoint;
    const made = await assertTogether(stores, verified.rows);
    for (const [change, count] of counted(acknowledged)) {
      assert.ok((made.get(change) ?? 0) >= count, `${change} was acknowledged, and is lost`);
    }
    crashes.acknowledged = acknowledged.length;
    crashes.silent = [...made.values()].reduce((sum, one) => sum + one, 0) - acknowledged.length;
    crashes.kills += 1;
    progress(crashes);
  }
  return crashes;
}

const open = (spec: StoresSpec) =>
  openStores(spec, {
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
  });

/**
 * Returns the changes that writers acknowledged before they were killed. Kills `postgres` first, if it is
 * given.
 */
async function killed(spec: StoresSpec, master: Buffer, postgres?: Postgres): Promise<string[]> {
  const writers = Array.from({ length: WRITERS }, () => startWriter(spec, master));
  try {
    await Promise.all(writers.map(({ begun }) => begun));
    await sleep(randomInt(LIFE));
    await postgres?.kill();
  } finally {
    for (const { child } of writers) {
      child.kill('SIGKILL');
      await sleep(randomInt(LIFE));
    }
  }
  await Promise.all(writers.map(({ over }) => over));
  await postgres?.start();
  return writers.flatMap(({ lines }) => lines);
}

/**
 * Checks that each change has its event and each event its change. Returns how often each change was made.
 */
async function assertTogether(stores: Stores, rows: number): Promise<Map<string, number>> {
  const texts = await stores.audit.rows({ first: 1, last: rows }, rows);
  const entries = texts.map(({ text }) => entryOf(text));
  const events = counted(entries.map(changeOf));
  const ids = (kind: Entry['kind']) =>
    [...events.keys()].flatMap((change) =>
      change.startsWith(`${kind} `) ? [change.slice(kind.length + 1)] : [],
    );

  const removed = new Set(ids('client.removed'));
  const clients = (await stores.clients.list()).map(({ client_id }) => client_id);
  assertSame(
    clients,
    ids('client.added').filter((id) => !removed.has(id)),
    'client.added',
  );

  const people = await everybodyIn(stores);
  const idsOf = (some: typeof people) => some.map(({ id }) => id);
  const disabled = idsOf(people.filter((person) => person.disabled));
  assertSame(idsOf(people), ids('person.added'), 'person.added');
  assertSame(disabled, ids('person.disabled'), 'person.disabled');
  assertSame(disabled, ids('person.changed'), 'person.changed');

  const imports = {
    1: people.filter(({ name }) => name.startsWith(IMPORTED)).length,
    0: (await stores.apiKeys.list()).length,
  };
  for (const [count, changes] of Object.entries(imports)) {
    const told = events.get(`directory.imported ${count}`) ?? 0;
    assert.equal(changes, told, `imports of ${count} people differ from events`);
  }

  const generation = await stores.revocations.generation('person', SOMEBODY);
  assert.equal(generation, events.get(`person.ended ${SOMEBODY}`) ?? 0, 'ends differ from events');

  const signIns = await stores.artefacts.listByAccount('SignIn', SOMEBODY);
  assertSame(
    signIns.map(({ id }) => String(id)),
    ids('sign-in'),
    'sign-in',
  );

  const { created_at: now } = someOutboxMessage('');
  // The clock of this process may be a moment behind the clock of the store.
  const waiting = await stores.outbox.take(now + 1000, now, rows);
  assertSame(
    waiting.map(({ id }) => id),
    ids('link.made'),
    'link.made',
  );

  for (const [change, count] of events) {
    if (!AGAIN.test(change)) assert.equal(count, 1, `${change} ${count} times`);
  }
  return new Map([...events].filter(([change]) => !change.startsWith('person.changed')));
}

/** Changes that the writers make more than once. */
const AGAIN = /^(?:person\.ended|directory\.imported) /;

function assertSame(there: readonly string[], told: readonly string[], kind: Entry['kind']): void {
  const alone = new Set(there).symmetricDifference(new Set(told));
  assert.deepEqual([...alone], [], `what is there differs from the events ${kind}`);
}

function changeOf(entry: Entry): string {
  const { client, count, id, person } = entry as Partial<
    Record<'client' | 'count' | 'id' | 'person', string>
  >;
  return `${entry.kind} ${id ?? client ?? person ?? count}`;
}

function counted(changes: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const change of changes) counts.set(change, (counts.get(change) ?? 0) + 1);
  return counts;
}
