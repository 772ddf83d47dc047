import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { writeProcess } from '#shared/stores/cache/process-report.ts';
import { redisCacheReports } from '#shared/stores/redis/cache/cache-reports.ts';
import { interruptedRedis } from '#shared/stores/redis/connection/interrupted.fixture.ts';
import { someClient } from '#shared/stores/contract/samples.ts';
import { inProcess, json, newData, TestShell } from '../cli.fixture.ts';

let place: Awaited<ReturnType<typeof interruptedRedis>>;
beforeAll(async () => {
  place = await interruptedRedis();
});
afterAll(() => place[Symbol.asyncDispose]());

const shell = () => new TestShell({ COUNTERSIGN_REDIS_URL: place.redis.url });
const client = someClient('former');
const REPORT = {
  server: 'authz',
  version: '1.0.0',
  worker: 1,
  since: 1,
  ready: true,
  at: 1,
} as const;

test('a store of an older version: its clients are the same afterwards, and another run moves nothing', async () => {
  await place.redis.cli('MSET', '{cs}:schema', '12', '{cs}:schema:oldest', '10');
  await place.redis.cli('HSET', 'cs:clients', client.client_id, JSON.stringify(client));
  const moving = shell();
  expect(await json(moving, 'redis', 'spread')).toEqual({ moved: 1 });
  expect(moving.stderr).toContain('1 key moved so far');
  expect(moving.stderr).toContain('no server starts');
  expect(await json(shell(), 'client', 'show', 'former')).toMatchObject({ client_id: 'former' });
  expect(await place.redis.cli('EXISTS', 'cs:clients')).toBe('0');
  expect(await json(shell(), 'redis', 'spread')).toEqual({ moved: 0 });
});

test('it refuses while a server runs, and not because of one that has ended', async () => {
  const reports = redisCacheReports(place.undisturbed, 'cs');
  await reports.put('of a cache', '{}');
  await reports.put('ended', writeProcess({ ...REPORT, ended: true }));
  expect(await json(shell(), 'redis', 'spread')).toEqual({ moved: 0 });
  await reports.put('running', writeProcess(REPORT));
  const { code, stderr } = await inProcess(shell(), 'redis', 'spread');
  expect(code).toBe(1);
  expect(stderr).toContain('1 server process reported within the last minute');
});

test('it says that it has to be run again if it ends amid the move', async () => {
  await place.redis.cli('FLUSHALL');
  await place.redis.cli('MSET', '{cs}:schema', '12', '{cs}:schema:oldest', '10');
  await place.redis.cli('HSET', '{cs}:artefact:Access:a', 'payload', '{}');
  await place.redis.cli('HSET', 'cs:clients', 'broken', '{');
  const { code, stderr } = await inProcess(shell(), 'redis', 'spread');
  expect(code).not.toBe(0);
  expect(stderr).toContain('no server starts: run the command again');
});

test('a server that was starting at the beginning: nothing is moved', async () => {
  await place.redis.cli('FLUSHALL');
  await place.redis.cli('MSET', '{cs}:schema', '12', '{cs}:schema:oldest', '10');
  const starting = shell();
  const { wait } = starting;
  starting.wait = async (milliseconds) => {
    await wait(milliseconds);
    await redisCacheReports(place.undisturbed, 'cs').put('starting', writeProcess(REPORT));
  };
  const { code, stderr } = await inProcess(starting, 'redis', 'spread');
  expect(code).toBe(1);
  expect(stderr).toContain('1 server process reported within the last minute');
  expect(await place.redis.cli('EXISTS', '{cs}:schema:slots')).toBe('0');
  expect(await place.redis.cli('GET', '{cs}:schema:oldest')).toBe('10');
});

test('the embedded store has no slots', async () => {
  const { code, stderr } = await inProcess(new TestShell(await newData()), 'redis', 'spread');
  expect(code).toBe(1);
  expect(stderr).toContain('the embedded store');
});
