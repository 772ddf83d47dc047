import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { byOurs, byPeer, hit, MISS, VALIDATION } from './cache-contenders.ts';
import type { CacheTargets } from './cache-targets.ts';
import type { Server } from './cpu.ts';
import { ANSWERS, MARKS } from './targets/cached-files.ts';

interface Answering {
  readonly served: (asked: number) => string;
  readonly condition?: string;
  readonly content?: string;
}

/** In place of a cache: marks its answers as it is told. */
async function startAnswering({ served, condition, content = ANSWERS.small }: Answering) {
  let asked = 0;
  const server = createServer((_, response) => {
    response.setHeader(MARKS.served, served((asked += 1)));
    if (condition !== undefined) response.setHeader(MARKS.condition, condition);
    response.end(content);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dispose = () => server[Symbol.asyncDispose]();
  const target: Server = { url, pids: [], [Symbol.asyncDispose]: dispose };
  return { target, [Symbol.asyncDispose]: dispose };
}

const targets = (server: Server) =>
  ({
    peers: { Squid: server },
    ours: server,
    credentials: { Authorization: 'Bearer a' },
  }) as unknown as CacheTargets;

const [KEPT, ASKED] = [() => 'once', (asked: number) => `${asked}`];

test.each([
  ['from the cache', hit('small'), { served: KEPT }],
  ['from the origin', MISS, { served: ASKED }],
  ['validated', VALIDATION, { served: ASKED, condition: '"tag"' }],
] as const)('an answer %s is measured as that and as nothing else', async (_, asking, answers) => {
  await using server = await startAnswering(answers);
  const on = targets(server.target);
  await byPeer(on, 'Squid', asking)(1).probe();
  for (const other of [hit('small'), MISS, VALIDATION]) {
    const probing = byPeer(on, 'Squid', other)(1).probe();
    const same = other.comes === asking.comes;
    await (same ? probing : expect(probing).rejects.toThrow(`an answer ${asking.comes}`));
  }
});

test('other content, and a guard that lets strangers in, are not measured', async () => {
  await using wrong = await startAnswering({ served: KEPT, content: 'k' });
  await expect(byPeer(targets(wrong.target), 'Squid', hit('small'))(1).probe()).rejects.toThrow(
    '200 k',
  );
  await using open = await startAnswering({ served: KEPT });
  const guarded = byOurs(targets(open.target), 'guarded', hit('small'))(1);
  await expect(guarded.probe()).rejects.toThrow('200 to a stranger');
});

test('every miss is another target', async () => {
  const paths = new Set(Array.from({ length: 1000 }, () => MISS.request().path));
  expect(paths.size).toBe(1000);
});
