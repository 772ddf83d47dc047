import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@jest/globals';
import { byOurs, byPeer, hit } from './cache-contenders.ts';
import type { CacheTargets } from './cache-targets.ts';
import type { Server } from './cpu.ts';
import { ANSWERS, MARKS } from './targets/cached-files.ts';

interface Answering {
  readonly served: (asked: number) => string;
  readonly condition?: string;
  readonly content?: string;
}

/** A server in place of a cache, which marks its answers as the test says. */
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
    peers: { Varnish: server },
    ours: server,
    credentials: { Authorization: 'Bearer a' },
  }) as unknown as CacheTargets;

const [KEPT, ASKED] = [() => 'once', (asked: number) => `${asked}`];

test('a contender is measured only if its answers come from the cache', async () => {
  const measuring = async (answers: Answering) => {
    await using server = await startAnswering(answers);
    await byPeer(targets(server.target), 'Varnish', hit('small'))(1).probe();
  };
  await measuring({ served: KEPT });
  await expect(measuring({ served: ASKED })).rejects.toThrow('asked the origin');
  const validated = { served: KEPT, condition: '"tag"' };
  await expect(measuring(validated)).rejects.toThrow('asked the origin');
});

test('a contender with other content, or one that admits a forged token, is not measured', async () => {
  await using wrong = await startAnswering({ served: KEPT, content: 'k' });
  await expect(byPeer(targets(wrong.target), 'Varnish', hit('small'))(1).probe()).rejects.toThrow(
    '200 k',
  );
  await using open = await startAnswering({ served: KEPT });
  const guarded = byOurs(targets(open.target), 'guarded', hit('small'))(1);
  await expect(guarded.probe()).rejects.toThrow('200 to a stranger');
});
