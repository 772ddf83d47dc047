import { describe, expect, test } from '@jest/globals';
import {
  copy,
  move,
  puts,
  someCollection,
  someDocument,
  someLock,
} from '#shared/stores/contract/samples.ts';
import type { Edit, Entry, TreeView } from '#shared/stores/trees/trees.ts';
import type { StoreShare } from './store-share.ts';
import { createWholeTreeTurns, takesWholeTree } from './whole-trees.ts';

/** Work that ends on demand, and a record of what has begun. */
function works() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  return {
    begun,
    work: (name: string) => () => {
      begun.push(name);
      const { promise, resolve } = Promise.withResolvers<string>();
      ends.push(() => resolve(name));
      return promise;
    },
    /** Ends the first work that has begun, and lets the next begin. */
    async end() {
      ends.shift()?.();
      await new Promise(setImmediate);
    },
  };
}

/** A share of the store's time that never makes a change wait. */
const UNUSED: StoreShare = {
  ofOne: async () => {},
  ofAll: async () => {},
  counted: (_, work) => work(),
};

const TOO_MANY = { status: 503, fields: { 'Retry-After': '1' } };

describe('turns for changes of whole trees', () => {
  test('changes of whole trees run one at a time in a process, and a principal with many delays another by one only', async () => {
    const inTurn = createWholeTreeTurns(UNUSED);
    const { begun, work, end } = works();
    const done = [
      ...['a1', 'a2', 'a3'].map((name) => inTurn('a', work(name))),
      ...['b1', 'b2'].map((name) => inTurn('b', work(name))),
    ];
    for (let count = 1; count <= done.length; count += 1) {
      await new Promise(setImmediate);
      expect(begun).toHaveLength(count);
      await end();
    }
    expect(begun).toEqual(['a1', 'b1', 'a2', 'b2', 'a3']);
    expect(await Promise.all(done)).toEqual(['a1', 'a2', 'a3', 'b1', 'b2']);
  });

  test('RFC 9110 section 15.6.4: a change of a whole tree behind eight others of its principal is 503, but not behind those of others', async () => {
    const inTurn = createWholeTreeTurns(UNUSED);
    const { begun, work, end } = works();
    const waiting = Array.from({ length: 9 }, (_, n) => inTurn('a', work(`a${n}`)));
    for (let n = 0; n < 40; n += 1) {
      await expect(inTurn('a', work('one too many'))).rejects.toMatchObject(TOO_MANY);
    }
    const other = inTurn('b', work('b'));
    for (let n = 0; n <= waiting.length; n += 1) await end();
    expect(await Promise.all([...waiting, other])).toHaveLength(10);
    expect(begun).not.toContain('one too many');
    const again = inTurn('a', work('again'));
    await new Promise(setImmediate);
    await end();
    expect(await again).toBe('again');
  });

  test('RFC 9110 section 15.6.4: changes of whole trees of only a few principals may wait', async () => {
    const inTurn = createWholeTreeTurns(UNUSED);
    const { work, end } = works();
    const waiting = Array.from({ length: 32 }, (_, n) => inTurn(`person ${n}`, work(`${n}`)));
    await new Promise(setImmediate);
    await expect(inTurn('another', work('another'))).rejects.toMatchObject(TOO_MANY);
    for (const _ of waiting) await end();
    expect(await Promise.all(waiting)).toHaveLength(32);
    const again = inTurn('another', work('again'));
    await new Promise(setImmediate);
    await end();
    expect(await again).toBe('again');
  });

  test('changes of whole trees continue after a failure', async () => {
    const inTurn = createWholeTreeTurns(UNUSED);
    const failed = inTurn('a', () => Promise.reject(new Error('mine')));
    const next = inTurn('a', async () => 'done');
    await expect(failed).rejects.toThrow('mine');
    expect(await next).toBe('done');
    expect(await inTurn('b', async () => 'later')).toBe('later');
  });
});

describe('a change of a whole tree', () => {
  const view: TreeView = {
    entries: new Map<string, Entry | undefined>([
      ['c', someCollection('c')],
      ['d', someDocument('d')],
      ['nothing', undefined],
    ]),
    locks: [],
    locksVersion: '0',
    usage: { bytes: 0, entries: 0 },
  };
  const remove = (path: string): Edit => ({ kind: 'remove', path });

  test('removing, moving or copying a collection changes a whole tree', () => {
    for (const edit of [remove('c'), move('c', 'x'), copy('c', 'x')]) {
      expect(takesWholeTree(edit, view)).toBe(true);
    }
  });

  test('an edit of a single resource does not change a whole tree', () => {
    const [put] = puts(someCollection('c'));
    const others: readonly (Edit | undefined)[] = [
      put,
      remove('d'),
      remove('nothing'),
      move('d', 'x'),
      copy('d', 'x'),
      copy('c', 'x', { deep: false }),
      { kind: 'lock', lock: someLock('c') },
      { kind: 'unlock', locks: [someLock('c')] },
    ];
    for (const edit of others) expect(edit && takesWholeTree(edit, view)).toBe(false);
  });
});
