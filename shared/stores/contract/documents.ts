import { describe, expect, test } from '@jest/globals';
import { fresh, someDocument } from './races.ts';
import type { Contract } from './store-under-test.ts';

export function documentsContract(contract: () => Contract): void {
  describe('documents', () => {
    test('a row comes back with all its members, in its own space only', async () => {
      const { one, other } = contract();
      const row = someDocument(`${fresh()}/Grüße 😀.txt`, 'v1');
      expect(await one.documents.put('a', row, 'any')).toEqual({
        kind: 'changed',
        before: undefined,
      });
      expect(await other.documents.get('a', row.path)).toEqual(row);
      expect(await other.documents.get('b', row.path)).toBeUndefined();
      expect(await other.documents.list('b', row.path)).toEqual([]);
    });

    test('space and path cannot be shifted into one another', async () => {
      const { one } = contract();
      const path = fresh();
      await one.documents.put('a', someDocument(`b:${path}`, 'v1'), 'any');
      await one.documents.put('a', someDocument(`b/${path}`, 'v1'), 'any');
      expect(await one.documents.get('a:b', path)).toBeUndefined();
      expect(await one.documents.get('a/b', path)).toBeUndefined();
    });

    test('RFC 9110 section 13.1.2: If-None-Match: * puts only where nothing is', async () => {
      const { one, other } = contract();
      const path = fresh();
      const first = someDocument(path, 'v1');
      expect(await one.documents.put('a', first, 'absent')).toEqual({
        kind: 'changed',
        before: undefined,
      });
      expect(await other.documents.put('a', someDocument(path, 'v2'), 'absent')).toEqual({
        kind: 'conflict',
        current: first,
      });
      expect(await one.documents.get('a', path)).toEqual(first);
    });

    test('RFC 9110 section 13.1.1: If-Match puts only over that entity tag', async () => {
      const { one, other } = contract();
      const path = fresh();
      const [first, second] = [someDocument(path, 'v1'), someDocument(path, 'v2')];
      expect(await one.documents.put('a', second, { etag: 'v1' })).toEqual({
        kind: 'conflict',
        current: undefined,
      });
      await one.documents.put('a', first, 'absent');
      expect(await other.documents.put('a', second, { etag: 'v0' })).toEqual({
        kind: 'conflict',
        current: first,
      });
      expect(await other.documents.put('a', second, { etag: 'v1' })).toEqual({
        kind: 'changed',
        before: first,
      });
      expect(await one.documents.put('a', first, { etag: 'v1' })).toEqual({
        kind: 'conflict',
        current: second,
      });
      expect(await one.documents.put('a', first, 'any')).toEqual({
        kind: 'changed',
        before: second,
      });
    });

    test('RFC 9110 section 13.1.1: If-Match removes only that entity tag', async () => {
      const { one, other } = contract();
      const path = fresh();
      const row = someDocument(path, 'v1');
      await one.documents.put('a', row, 'absent');
      expect(await other.documents.remove('a', path, { etag: 'v0' })).toEqual({
        kind: 'conflict',
        current: row,
      });
      expect(await other.documents.remove('a', path, 'absent')).toEqual({
        kind: 'conflict',
        current: row,
      });
      expect(await one.documents.get('a', path)).toEqual(row);
      expect(await other.documents.remove('a', path, { etag: 'v1' })).toEqual({
        kind: 'changed',
        before: row,
      });
      expect(await one.documents.get('a', path)).toBeUndefined();
      expect(await one.documents.remove('a', path, { etag: 'v1' })).toEqual({
        kind: 'conflict',
        current: undefined,
      });
      expect(await one.documents.remove('a', path, 'any')).toEqual({
        kind: 'changed',
        before: undefined,
      });
    });

    test('list takes the prefix literally and sorts by path', async () => {
      const { one, other } = contract();
      const space = fresh();
      const paths = [
        'a',
        'a/1',
        'a/2',
        'a/b/c',
        'ab',
        'a%',
        'a_x',
        'a*',
        'a[b]',
        'a\\',
        'é/1',
        'b',
      ];
      for (const path of paths) await one.documents.put(space, someDocument(path, 'v1'), 'any');
      const listed = async (prefix: string) =>
        (await other.documents.list(space, prefix)).map((row) => row.path);
      expect(await listed('a/')).toEqual(['a/1', 'a/2', 'a/b/c']);
      expect(await listed('a%')).toEqual(['a%']);
      expect(await listed('a_')).toEqual(['a_x']);
      expect(await listed('a*')).toEqual(['a*']);
      expect(await listed('a[b]')).toEqual(['a[b]']);
      expect(await listed('a\\')).toEqual(['a\\']);
      expect(await listed('é')).toEqual(['é/1']);
      expect(await listed('nothing')).toEqual([]);
      expect(await listed('')).toEqual(paths.toSorted());
      expect(await other.documents.list(space, 'b')).toEqual([someDocument('b', 'v1')]);
    });
  });
}
