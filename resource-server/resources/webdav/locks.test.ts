import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { Edit, Lock, TreeView } from '#shared/stores/trees/trees.ts';
import type { LockRequest } from './lock-system.ts';
import { createLockSystem, isBelow } from './locks.ts';

const clock = new ManualClock();
const system = createLockSystem({ clock, random: systemRandom });

const viewOf = (locks: readonly Lock[]): TreeView => ({
  entries: new Map(),
  locks,
  locksVersion: '1',
  usage: { bytes: 0, entries: 0 },
});
const NOTHING = viewOf([]);

const wish = (root: string, changes: Partial<LockRequest> = {}): LockRequest => ({
  root,
  deep: true,
  exclusive: true,
  owner: '',
  principal: 'alice',
  seconds: 60,
  ...changes,
});
const lockOn = (root: string, changes: Partial<LockRequest> = {}) =>
  system.create(NOTHING, wish(root, changes)).lock;
const removedBy = (edits: readonly Edit[]) =>
  edits.flatMap((edit) => (edit.kind === 'unlock' ? edit.locks.map(({ token }) => token) : []));

describe('RFC 4918 section 6.1: resources that a lock covers', () => {
  const paths = ['', 'a', 'a/b', 'a/b/c', 'ab', 'a/bc', 'b'];
  test.each<[root: string, deep: boolean, covered: string[]]>([
    ['a', false, ['a']],
    ['a', true, ['a', 'a/b', 'a/b/c', 'a/bc']],
    ['a/b', true, ['a/b', 'a/b/c']],
    ['', false, ['']],
    ['', true, paths],
  ])('a lock on %j (deep: %s) covers the expected paths', (root, deep, covered) => {
    const lock = lockOn(root, { deep });
    const view = viewOf([lock]);
    expect(paths.filter((path) => system.covering(view, path).length > 0)).toEqual(covered);
    expect(system.covering(view, root)).toEqual([lock]);
  });

  test('section 6.6: an expired lock covers nothing', () => {
    const lock = lockOn('a', { seconds: 2 });
    const later = new ManualClock(clock.now());
    const locks = createLockSystem({ clock: later, random: systemRandom });
    later.advance(1.999);
    expect(locks.covering(viewOf([lock]), 'a')).toEqual([lock]);
    later.advance(0.001);
    expect(locks.covering(viewOf([lock]), 'a')).toEqual([]);
    expect(locks.needed(viewOf([lock]), { path: '', deep: true }).size).toBe(0);
    expect(locks.conflicting(viewOf([lock]), wish('a'))).toEqual([]);
  });
});

describe('RFC 4918 section 7: the tokens that a write needs', () => {
  const top = lockOn('a', { deep: false });
  const deep = lockOn('a/b');
  const leaf = lockOn('c/d/e', { exclusive: false });
  const other = lockOn('c/d/e', { exclusive: false, principal: 'bob' });
  const view = viewOf([top, deep, leaf, other]);
  test.each<[path: string, all: boolean, needed: [string, Lock[]][]]>([
    ['a', false, [['a', [top]]]],
    [
      'a',
      true,
      [
        ['a', [top]],
        ['a/b', [deep]],
      ],
    ],
    ['a/x', true, []],
    ['a/b/c', false, [['a/b/c', [deep]]]],
    ['c', false, []],
    ['c', true, [['c/d/e', [leaf, other]]]],
    ['c/d/e', false, [['c/d/e', [leaf, other]]]],
    ['cd', true, []],
  ])('a write to %s (deep: %s) needs the tokens of the locks there', (path, all, needed) => {
    expect([...system.needed(view, { path, deep: all })]).toEqual(needed);
  });
});

describe('RFC 4918 section 9.10.5: conflicts between locks', () => {
  const exclusive = { exclusive: true };
  const shared = { exclusive: false };
  test.each<[Partial<LockRequest>, Partial<LockRequest>, boolean]>([
    [shared, shared, false],
    [shared, exclusive, true],
    [exclusive, shared, true],
    [exclusive, exclusive, true],
  ])('a lock %j and then a lock %j: conflict %s', (first, second, conflict) => {
    for (const principal of ['alice', 'bob']) {
      const view = viewOf([lockOn('a', first)]);
      const found = system.conflicting(view, wish('a', { ...second, principal }));
      expect(found.length > 0).toBe(conflict);
    }
  });

  test.each<[string, boolean, string, boolean, boolean]>([
    ['a', true, 'a/b', false, true],
    ['a', false, 'a/b', false, false],
    ['a/b', false, 'a', true, true],
    ['a/b', false, 'a', false, false],
    ['a/b/c', true, '', true, true],
    ['', true, 'a/b/c', false, true],
    ['', false, 'a', true, false],
    ['a', true, 'ab', true, false],
    ['ab', true, 'a', true, false],
  ])(
    'a lock on %j (deep: %s) and then one on %j (deep: %s): conflict %s',
    (first, deep, second, also, conflict) => {
      const lock = lockOn(first, { deep });
      const found = system.conflicting(viewOf([lock]), wish(second, { deep: also }));
      expect(found).toEqual(conflict ? [lock] : []);
    },
  );

  test('two locks conflict exactly if they cover a common path and at least one is exclusive', () => {
    const root = fc.constantFrom('', 'a', 'a/b', 'a/b/c', 'ab', 'b');
    const any = fc.record({ root, deep: fc.boolean(), exclusive: fc.boolean() });
    const paths = ['', 'a', 'a/b', 'a/b/c', 'a/b/c/d', 'ab', 'ab/c', 'b'];
    fc.assert(
      fc.property(any, any, (one, two) => {
        const [first, second] = [one, two].map((wished) => lockOn(wished.root, wished));
        if (first === undefined || second === undefined) throw new Error('two locks');
        const both = paths.some(
          (path) => system.covering(viewOf([first, second]), path).length === 2,
        );
        const found = system.conflicting(viewOf([first]), wish(two.root, two));
        expect(found.length > 0).toBe(both && (one.exclusive || two.exclusive));
      }),
    );
  });
});

describe('RFC 4918 section 6.5: tokens', () => {
  test('lock tokens are distinct UUIDs of version 4', () => {
    const tokens = Array.from({ length: 1000 }, () => lockOn('a').token);
    const form = /^urn:uuid:[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/;
    expect(tokens.every((token) => form.test(token))).toBe(true);
    expect(new Set(tokens).size).toBe(tokens.length);
  });

  test('lock tokens use all random bits of a UUID', () => {
    const ones = createLockSystem({ clock, random: (bytes) => Buffer.alloc(bytes, 0xff) });
    const zeros = createLockSystem({ clock, random: (bytes) => Buffer.alloc(bytes) });
    expect(ones.create(NOTHING, wish('a')).lock.token).toBe(
      'urn:uuid:ffffffff-ffff-4fff-bfff-ffffffffffff',
    );
    expect(zeros.create(NOTHING, wish('a')).lock.token).toBe(
      'urn:uuid:00000000-0000-4000-8000-000000000000',
    );
  });
});

describe('RFC 4918 sections 6.6 and 10.7: timeouts', () => {
  test.each([
    [60, 60],
    [0, 1],
    [1, 1],
    [86_400, 86_400],
    [86_401, 86_400],
    [4_100_000_000, 86_400],
    [Infinity, 86_400],
  ])('a lock timeout of %d seconds is granted as %d seconds', (seconds, granted) => {
    const { lock } = system.create(NOTHING, wish('a', { seconds }));
    expect(lock).toMatchObject({ seconds: granted, expires: clock.now() + granted * 1000 });
    const { lock: again, edits } = system.refresh(lock, seconds);
    expect(again).toEqual(lock);
    expect(edits).toEqual([{ kind: 'lock', lock: again }]);
  });

  test('section 7.7: a refreshed lock differs only in its timeout', () => {
    const lock = lockOn('a', { seconds: 10, owner: '<D:owner/>' });
    const { lock: again } = system.refresh(lock, 100);
    expect(again).toEqual({ ...lock, seconds: 100, expires: clock.now() + 100_000 });
  });
});

describe('edits of the locks of a tree', () => {
  test('a new lock removes expired ones', () => {
    const expired = { ...lockOn('x'), expires: clock.now() };
    const valid = lockOn('y');
    const { lock, edits } = system.create(viewOf([expired, valid]), wish('z'));
    expect(edits).toEqual([
      { kind: 'unlock', locks: [expired] },
      { kind: 'lock', lock },
    ]);
  });

  test('RFC 4918 section 9.6: removing a resource removes its locks and the locks below', () => {
    const locks = ['a', 'a/b', 'a/b/c', 'ab', ''].map((root) => lockOn(root));
    const expired = { ...lockOn('x'), expires: clock.now() };
    const view = viewOf([...locks, expired]);
    const tokens = (...indexes: number[]) => indexes.map((index) => locks[index]?.token);
    expect(removedBy(system.release(view, 'a'))).toEqual([...tokens(0, 1, 2), expired.token]);
    expect(removedBy(system.releaseBelow(view, 'a'))).toEqual([...tokens(1, 2), expired.token]);
    expect(system.release(viewOf(locks), 'b')).toEqual([]);
  });

  test('RFC 4918 section 20.2: a principal has at most 50 locks and a tree 2,000, without expired locks', () => {
    const many = (count: number, principal: (index: number) => string) =>
      Array.from({ length: count }, (_, index) => ({
        ...lockOn(`p${index}`),
        principal: principal(index),
      }));
    const full = expect.objectContaining({ status: 507 });
    const own = many(50, () => 'alice');
    expect(() => system.create(viewOf(own), wish('z'))).toThrow(full);
    expect(() => system.create(viewOf(own), wish('z', { principal: 'bob' }))).not.toThrow();
    expect(() => system.create(viewOf(own.slice(1)), wish('z'))).not.toThrow();
    const all = many(2000, (index) => `p${index}`);
    expect(() => system.create(viewOf(all), wish('z'))).toThrow(full);
    const [first, ...rest] = all;
    const over = { ...(first ?? lockOn('q')), expires: clock.now() };
    expect(() => system.create(viewOf([over, ...rest]), wish('z'))).not.toThrow();
  });
});

test('isBelow compares whole names', () => {
  expect(isBelow('a/b', 'a')).toBe(true);
  expect(isBelow('a', '')).toBe(true);
  for (const [path, collection] of [
    ['a', 'a'],
    ['ab', 'a'],
    ['a', 'a/b'],
    ['', ''],
  ] as const) {
    expect(isBelow(path, collection)).toBe(false);
  }
});
