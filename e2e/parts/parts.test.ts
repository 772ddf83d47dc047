import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { startProcess, until } from './process.ts';
import { startCluster } from './redis-cluster.ts';
import { startSentinels } from './redis-sentinel.ts';
import { startRedis } from './redis.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { startVarnish } from './varnish.ts';

test('a program that ends before it is ready is an error with its output', async () => {
  const script = 'console.error("no such thing"); process.exit(3)';
  const starting = startProcess(process.execPath, ['-e', script], { ready: () => false });
  await expect(starting).rejects.toThrow('no such thing');
  await expect(startProcess('/no/such/program', [], { ready: () => true })).rejects.toThrow(
    'ENOENT',
  );
});

test('a Redis with a password keeps acknowledged writes after a SIGKILL', async () => {
  await using redis = await startRedis({ password: 'swordfish', appendonly: true });
  await redis.cli('SET', 'a', '1');
  await redis.kill();
  await expect(redis.cli('PING')).rejects.toThrow();
  await redis.start();
  expect(await redis.cli('GET', 'a')).toBe('1');
});

test('sentinels name another master if their master is killed', async () => {
  await using set = await startSentinels({ password: 'swordfish' });
  const before = await set.master();
  expect(before).toBe(set.servers[0]);
  await before.kill();
  await until(async () => (await set.master()) !== before);
});

test('a Cluster of three masters serves every slot', async () => {
  await using cluster = await startCluster();
  const info = await cluster.servers[0]?.cli('CLUSTER', 'INFO');
  expect(info).toContain('cluster_slots_ok:16384');
  expect(info).toContain('cluster_size:3');
  const before = await cluster.ownerOf('a');
  await before.cli('SET', 'a', '1');
  await cluster.moveSlotOf('a');
  const after = await cluster.ownerOf('a');
  expect(after).not.toBe(before);
  expect(await after.cli('GET', 'a')).toBe('1');
});

test('Varnish caches only answers with an explicit lifetime', async () => {
  const asked: string[] = [];
  await using stack = new AsyncDisposableStack();
  const origin = stack.use(
    createServer(({ url = '' }, response) => {
      asked.push(url);
      if (url === '/kept') response.setHeader('Cache-Control', 'max-age=3600');
      response.end(`answer ${asked.length}`);
    }),
  );
  await once(origin.listen(0, '127.0.0.1'), 'listening');
  const upstream = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`;
  const { path: folder } = stack.use(await temporaryFolder());
  const { url } = await startVarnish(stack, { upstream, folder });
  asked.length = 0;
  const ask = async (path: string) => (await fetch(url + path)).text();
  const answers = [
    await ask('/kept'),
    await ask('/other'),
    await ask('/kept'),
    await ask('/other'),
  ];
  expect(answers).toEqual(['answer 1', 'answer 2', 'answer 1', 'answer 3']);
});
