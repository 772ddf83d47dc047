import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { until } from '../../e2e/parts/process.ts';
import { Playground } from './playground.js';
import type { LogLine } from './workers.js';

/** Writes its folder down, as one line for each process. */
const NOTES = `require('node:fs').appendFileSync(process.env.NOTES, process.argv.slice(2).join(' ') + '\\n');`;
const READY = `process.send({ ready: true, port: process.pid });`;
const STAYS = `process.on('disconnect', () => process.exit(0)); setInterval(() => {}, 1000);`;
const GOOD = `${NOTES} ${STAYS} ${READY}`;

/** A playground whose process is a real one that runs the script. */
async function playground(script: string, idle?: number) {
  const folder = await temporaryFolder();
  const [file, notes] = [join(folder, 'main.cjs'), join(folder, 'notes')];
  await writeFile(file, script);
  await writeFile(notes, '');
  const clock = new ManualClock();
  const logged: LogLine[] = [];
  const made = new Playground(
    { file, authz: 'authz.js' },
    {
      env: { NOTES: notes },
      execArgv: [],
      clock,
      log: (line) => logged.push(line),
    },
    idle,
  );
  const starts = async () => (await readFile(notes, 'utf8')).trim().split('\n').filter(Boolean);
  return { made, clock, logged, starts };
}

const runs = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('questions at once start one process, which gets its folder and the file of the authorization server', async () => {
  const { made, starts } = await playground(GOOD);
  expect(await starts()).toEqual([]);
  const ports = await Promise.all(Array.from({ length: 10 }, () => made.port()));
  expect(new Set(ports).size).toBe(1);
  const [start = ''] = await starts();
  const [folder = '', authz] = start.split(' ');
  expect([existsSync(folder), authz]).toEqual([true, 'authz.js']);
  await made.end();
  expect([existsSync(folder), runs(ports[0] ?? 0)]).toEqual([false, false]);
  expect(await made.port()).toBeUndefined();
  expect(await starts()).toHaveLength(1);
});

test('a question just before the end starts nothing that outlives it', async () => {
  const { made, starts } = await playground(GOOD);
  const port = made.port();
  await made.end();
  expect([await port, await starts()]).toEqual([undefined, []]);
});

test('it ends when no question comes for a while, and the next one starts another', async () => {
  const { made, starts, logged } = await playground(GOOD, 20);
  const first = await made.port();
  await until(async () => !runs(first ?? 0));
  const second = await made.port();
  expect(second).not.toBe(first);
  expect(await starts()).toHaveLength(2);
  await made.end();
  expect(logged).toEqual([]);
});

test.each([
  [
    'says why',
    `process.send({ failed: 'the disk is full' }, () => process.exit(1));`,
    'the disk is full',
  ],
  ['ends', `process.exit(1)`, 'exit code 1'],
  ['is killed', `process.kill(process.pid, 'SIGKILL')`, 'SIGKILL'],
])(
  'a process that %s before it listens is logged, and is not started again at once',
  async (_, script, reason) => {
    const { made, clock, starts, logged } = await playground(`${NOTES} ${script}`);
    expect(await made.port()).toBeUndefined();
    expect(logged).toEqual([
      { level: 'error', server: 'playground', event: 'playground.ended', reason },
    ]);
    expect([await made.port(), (await starts()).length]).toEqual([undefined, 1]);
    clock.advance(5);
    expect([await made.port(), (await starts()).length]).toEqual([undefined, 2]);
    await made.end();
  },
);
