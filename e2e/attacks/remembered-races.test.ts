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

/** Two servers remember a tree under its version while both write: nobody sees an old state. */
const WRITES = 8;
const JSONPATH = { 'Content-Type': 'application/jsonpath' };
const JSON_TYPE = { 'Content-Type': 'application/json' };

/** How each form tells the number of every writer: by a name that ends in it. */
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

/** Returns the highest number that the text tells of a writer. */
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
    '%s: ten writers and ten readers at once at two servers, and no answer is older than what was acknowledged before it was asked for',
    async (form, ask) => {
      const me = await servers.newcomer();
      expect((await me.ask(0, 'MKCOL', 'c/')).status).toBe(201);
      const acknowledged = Array.from({ length: 10 }, () => -1);
      const writing = new Set(acknowledged.keys());

      /** Each has its own document, or its own line in the one document: by turns PUT and MOVE, or PATCH. */
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
            n -= 1; // too many patches at once: nothing was done
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
          if (status === 503 || status === 404) continue; // the line before the evaluators is full, or nothing yet
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
