import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { keepTokenKeys, listTokenKeys } from '#shared/keys/token-key-lifecycle.ts';
import { inProcess, json, newData, TestShell, unusedData } from '../cli.fixture.ts';
import { withStores } from '../stores/with-stores.ts';
import { withTokenKeys } from '../stores/with-token-keys.fixture.ts';

const WITH_TIMES = { privateTokens: { rotation: 1000, overlap: 500, maxAge: 100 } };

async function shellOf(settings: object = WITH_TIMES, data = newData) {
  const folder = await temporaryFolder();
  const file = join(folder, 'countersign.json');
  await writeFile(file, JSON.stringify(settings));
  return new TestShell({ COUNTERSIGN_CONFIG: file, ...(await data()) });
}

/** Runs the periodic work of the key ring. */
const keep = (shell: TestShell) =>
  withTokenKeys(shell, async (life) => keepTokenKeys(life, await listTokenKeys(life)));

interface Listed {
  readonly type: string;
  readonly state: string;
  readonly not_before: string;
  readonly until?: string;
}

const list = async (shell: TestShell) => (await json(shell, 'private-token', 'keys')) as Listed[];

test('shows each key with its state, which depends on the clock', async () => {
  const shell = await shellOf();
  await keep(shell);
  const begin = shell.clock.now();
  const at = (seconds: number) => new Date(begin + seconds * 1000).toISOString();
  const states = async () =>
    (await list(shell))
      .filter(({ type }) => type === 'voprf-p384')
      .map(({ state, not_before: from, until }) => [state, from, until]);
  expect((await list(shell)).map(({ type }) => type).toSorted()).toEqual([
    'blind-rsa-2048',
    'voprf-p384',
  ]);
  expect(await states()).toEqual([['issuing', at(0), at(1500)]]);

  await json(shell, 'private-token', 'rotate', '--type', 'voprf-p384');
  expect(await states()).toEqual([
    ['issuing', at(0), at(600)],
    ['published', at(100), at(1600)],
  ]);
  shell.clock.advance(100);
  expect(await states()).toEqual([
    ['retiring', at(0), at(600)],
    ['issuing', at(100), at(1600)],
  ]);
  shell.clock.advance(500);
  expect(await states()).toEqual([
    ['retired', at(0), undefined],
    ['issuing', at(100), at(1600)],
  ]);
});

test('prints only the number of retired keys, except with --json', async () => {
  const shell = await shellOf();
  await keep(shell);
  await json(shell, 'private-token', 'rotate', '--type', 'voprf-p384');
  const shown = async () => {
    const { stdout } = await inProcess(shell, 'private-token', 'keys');
    const [headings, ...lines] = stdout.trimEnd().split('\n');
    expect(headings).toMatch(/^ID +TYPE +STATE +UNTIL$/);
    return lines;
  };
  expect((await shown()).map((line) => line.slice(line.indexOf('  ') + 2))).toEqual([
    expect.stringMatching(/^voprf-p384 {6}issues, good until {6}\d{4}-\S+Z$/),
    expect.stringMatching(/^blind-rsa-2048 {2}issues, good until {6}\d{4}-\S+Z$/),
    expect.stringMatching(/^voprf-p384 {6}published, issues from {2}\d{4}-\S+Z$/),
  ]);
  shell.clock.advance(600);
  expect(await shown()).toEqual([
    expect.stringMatching(/blind-rsa-2048 +issues/),
    expect.stringMatching(/voprf-p384 +issues/),
    'Retired: 1',
  ]);
});

test('shows no private key', async () => {
  const shell = await shellOf();
  await keep(shell);
  const sealed = await withStores(shell, async ({ tokenKeys }) =>
    (await tokenKeys.list()).map((key) => key.sealed ?? ''),
  );
  const { stdout } = await inProcess(shell, 'private-token', 'keys', '--json');
  expect(sealed).toHaveLength(2);
  for (const one of sealed) expect(stdout).not.toContain(one);
  expect(stdout).not.toContain('sealed');
});

test('says that there are no keys yet', async () => {
  const unused = await shellOf(WITH_TIMES, unusedData);
  expect(await inProcess(unused, 'private-token', 'keys')).toMatchObject({
    code: 1,
    stderr: 'the store has no epoch: no authorization server has used it yet\n',
  });
  expect(await inProcess(await shellOf(), 'private-token', 'keys')).toMatchObject({
    code: 0,
    stdout: 'There is no key yet.\n',
  });
});

test('if this pair issues no tokens: exit code 1', async () => {
  const space = { url: 'http://localhost:3001/a/', realm: 'a', schemes: ['Bearer'] };
  const shell = await shellOf({ spaces: [space] });
  expect(await inProcess(shell, 'private-token', 'keys')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('add privateTokens'),
  });
});
