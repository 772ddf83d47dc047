import { describe, expect, test } from '@jest/globals';
import type { Document, Entry } from '#shared/stores/trees/trees.ts';
import type { Pieces } from '../../answers/pieces.ts';
import { piecesFrom } from '../../answers/pieces.fixture.ts';
import { queriedAt } from './queried.ts';

const DOCUMENT: Document = {
  kind: 'document',
  path: 'a',
  revision: 'r',
  created: 1,
  modified: 2,
  properties: {},
  etag: 'e',
  type: 'application/json',
  length: 2,
  file: 'f',
};
const ROOT: Entry = {
  kind: 'collection',
  path: '',
  revision: '',
  created: 0,
  modified: 0,
  properties: {},
};

/** A store with contents by name, and with the entry that a second look finds at the path. */
function storeOf(contents: Readonly<Record<string, Buffer | Pieces>>, now?: Entry) {
  return {
    get: async () => now,
    list: async () => ({ version: 'v', members: [] }),
    content: async ({ file }: Document) => contents[file],
  };
}

describe('a document', () => {
  test('a queried document is read at once or in pieces', async () => {
    for (const content of [
      Buffer.from('{}'),
      piecesFrom(() => [Buffer.from('{'), Buffer.from('}')]),
    ]) {
      const store = storeOf({ f: content });
      expect(await queriedAt({ store, path: 'a', entry: DOCUMENT })).toEqual({
        content: Buffer.from('{}'),
        version: 'f',
        modified: 2,
      });
    }
  });

  test('a document that is replaced during a query is read in its new version', async () => {
    const current = { ...DOCUMENT, file: 'g', modified: 3 };
    const store = storeOf({ g: Buffer.from('[]') }, current);
    expect(await queriedAt({ store, path: 'a', entry: DOCUMENT })).toEqual({
      content: Buffer.from('[]'),
      version: 'g',
      modified: 3,
    });
  });

  test('a document that is removed during a query is 404', async () => {
    await expect(queriedAt({ store: storeOf({}), path: 'a', entry: DOCUMENT })).rejects.toEqual(
      expect.objectContaining({ status: 404 }),
    );
  });

  test('a document that is too long for a query is 422, without being read', async () => {
    const entry = { ...DOCUMENT, length: 16 * 1024 * 1024 + 1 };
    await expect(
      queriedAt({ store: storeOf({ f: Buffer.from('{}') }), path: 'a', entry }),
    ).rejects.toEqual(expect.objectContaining({ status: 422 }));
  });
});

describe('a collection', () => {
  const withMembers = (count: number) => ({
    ...storeOf({}),
    list: async (_path: string, _after: string, limit: number) => ({
      version: 'v',
      members: Array.from({ length: Math.min(count, limit) }, (_, index) => ({
        ...DOCUMENT,
        path: `m${index}`,
      })),
    }),
  });

  test('a queried collection has all members of its listing, one version and no date', async () => {
    const { content, ...when } = await queriedAt({
      store: withMembers(10_000),
      path: '',
      entry: ROOT,
    });
    const members = JSON.parse(String(content)) as unknown[];
    expect(members).toHaveLength(10_000);
    expect(members[9_999]).toMatchObject({ name: 'm9999', length: 2, etag: '"e"' });
    expect(when).toEqual({ version: 'v', names: Object.keys(members[9_999] ?? {}) });
  });

  test('a query of a collection with too many members is 422', async () => {
    await expect(queriedAt({ store: withMembers(10_001), path: '', entry: ROOT })).rejects.toEqual(
      expect.objectContaining({ status: 422 }),
    );
  });
});
