import { EventEmitter } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { runPair } from './pair.js';

const READY = `process.send({ ready: true });`;
const STAYS = `setInterval(() => {}, 1000);`;
const ENDS_WHEN_TOLD = `process.on('SIGTERM', () => process.exit(0));`;
const SERVER = `${ENDS_WHEN_TOLD} ${STAYS} ${READY}`;

/** Two real child processes that run the scripts, and what the parent said and decided. */
async function pair(first: string, second: string) {
  const folder = await temporaryFolder();
  const parts = await Promise.all(
    [first, second].map(async (script, index) => {
      const file = join(folder, `${index}.cjs`);
      await writeFile(file, script);
      return { name: `server ${index}`, file };
    }),
  );
  const signals = new EventEmitter();
  const clock = new ManualClock();
  const complaints: string[] = [];
  const { promise: announced, resolve: announce } = Promise.withResolvers<readonly string[]>();
  const code = runPair(parts, {
    env: process.env,
    clock,
    signals,
    announce,
    complain: (line) => complaints.push(line),
  });
  return { signals, clock, complaints, announced, code };
}

test('both ready: the banner is announced once', async () => {
  const lines = `process.send({ ready: true, banner: ['a', 'b'] });`;
  const { signals, announced, code } = await pair(SERVER, `${ENDS_WHEN_TOLD} ${STAYS} ${lines}`);
  expect(await announced).toEqual(['a', 'b']);
  signals.emit('SIGTERM');
  expect(await code).toBe(0);
});

test('a server that cannot start says why, the other one ends, and so does the start', async () => {
  const failing = `process.send({ failed: 'port 3000 is taken: change listen.authz.port' }, () => process.exit(1));`;
  const { complaints, code } = await pair(failing, SERVER);
  expect(await code).toBe(1);
  expect(complaints).toEqual([
    'The server 0 has ended: port 3000 is taken: change listen.authz.port. The other server ends as well.',
  ]);
});

test('a configuration that both refuse is told once, as it is', async () => {
  const refusing = `process.send({ refused: 'The configuration cannot be used' }, () => process.exit(1));`;
  const { complaints, code } = await pair(refusing, refusing);
  expect(await code).toBe(1);
  expect(complaints).toEqual(['The configuration cannot be used']);
});

test.each([
  ['with an error', `throw new Error('boom')`, /server 1 has ended: exit code 1/],
  ['with exit code 0', `process.exit(0)`, /server 1 has ended: exit code 0/],
  ['by a signal', `process.kill(process.pid, 'SIGKILL'); ${STAYS}`, /server 1 has ended: SIGKILL/],
])('a server that dies %s ends the other one', async (_, script, reason) => {
  const { complaints, code } = await pair(SERVER, script);
  expect(await code).toBe(1);
  expect(complaints[0]).toMatch(reason);
});

test('a file that is not there is a server that has ended', async () => {
  const code = runPair([{ name: 'server', file: '/nowhere/main.ts' }], {
    env: process.env,
    clock: new ManualClock(),
    signals: new EventEmitter(),
    announce: () => {},
    complain: () => {},
  });
  expect(await code).toBe(1);
});

test('Ctrl-C lets work in flight finish; the same Ctrl-C passed on by npm does not kill it', async () => {
  const working = `
    process.on('SIGTERM', () => setTimeout(() => process.exit(0), 50)); ${STAYS} ${READY}`;
  const { signals, announced, code } = await pair(working, SERVER);
  await announced;
  signals.emit('SIGINT');
  signals.emit('SIGINT');
  expect(await code).toBe(0);
});

test('a second Ctrl-C kills a server that does not end', async () => {
  const stubborn = `process.on('SIGTERM', () => {}); ${STAYS} ${READY}`;
  const { signals, clock, announced, code } = await pair(stubborn, SERVER);
  await announced;
  signals.emit('SIGINT');
  clock.advance(2);
  signals.emit('SIGINT');
  expect(await code).toBe(1);
});

test('messages of another form are not a server that is ready', async () => {
  const script = `process.send('ready'); process.send({ ready: 'yes' }); process.send(null, () => process.exit(3));`;
  const { complaints, code } = await pair(script, SERVER);
  expect(await code).toBe(1);
  expect(complaints[0]).toMatch(/exit code 3/);
});
