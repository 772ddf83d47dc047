/** @slow */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Stores } from '../../stores.ts';
import { someOutboxMessage, someSecondFactor } from '../../contract/samples.ts';
import { keptContent } from '../trees/kept-content.fixture.ts';
import { sqliteUnderTest, type SqliteUnderTest } from '../under-test.ts';

let store: SqliteUnderTest;
beforeEach(async () => {
  store = await sqliteUnderTest();
});
afterEach(() => store.end());

type Line = readonly [verb: string, id: string, result: unknown];

/** Lets writer.fixture.ts write, under a limit of the size of a file, and returns what it acknowledged. */
async function written({
  run,
  killAfter,
  blocks = 'unlimited',
}: {
  readonly run: string;
  readonly killAfter?: number;
  readonly blocks?: string;
}): Promise<Line[]> {
  const child = spawn(
    'sh',
    [
      '-c',
      `ulimit -f ${blocks}; exec "$@"`,
      'sh',
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      join(import.meta.dirname, 'writer.fixture.ts'),
      store.spec().data,
      run,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exit = once(child, 'exit');
  const lines: Line[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    lines.push(JSON.parse(line) as Line);
    if (lines.length === killAfter) child.kill('SIGKILL');
  }
  await exit;
  return lines;
}

async function expectAll(stores: Stores, lines: readonly Line[]): Promise<void> {
  await stores.revocations.epoch(true);
  await using feed = await stores.revocations.feed();
  const epoch = feed.status().epoch ?? '';
  const invalidations = await stores.invalidations.list('target', 100_000);
  const invalidated = invalidations.map(({ value }) => value);
  let raised = 0;
  const there: Readonly<Record<string, (id: string, result: unknown) => Promise<unknown>>> = {
    raise: async (_, result) => (raised = Math.max(raised, Number(result))),
    revoke: async (jti) =>
      expect(
        feed.current().revokedBy({ jti, kid: '', sub: '', client_id: '', client_gen: 0, epoch }),
      ).toBe('token'),
    put: async (id) => {
      const token = await stores.artefacts.get('RefreshToken', id);
      const successor = await stores.artefacts.get('RefreshToken', `after ${id}`);
      expect(token).toMatchObject({ id });
      expect(successor !== undefined).toBe(token?.['consumed'] !== undefined);
    },
    consume: async (id) => expect(await stores.artefacts.consume('RefreshToken', id)).toBe('again'),
    replace: async (id) =>
      expect(await stores.artefacts.get('DeviceCode', id)).toEqual({ id, approved: true }),
    person: async (id) => {
      const person = await stores.people.getByName(id);
      expect(person).toMatchObject({ id });
      for (const alias of ['kept', 'left', 'got'].map((what) => `${what} ${id}`)) {
        const its = person?.aliases?.includes(alias) === true;
        expect(await stores.people.getByAlias(alias)).toEqual(its ? person : undefined);
      }
    },
    disable: async (id) => expect(await stores.people.get(id)).toMatchObject({ disabled: true }),
    apiKey: async (id) => expect(await stores.apiKeys.get(id)).toMatchObject({ id }),
    expire: async (id) =>
      expect(await stores.apiKeys.get(id)).toMatchObject({ expires_at: expect.any(Number) }),
    publicKey: async (id) => {
      const key = await stores.publicKeys.get(id);
      expect(key).toMatchObject({ id });
      expect(await stores.publicKeys.of({ kind: 'person', id: `owner of ${id}` })).toEqual([key]);
    },
    passkey: async (id) => {
      const passkey = await stores.passkeys.get(id);
      expect(passkey).toMatchObject({ id });
      expect(await stores.passkeys.of(`owner of ${id}`)).toEqual([passkey]);
    },
    mail: async (id) => expect(await stores.outbox.add(someOutboxMessage(id))).toBe(false),
    secondFactor: async (id) =>
      expect(await stores.secondFactors.get(id)).toEqual(someSecondFactor(id)),
    spend: async (id, result) => {
      expect(result).toBe(true);
      const until = store.clock.now() + 60_000;
      expect(await stores.spentTokens.spend(Buffer.from(id), until)).toBe(false);
    },
    invalidate: async (value) => expect(invalidated).toContain(value),
    client: async (id) => expect(await stores.clients.get(id)).toMatchObject({ client_id: id }),
    document: async (id) => {
      const entry = await stores.trees.get('a', id);
      const content = await stores.trees.content('a', entry?.kind === 'document' ? entry.file : '');
      expect(content?.toString()).toBe(id.repeat(200));
    },
  };
  for (const [verb, id, result] of lines) await there[verb]?.(id, result);
  const documents = await stores.trees.below('a', '', 100_000);
  const lengths = new Map<string, number>();
  for (const entry of documents) {
    if (entry.kind === 'document') lengths.set(entry.file, entry.length);
  }
  expect(keptContent(store.spec().data, 'a')).toEqual(lengths);

  const generation = await stores.revocations.generation('person', 'alice');
  expect(generation).toBeGreaterThanOrEqual(raised);
  const alice = { jti: '', kid: '', sub: 'alice', client_id: '', client_gen: 0, epoch };
  expect(feed.current().revokedBy({ ...alice, sub_gen: generation - 1 })).toBe('person');
  expect(feed.current().revokedBy({ ...alice, sub_gen: generation })).toBeUndefined();
}

test('after SIGKILL during writes every acknowledged write is there, and no incomplete write', async () => {
  const all: Line[] = [];
  for (let round = 0; round < 5; round++) {
    const killAfter = 100 + Math.floor(Math.random() * 300);
    const lines = await written({ run: `run${round}`, killAfter });
    expect(lines.length).toBeGreaterThanOrEqual(killAfter);
    all.push(...lines);
    await using stores = await store.open();
    await expectAll(stores, all);
  }
});

test.each([
  ['c0', 'the first'],
  ['c4', 'the last'],
])(
  'after SIGKILL between SAVEPOINT and COMMIT, at %s, %s of a group, the earlier groups are there, and no write of this group',
  async (ends) => {
    await using stores = await store.open();
    const { stdout, signal } = spawnSync(
      process.execPath,
      [
        '--disable-warning=ExperimentalWarning',
        join(import.meta.dirname, 'killed-in-group.fixture.ts'),
        store.spec().data,
        ends,
      ],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
    );
    expect(signal).toBe('SIGKILL');
    const acknowledged = ['a', 'b'].flatMap((group) => [0, 1, 2, 3, 4].map((n) => `${group}${n}`));
    expect(stdout).toBe(acknowledged.map((id) => `${id}\n`).join(''));
    expect((await stores.keys.list()).length).toBe(acknowledged.length);
    using database = new DatabaseSync(store.statePath);
    expect(database.prepare('SELECT id FROM revocation ORDER BY id').all()).toEqual(
      acknowledged.map((id) => ({ id })),
    );
    expect([...keptContent(store.spec().data, 'tree').keys()].toSorted()).toEqual(acknowledged);
  },
);

test('a full disk is StoreUnavailable, never a refusal of a token; acknowledged rows are there', async () => {
  const lines = await written({ run: 'full', blocks: '1000' });
  // Writes that ran at the same time may be acknowledged after the failed write.
  const end = lines.findIndex(([verb]) => verb === 'unavailable' || verb === 'another error');
  const [outcome, reason] = lines.splice(end, 1)[0] ?? [];
  expect(outcome).toBe('unavailable');
  expect(reason).toMatch(/full|disk I\/O/);
  expect(lines.length).toBeGreaterThan(10);
  await using stores = await store.open();
  await expectAll(stores, lines);
});

/** Runs a fixture with the folder on a small disk of its own; resolves to the lines that it prints. */
async function linesOnSmallDisk(fixture: string, megabytes: number): Promise<string[]> {
  const child = spawn(
    'unshare',
    [
      '--map-root-user',
      '--mount',
      'sh',
      '-c',
      'mkdir -p "$3" && mount -t tmpfs -o size="$0" tmpfs "$3" && exec "$@"',
      `${megabytes}m`,
      process.execPath,
      join(import.meta.dirname, fixture),
      store.spec().data,
    ],
    // Folders of the system for temporary files are often on the same disk.
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, SQLITE_TMPDIR: store.spec().data },
    },
  );
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) lines.push(line);
  return lines;
}

test('on a full disk several processes still write into the reserved room, even if another program takes all free space', async () => {
  expect(await linesOnSmallDisk('room-for-all.fixture.ts', 24)).toEqual([]);
});

test('a store is made on a disk with 800 KiB; its reserved room leaves enough to work, and no new page stays in the WAL', async () => {
  const lines = await linesOnSmallDisk('nearly-full.fixture.ts', 64);
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
    [800, [true, false]],
    ...[2000, 4000, 6000, 9000, 14_000].map((kibibytes) => [kibibytes, [true, true]]),
    ['grown', true, 0],
  ]);
});

test('RFC 9110 section 9.3.5: on a full disk revocations, removals and sign-ins work, even if other programs take all free space', async () => {
  const lines = await linesOnSmallDisk('full-disk.fixture.ts', 48);
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual([
    ['put', 'refused'],
    // In one transaction.
    ['both', 'refused', 'done', 'refused'],
    ...[
      'revoke',
      'raise',
      'follow',
      'settle',
      'unfollow',
      'disable',
      'expire',
      'signOut',
      'remove grant',
      'remove key',
      'remove client',
      'remove person',
    ].map((what) => [what, true]),
    ['add', 'refused'],
    ['revocations', 1000],
    ...Array.from({ length: 199 }, () => ['remove', 'done']),
    ['put', 'refused'],
    // Another process knows that the room has moved.
    ['some room', 'refused', 'refused'],
    ['proofs', 1000],
    ['too many', true],
    ['swept', true, 0],
    ['proofs', 1000],
    ['room', 'done'],
    ['remove', 'done'],
    ['log', 'store.failing: state.db, writing', 'store.working: state.db, writing'],
    ['room', 'done'],
    ['start', true, 'done'],
  ]);
});
