import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { overHttp } from '../../clients/digest/over-http.ts';
import { startStore } from '../../flows/flow.ts';
import { startPair } from '../../pair/pair.ts';
import { overHttp2 } from '../over-http2.ts';
import { failuresOf, restore } from './vectors.ts';
import type { Site, Vectors } from './vectors.ts';
import data from './vectors.json' with { type: 'json' };

/** The vectors of RFC 10008 at a real process, over both versions of HTTP, on both stores. */
const vectors = data as Vectors;

const SCOPES = {
  owner: 'documents:read documents:write',
  other: 'documents:read documents:write',
  reader: 'documents:read',
};

// HTTP versions and stores are independent, so two combinations are enough.
describe.each([
  ['sqlite', 'HTTP/1.1'],
  ['postgres', 'HTTP/2'],
] as const)('on %s, over %s', (kind, version) => {
  const parts = new AsyncDisposableStack();
  const tokens = new Map<string, string>();
  let site: Site;
  beforeAll(async () => {
    const pair = parts.use(await startPair(await startStore(kind, parts)));
    for (const [name, scope] of Object.entries(SCOPES)) {
      tokens.set(name, await pair.token(await pair.addClient(scope)));
    }
    const { hostname: host, port } = new URL(pair.resource);
    site = {
      send:
        version === 'HTTP/1.1'
          ? overHttp({ host, port: Number(port) })
          : parts.use(overHttp2(pair.resource)).send,
      base: pair.documents,
      authorization: (as) => `Bearer ${tokens.get(as)}`,
    };
  });
  afterAll(async () => parts.disposeAsync());
  beforeEach(async () => restore(vectors, site));

  test.each(vectors.vectors)('RFC 10008 section $section: $title', async (vector) => {
    expect(await failuresOf(vector, site)).toEqual([]);
  });
});

test.each(vectors.vectors)(
  'a server that grants everything fails the vector: $title',
  async (vector) => {
    const fields = ['ETag', 'Location', 'Content-Location', 'Last-Modified', 'Allow'].map(
      (name) => [name, '"x"'] as const,
    );
    const send = async () => ({ status: 200, fields, content: Buffer.from('{}'), trailers: [] });
    const site = { send, base: 'http://localhost/', authorization: () => '' };
    expect(await failuresOf(vector, site)).not.toEqual([]);
  },
);
