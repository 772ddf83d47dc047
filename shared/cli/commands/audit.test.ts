import { copyFileSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { textOf } from '#shared/audit/entry.ts';
import type { AuditEvent } from '#shared/audit/event-kinds.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';

interface Shown {
  readonly seq: number;
  readonly kind: string;
}

const newShell = async () => new TestShell(await newData());

const write = (shell: TestShell, ...events: readonly AuditEvent[]) =>
  withStores(shell, ({ audit }) =>
    audit.append(
      ...events.map((event) =>
        textOf(event, { who: { person: 'admin' }, how: 'page' }, shell.clock.now()),
      ),
    ),
  );

async function list(shell: TestShell, ...args: readonly string[]): Promise<readonly Shown[]> {
  const { code, stdout, stderr } = await inProcess(shell, 'audit', 'list', ...args, '--json');
  if (code !== 0) throw new Error(stderr);
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Shown);
}

const EVENTS: readonly AuditEvent[] = [
  { kind: 'person.added', person: 'alice' },
  { kind: 'client.added', client: 'app' },
  { kind: 'consent.given', person: 'alice', client: 'app' },
];

test('audit list shows the last events as lines, filtered or all', async () => {
  const shell = await newShell();
  await write(shell, ...EVENTS);
  const kinds = async (...args: readonly string[]) =>
    (await list(shell, ...args)).map(({ kind }) => kind);
  expect(await list(shell)).toMatchObject([{ seq: 1 }, { seq: 2 }, { seq: 3 }]);
  expect(await kinds('--limit', '2')).toEqual(['client.added', 'consent.given']);
  expect(await kinds('--after', '1', '--limit', '1')).toEqual(['client.added']);
  expect(await kinds('--person', 'alice')).toEqual(['person.added', 'consent.given']);
  expect(await kinds('--person', 'admin')).toHaveLength(3);
  expect(await kinds('--client', 'app', '--kind', 'consent.given')).toEqual(['consent.given']);
  shell.clock.advance(7200);
  await write(shell, { kind: 'person.disabled', person: 'alice' });
  expect(await kinds('--since', '1h')).toEqual(['person.disabled']);
  expect(await kinds('--until', '1h')).toHaveLength(3);
  const iso = new Date(shell.clock.now() - 60_000).toISOString();
  expect(await kinds('--since', iso, '--person', 'alice')).toEqual(['person.disabled']);
});

test('audit list prints a table', async () => {
  const shell = await newShell();
  await write(shell, ...EVENTS);
  const { stdout } = await inProcess(shell, 'audit', 'list', '--kind', 'consent.given');
  const [heading, row] = stdout.split('\n');
  expect(heading).toMatch(/^SEQ +TIME +KIND +BY +HOW/);
  expect(row).toMatch(/^3 +\S+Z +consent.given +person admin +page +person alice, client app$/);
});

test('audit list finds a person by id first, then by name', async () => {
  const shell = await newShell();
  const { id } = (await json(shell, 'user', 'add', 'alice')) as { id: string };
  // A person whose name looks like another person's id does not hide that person.
  const namesake = (await json(shell, 'user', 'add', id.toLowerCase())) as { id: string };
  const of = async (person: string) =>
    (await list(shell, '--person', person)).map((event) => Object(event) as { person: string });
  expect((await of('Alice')).map(({ person }) => person)).toEqual([id]);
  expect((await of(id)).map(({ person }) => person)).toEqual([id]);
  expect((await of(namesake.id)).map(({ person }) => person)).toEqual([namesake.id]);
  await json(shell, 'user', 'remove', 'alice');
  expect((await of(id)).length).toBeGreaterThan(1);
});

test.each(['list', 'follow'])(
  'audit %s says that no person has a name, and that no event has an id',
  async (name) => {
    const shell = await newShell();
    await json(shell, 'user', 'add', 'alice');
    await json(shell, 'user', 'remove', 'alice');
    for (const person of ['ghost', 'alice', 'mGJqJ8Q0bNbO5N1LMtxZzg', '\u0000']) {
      const { code, stdout, stderr } = await inProcess(shell, 'audit', name, '--person', person);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/there is no person /i);
    }
  },
);

test('audit list says that an event does not exist', async () => {
  const shell = await newShell();
  for (const more of [[], ['--after', '0']]) {
    const args = ['audit', 'list', '--kind', 'person.removed', ...more];
    expect((await inProcess(shell, ...args)).stdout).toBe('There is no such event.\n');
    expect((await inProcess(shell, ...args, '--json')).stdout).toBe('');
  }
});

test('audit list names all kinds if the given kind is unknown', async () => {
  const { stderr } = await inProcess(await newShell(), 'audit', 'list', '--kind', 'nothing');
  expect(stderr).toContain('sign-in.refused, ');
});

test('audit list shows more events than a page of the store', async () => {
  const shell = await newShell();
  for (let n = 0; n < 4; n += 1)
    await write(shell, ...Array.from({ length: 100 }, () => EVENTS).flat());
  const all = await list(shell, '--after', '0', '--limit', '1150');
  expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 1150 }, (_, n) => n + 1));
});

test.each([
  ['--kind', 'nothing'],
  ['--since', 'yesterday'],
  ['--since', '2026-13-45'],
  ['--until', '5 parsecs'],
  ['--limit', '0'],
  ['--after', '-1'],
])('audit list %s %s is wrong usage', async (...args) => {
  const { code, stderr } = await inProcess(await newShell(), 'audit', 'list', ...args);
  expect([code, stderr]).toEqual([2, expect.stringContaining(args[0])]);
});

test('audit follow shows new events, and ends on request', async () => {
  const shell = await newShell();
  await write(shell, ...EVENTS);
  const ends = new AbortController();
  const following = Object.assign(shell, {
    ending: () => ends.signal,
    async wait() {
      if (shell.stdout !== '') ends.abort();
      else await write(shell, { kind: 'person.disabled', person: 'alice' });
    },
  });
  const { code, stdout } = await inProcess(following, 'audit', 'follow', '--json');
  expect(code).toBe(0);
  expect(
    stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Shown),
  ).toMatchObject([{ seq: 4, kind: 'person.disabled' }]);
});

test('audit verify prints a checkpoint, and compares the next checkpoint with it', async () => {
  const shell = await newShell();
  expect(await json(shell, 'audit', 'verify')).toEqual({ rows: 0 });
  await write(shell, ...EVENTS);
  const first = (await json(shell, 'audit', 'verify')) as { checkpoint: string };
  expect(first).toEqual({ rows: 3, checkpoint: expect.stringMatching(/^1\.[\w-]{43}$/) });
  await write(shell, ...EVENTS);
  expect(await json(shell, 'audit', 'verify', '--checkpoint', first.checkpoint)).toMatchObject({
    rows: 6,
  });
  const other = `1.${'A'.repeat(43)}`;
  const wrong = await inProcess(shell, 'audit', 'verify', '--checkpoint', other);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('tampered')]);
  const late = await inProcess(shell, 'audit', 'verify', '--checkpoint', `9${first.checkpoint}`);
  expect([late.code, late.stderr]).toEqual([1, expect.stringContaining('before the checkpoint')]);
  expect((await inProcess(shell, 'audit', 'verify', '--checkpoint', 'x')).code).toBe(2);
});

test('audit verify reports missing events after an older state.db was restored', async () => {
  const shell = await newShell();
  await write(shell, ...EVENTS);
  const state = join(shell.env['COUNTERSIGN_DATA'] ?? '', 'state.db');
  copyFileSync(state, `${state}.older`);
  await write(shell, ...EVENTS);
  renameSync(`${state}.older`, state);
  const verified = await inProcess(shell, 'audit', 'verify');
  expect([verified.code, verified.stderr]).toEqual([
    1,
    expect.stringMatching(/events may be missing before .*--checkpoint \d+\./),
  ]);
});
