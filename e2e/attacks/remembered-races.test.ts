import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { STORE_KINDS } from '../flows/flow.ts';
import {
  assertAlive,
  type Reply,
  startTreeServers,
  tenAtOnce,
  type Tenant,
  type TreeServers,
} from './trees.fixture.ts';

/** Two servers cache a tree by its version while both write: no answer shows an old state. */
const WRITES = 8;
const JSONPATH = { 'Content-Type': 'application/jsonpath' };
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** The ways to read the tree. Each answer contains the writers' names, which end in a number. */
const FORMS: Readonly<Record<string, (me: Tenant, server: number) => Promise<Reply>>> = {
  'JSON listing': (me, server) => me.ask(server, 'GET', 'c/'),
  'HTML listing': (me, server) => me.ask(server, 'GET', 'c/', { headers: { Accept: 'text/html' } }),
  PROPFIND: (me, server) => me.ask(server, 'PROPFIND', 'c/', { headers: { Depth: '1' } }),
  'PROPFIND of all': (me, server) =>
    me.ask(server, 'PROPFIND', '', { headers: { Depth: 'infinity' } }),
  'QUERY of the collection': (me, server) =>
    me.ask(server, 'QUERY', 'c/', { headers: JSONPATH, body: '$[*].name' }),
  'QUERY of a document': (me, server) =>
    me.ask(server, 'QUERY', 'all.json', { headers: JSONPATH, body: '$.names[*]' }),
};

/** Returns the writer's highest number in the text. */
function latest(text: string, writer: number): number {
  const found = [...text.matchAll(new RegExp(`\\bw${writer}-(\\d+)\\b`, 'g'))];
  return Math.max(-1, ...found.map(([, number]) => Number(number)));
}

describe.each(STORE_KINDS)('on %s', (kind) => {
  let servers: TreeServers;
  beforeAll(async () => {
    servers = await startTreeServers(kind);
  });
  afterAll(async () => servers[Symbol.asyncDispose]());

  test.each(Object.entries(FORMS))(
    '%s: with ten writers and ten readers at two servers, no answer is older than a write acknowledged before the request',
    async (form, ask) => {
      const me = await servers.newcomer();
      expect((await me.ask(0, 'MKCOL', 'c/')).status).toBe(201);
      const acknowledged = Array.from({ length: 10 }, () => -1);
      const writing = new Set(acknowledged.keys());

      /**
       * Each writer has its own document (PUT and MOVE alternately) or its own member of one document
       * (PATCH).
       */
      async function write(writer: number): Promise<void> {
        for (let n = 0; n < WRITES; n += 1) {
          const name = `w${writer}-${n}`;
          const { status } =
            form === 'QUERY of a document'
              ? await me.ask(writer, 'PATCH', 'all.json', {
                  headers: { 'Content-Type': 'application/merge-patch+json' },
                  body: JSON.stringify({ names: { [`of ${writer}`]: name } }),
                })
              : n % 2 === 0
                ? await me.ask(writer, 'PUT', `c/${name}`, { headers: JSON_TYPE, body: '1' })
                : await me.ask(writer, 'MOVE', `c/w${writer}-${n - 1}`, {
                    headers: { Destination: `/dav/c/${name}` },
                  });
          if (status === 503) {
            n -= 1; // refused, as too many patches run at once
            continue;
          }
          expect([200, 201, 204]).toContain(status);
          acknowledged[writer] = n;
        }
        writing.delete(writer);
      }

      let reads = 0;
      async function read(reader: number): Promise<void> {
        while (writing.size > 0) {
          const least = [...acknowledged];
          const { status, text } = await ask(me, reader);
          // the queue of the evaluators is full, or there is no document yet
          if (status === 503 || status === 404) continue;
          expect([200, 207]).toContain(status);
          for (const [writer, number] of least.entries()) {
            expect(latest(text, writer)).toBeGreaterThanOrEqual(number);
          }
          reads += 1;
        }
      }

      await Promise.all([tenAtOnce(write), tenAtOnce(read)]);
      expect(reads).toBeGreaterThan(0);
      for (const server of [0, 1]) {
        const [once, again] = [await ask(me, server), await ask(me, server)];
        expect(again.text).toBe(once.text);
        for (let writer = 0; writer < 10; writer += 1) {
          expect(latest(once.text, writer)).toBe(WRITES - 1);
        }
      }
      await assertAlive(servers);
    },
  );
});
