/** @slow */
import { execFileSync } from 'node:child_process';
import cluster, { type Worker } from 'node:cluster';
import { EventEmitter, once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { temporaryFolder } from '#shared/base/temporary.fixture.ts';
import { until } from '../../e2e/parts/process.ts';
import { NODE_FLAGS } from './options.js';
import { runServers } from './servers.js';
import type { LogLine } from './workers.js';

const READY = `process.send({ ready: true });`;
const STAYS = `setInterval(() => {}, 1000);`;
const ENDS_WHEN_TOLD = `process.on('SIGTERM', () => process.exit(0));`;
const SERVER = `${ENDS_WHEN_TOLD} ${STAYS} ${READY}`;

/** Servers as real child processes that run the scripts, and what the parent said and decided. */
async function servers(scripts: readonly string[], workers?: number, terminal = false) {
  const folder = await temporaryFolder();
  const parts = await Promise.all(
    scripts.map(async (script, index) => {
      const file = join(folder, `${index}.cjs`);
      await writeFile(file, script);
      return { name: `server ${index}`, log: `s${index}`, file };
    }),
  );
  const signals = new EventEmitter();
  const clock = new ManualClock();
  const complaints: string[] = [];
  const { promise: announced, resolve: announce } = Promise.withResolvers<readonly string[]>();
  const code = runServers(parts, workers, {
    env: { FOLDER: folder, COUNTERSIGN_TERMINAL: '1' },
    execArgv: [],
    clock,
    signals,
    announce,
    complain: (line) => complaints.push(line),
    terminal,
    log: (line) => signals.emit('logged', line),
  });
  return { folder, signals, clock, complaints, announced, code };
}

const pair = (first: string, second: string) => servers([first, second]);

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
    'The server 0 has not started: port 3000 is taken: change listen.authz.port. This command leaves nothing running.',
  ]);
});

test('a configuration that both refuse is told once, as it is', async () => {
  const refusing = `process.send({ refused: 'The configuration cannot be used' }, () => process.exit(1));`;
  const { complaints, code } = await pair(refusing, refusing);
  expect(await code).toBe(1);
  expect(complaints).toEqual(['The configuration cannot be used']);
});

test.each([
  ['with an error', `throw new Error('boom')`, /server 1 has not started: exit code 1/],
  ['with exit code 0', `process.exit(0)`, /server 1 has not started: exit code 0/],
  [
    'by a signal',
    `process.kill(process.pid, 'SIGKILL'); ${STAYS}`,
    /server 1 has not started: SIGKILL/,
  ],
])('a server that dies %s before it listens ends the other one', async (_, script, reason) => {
  const { complaints, code } = await pair(SERVER, script);
  expect(await code).toBe(1);
  expect(complaints[0]).toMatch(reason);
});

test('a file that is not there is a server that has not started', async () => {
  const parts = [{ name: 'server', log: 'server', file: '/nowhere/main.ts' }];
  const code = runServers(parts, 1, {
    env: {},
    execArgv: [],
    clock: new ManualClock(),
    signals: new EventEmitter(),
    announce: () => {},
    complain: () => {},
    terminal: false,
    log: () => {},
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

/** The next line of the log. */
const logged = async (signals: EventEmitter) => (await once(signals, 'logged'))[0] as LogLine;

/** The worker that has ended, and what is said of it. */
async function ended(signals: EventEmitter) {
  const { worker, reason = '' } = await logged(signals);
  const [, why = '', pause] = /ended: (.*); it is started again in (\d+) ms/.exec(reason) ?? [];
  return { worker, why, pause: Number(pause) };
}

test('a worker that dies is started again: at once if it lived for long, else after a pause that doubles', async () => {
  const dies = `${READY} process.on('message', () => process.exit(3)); process.send({ take: 1, shares: [] });`;
  const { signals, clock, code } = await servers([dies], 1);
  const pauses: unknown[] = [];
  for (let death = 0; death < 3; death += 1) pauses.push(await ended(signals));
  clock.now = () => performance.now() * 1_000_000;
  for (let death = 0; death < 2; death += 1) pauses.push(await ended(signals));
  const why = 'exit code 3';
  expect(pauses).toEqual([100, 200, 400, 0, 0].map((pause) => ({ worker: 1, why, pause })));
  signals.emit('SIGTERM');
  expect(await code).toBe(0);
});

test('only the first life of a worker is told that a person reads its banner', async () => {
  const script = `
    ${ENDS_WHEN_TOLD} ${STAYS}
    require('node:fs').appendFileSync(process.env.FOLDER + '/told', process.env.COUNTERSIGN_TERMINAL + ';');
    ${READY}`;
  const { folder, signals, announced, code } = await servers([script], 1);
  await announced;
  Object.values(cluster.workers ?? {})[0]?.process.kill('SIGKILL');
  const told = () => readFile(join(folder, 'told'), 'utf8');
  await until(async () => (await told()).length > 2);
  expect(await told()).toBe('1;;');
  signals.emit('SIGTERM');
  expect(await code).toBe(0);
});

test('an end that comes amid a pause is not waited for', async () => {
  const dies = `${READY} process.kill(process.pid, 'SIGKILL'); ${STAYS}`;
  const { signals, code } = await servers([dies], 1);
  let pause = 0;
  while (pause !== 400) ({ pause } = await ended(signals));
  signals.emit('SIGTERM');
  expect(await code).toBe(0);
});

test('SIGTERM before a server has come far enough to hear of it is a clean end', async () => {
  const { signals, code } = await servers([STAYS, STAYS], 2);
  signals.emit('SIGTERM');
  expect(await code).toBe(0);
});

test('the banner comes when all workers listen, from whichever has one', async () => {
  const waits = `
    const { existsSync } = require('node:fs');
    const wait = setInterval(() => {
      if (process.env.COUNTERSIGN_WORKER === '1' && !existsSync(process.env.FOLDER + '/second')) return;
      clearInterval(wait);
      process.send({ ready: true, banner: process.env.COUNTERSIGN_WORKER === '2' ? ['two'] : undefined });
      if (process.env.COUNTERSIGN_WORKER === '2') setTimeout(() => process.send({ seen: true }), 50);
    }, 10);`;
  const { folder, signals, announced, code } = await servers([`${ENDS_WHEN_TOLD} ${waits}`], 2);
  let early = true;
  void announced.then(() => (early = false));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(early).toBe(true);
  await writeFile(join(folder, 'second'), '');
  expect(await announced).toEqual(['two']);
  signals.emit('SIGTERM');
  expect(await code).toBe(0);
});

test('where nobody says how many, one that says it is production makes room for one a core', async () => {
  const asks = `
    if (process.env.COUNTERSIGN_WORKERS === undefined) {
      process.send({ production: true }, () => process.exit(0));
    } else {
      const { COUNTERSIGN_WORKERS: all, COUNTERSIGN_WORKER: which } = process.env;
      process.send({ ready: true, banner: [which + ' of ' + all] });
      ${ENDS_WHEN_TOLD} ${STAYS}
    }`;
  const { signals, announced, code } = await servers([asks]);
  const cores = Math.min(availableParallelism(), 8);
  const all = Array.from({ length: cores }, (_, index) => `${index + 1} of ${cores}`);
  expect((await announced).toSorted()).toEqual(all);
  signals.emit('SIGTERM');
  expect(await code).toBe(0);
});

test('a worker’s part of a count comes back when it is killed', async () => {
  // The first to ask takes all there is and is killed with it; then the second gets it.
  const takes = `
    ${ENDS_WHEN_TOLD}
    const shares = [{ of: 'alice', amount: 4, most: 4 }];
    const ask = () => process.send({ take: 1, shares });
    process.on('message', ({ taken }) => {
      if (!taken) return setTimeout(ask, 10);
      const [{ appendFileSync }, file] = [require('node:fs'), process.env.FOLDER + '/taken'];
      appendFileSync(file, process.pid + ' ');
      if (require('node:fs').readFileSync(file, 'utf8').split(' ').length === 2) process.kill(process.pid, 'SIGKILL');
      else process.send({ ready: true });
    });
    ${READY} ask();`;
  const { folder, signals, code } = await servers([takes], 2);
  expect((await ended(signals)).why).toBe('SIGKILL');
  await until(async () => (await readFile(join(folder, 'taken'), 'utf8')).split(' ').length === 3);
  signals.emit('SIGTERM');
  expect(await code).toBe(0);
});

test('messages of a worker that has gone are not counted', async () => {
  const asks = `
    const { existsSync, writeFileSync } = require('node:fs');
    ${ENDS_WHEN_TOLD} ${STAYS} ${READY}
    const [first, next] = [process.env.FOLDER + '/first', process.env.FOLDER + '/next'];
    process.on('message', ({ taken }) => writeFileSync(next, String(taken)));
    if (existsSync(first)) process.send({ take: 1, shares: [{ of: 'alice', amount: 4, most: 4 }] });
    else process.exit(writeFileSync(first, ''));`;
  const forked = once(cluster, 'fork') as Promise<[Worker]>;
  const { folder, signals, code } = await servers([asks], 1);
  const [gone] = await forked;
  await ended(signals);
  gone.emit('message', { take: 1, shares: [{ of: 'alice', amount: 1, most: 4 }] });
  let taken = '';
  await until(async () => (taken = await readFile(join(folder, 'next'), 'utf8')) !== '');
  expect(taken).toBe('true');
  signals.emit('SIGTERM');
  expect(await code).toBe(0);
});

test('a worker that has left its parent gives back and asks as before, and gets nothing: it ends well', async () => {
  const tally = JSON.stringify(import.meta.resolve('../server/limits/tally.ts'));
  const leaves = `
    const one = [{ of: 'alice', amount: 1, most: 4 }];
    import(${tally}).then(async ({ createTally }) => {
      const tally = createTally('test');
      process.on('SIGTERM', async () => {
        require('node:cluster').worker.exitedAfterDisconnect = true;
        process.disconnect();
        tally.give(one);
        process.exitCode = (await tally.take(one)) ? 1 : 0;
      });
      process.send({ ready: await tally.take(one) });
    });`;
  const { signals, announced, code } = await servers([leaves], 2);
  await announced;
  signals.emit('SIGTERM');
  expect(await code).toBe(0);
});

/** Two workers that answer each connection with their process id: the port, and the processes. */
async function answering() {
  const answers = `
    ${ENDS_WHEN_TOLD}
    const net = require('node:net');
    const server = net.createServer((socket) => socket.on('error', () => {}).end(String(process.pid)));
    server.listen({ port: 0, host: '127.0.0.1', backlog: 1000 }, () => {
      process.send({ ready: true, banner: [server.address().port + ' ' + process.pid] });
    });`;
  const { signals, announced, code } = await servers([answers], 2);
  const told = (await announced).map((line) => line.split(' ').map(Number));
  const [[port = 0] = []] = told;
  const end = async () => {
    signals.emit('SIGTERM');
    expect(await code).toBe(0);
  };
  return { port, pids: told.map(([, pid = 0]) => pid), end };
}

/** Which process answered, or the code of the error. */
const answerTo = (socket: Socket) =>
  text(socket).catch((error: NodeJS.ErrnoException) => String(error.code));
const ask = (port: number) => answerTo(connect(port, '127.0.0.1'));

test('connections that wait are lost with no worker: another one takes them', async () => {
  const { port, pids, end } = await answering();
  const [dies = 0, stays = 0] = pids;
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  const sockets = Array.from({ length: 200 }, () => connect(port, '127.0.0.1'));
  const asked = sockets.map(answerTo);
  // The kernel accepts them, while no worker does.
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  process.kill(dies, 'SIGKILL');
  process.kill(stays, 'SIGCONT');
  const answers = await Promise.all(asked);
  expect(answers.filter((pid) => !Number(pid))).toEqual([]);
  await end();
});

test('a worker that stands still holds nobody up', async () => {
  const { port, pids, end } = await answering();
  const [still = 0, other = 0] = pids;
  process.kill(still, 'SIGSTOP');
  const answers = await Promise.all(Array.from({ length: 20 }, () => ask(port)));
  expect(new Set(answers)).toEqual(new Set([String(other)]));
  process.kill(still, 'SIGCONT');
  await end();
});

test('no worker gets over 70 % of 10,000 connections', async () => {
  const { port, pids, end } = await answering();
  const answers: string[] = [];
  const client = async () => {
    for (let count = 0; count < 200; count += 1) answers.push(await ask(port));
  };
  await Promise.all(Array.from({ length: 50 }, client));
  expect(answers).toHaveLength(10_000);
  for (const pid of pids) {
    expect(answers.filter((answer) => answer === String(pid)).length).toBeLessThan(7000);
  }
  await end();
});

describe('SIGHUP', () => {
  /** Two workers that answer with their process id, and do what the file `next` says when they begin. */
  async function replaceable(terminal = false) {
    const script = `
      ${ENDS_WHEN_TOLD}
      const { existsSync, readFileSync } = require('node:fs');
      const file = process.env.FOLDER + '/next';
      const next = existsSync(file) ? readFileSync(file, 'utf8') : '';
      process.on('message', ({ replaced }) => replaced && process.exit(0));
      if (next === 'fails') process.send({ failed: 'the configuration is wrong' }, () => process.exit(1));
      const server = require('node:net').createServer((socket) => socket.on('error', () => {}).end(String(process.pid)));
      const at = next === 'elsewhere' ? { path: process.env.FOLDER + '/socket' } : { port: 0, host: '127.0.0.1' };
      const tell = () => process.send({ ready: true, banner: [server.address().port + ' ' + process.pid] });
      // node:cluster tells the parent the address after the first listener of the event has run.
      if (next !== 'fails') server.listen(at, () => setImmediate(tell));`;
    const { folder, signals, announced, code } = await servers([script], 2, terminal);
    const told = (await announced).map((line) => line.split(' ').map(Number));
    const [[port = 0] = []] = told;
    return {
      port,
      signals,
      code,
      first: new Set(told.map(([, pid]) => String(pid))),
      next: (what: string) => writeFile(join(folder, 'next'), what),
      async end() {
        signals.emit('SIGTERM');
        expect(await code).toBe(0);
      },
    };
  }

  test('without a terminal replaces every worker, and no connection is lost meanwhile', async () => {
    const { port, signals, first, end } = await replaceable();
    const going = new AbortController();
    const answers: string[] = [];
    const client = async () => {
      while (!going.signal.aborted) answers.push(await ask(port));
    };
    const clients = Promise.all(Array.from({ length: 10 }, client));
    const replaced = logged(signals);
    signals.emit('SIGHUP');
    expect(await replaced).toEqual({ level: 'info', event: 'workers.replaced', server: 's0' });
    going.abort();
    await clients;
    expect(answers.filter((pid) => !Number(pid))).toEqual([]);
    const after = await Promise.all(Array.from({ length: 40 }, () => ask(port)));
    expect(new Set(after).intersection(first)).toEqual(new Set());
    await end();
  });

  test.each([
    ['fails', 'the configuration is wrong'],
    ['elsewhere', 'it listens at other addresses: ports change at a restart'],
  ])('leaves the former workers where a new one %s', async (what, reason) => {
    const { port, signals, first, next, end } = await replaceable();
    await next(what);
    const kept = logged(signals);
    signals.emit('SIGHUP');
    expect(await kept).toMatchObject({ level: 'error', event: 'workers.kept', reason });
    const after = await Promise.all(Array.from({ length: 40 }, () => ask(port)));
    expect(new Set(after).difference(first)).toEqual(new Set());
    await end();
  });

  test('ten at once make two rounds', async () => {
    const { signals, next, end } = await replaceable();
    const events: string[] = [];
    signals.on('logged', ({ event }: LogLine) => events.push(event));
    await next('fails');
    for (let count = 0; count < 10; count += 1) signals.emit('SIGHUP');
    await until(async () => events.length === 2);
    await end();
    expect(events).toEqual(['workers.kept', 'workers.kept']);
  });

  test('at a terminal ends everything', async () => {
    const { signals, code } = await replaceable(true);
    signals.emit('SIGHUP');
    expect(await code).toBe(0);
  });

  test('an end that comes amid a round ends the new workers, too', async () => {
    const { signals, code } = await replaceable();
    signals.emit('SIGHUP');
    signals.emit('SIGTERM');
    expect(await code).toBe(0);
  });
});

test('two servers at one address and port are told so', async () => {
  const listens = `
    ${ENDS_WHEN_TOLD}
    require('node:net').createServer().listen(0, '127.0.0.1', () => process.send({ ready: true }));`;
  const { complaints, code } = await servers([listens, listens], 2);
  expect(await code).toBe(1);
  expect(complaints).toEqual([expect.stringMatching(/^Both servers listen at 127\.0\.0\.1:\d+/)]);
});

test('no server loads what node:http has for nobody', () => {
  const script = `import 'node:http'; console.log(process.moduleLoadList.filter((name) => /undici/.test(name)))`;
  const flags = [...NODE_FLAGS, '--input-type=module', '--eval', script];
  expect(execFileSync(process.execPath, flags, { encoding: 'utf8' })).toBe('[]\n');
});

test('no server has a flag with which V8 rejects what Node has compiled of itself', () => {
  const tag = (flags: readonly string[]) =>
    execFileSync(process.execPath, [...flags, '-p', 'v8.cachedDataVersionTag()'], {
      encoding: 'utf8',
    });
  expect(tag(NODE_FLAGS)).toBe(tag([]));
  expect(tag(['--expose-gc'])).not.toBe(tag([]));
});
