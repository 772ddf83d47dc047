import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { RevocationSet } from './revocation-set.ts';
import type { RevocableClaims } from '#shared/jose/access-token-claims.ts';
import type { Revocation } from './revocations.ts';

const LATER = 1_000;

const token: RevocableClaims = {
  jti: 'j',
  kid: 'k',
  sub: 's',
  client_id: 'c',
  grant_id: 'g',
  sub_gen: 0,
  client_gen: 0,
  epoch: 'e1',
};

const setOf = (...revocations: readonly Revocation[]) => {
  const set = new RevocationSet();
  set.epoch = 'e1';
  for (const revocation of revocations) set.apply(revocation, LATER);
  return set;
};

describe('revocation set', () => {
  test.each([
    ['token', { kind: 'token', id: 'j' }],
    ['grant', { kind: 'grant', id: 'g' }],
    ['key', { kind: 'key', id: 'k' }],
    ['person', { kind: 'person', id: 's', generation: 1 }],
    ['client', { kind: 'client', id: 'c', generation: 1 }],
  ] as const)('%s: the set names the revocation', (expected, revocation) => {
    expect(setOf(revocation).revokedBy(token)).toBe(expected);
    expect(setOf({ ...revocation, id: 'another' }).revokedBy(token)).toBeUndefined();
  });

  test('an empty set revokes no token of its epoch, and every token of another epoch; without an epoch it revokes all', () => {
    expect(setOf().revokedBy(token)).toBeUndefined();
    expect(setOf().revokedBy({ ...token, epoch: 'e2' })).toBe('epoch');
    expect(new RevocationSet().revokedBy(token)).toBe('epoch');
  });

  test('a repeated, lower or forgotten generation does not count as newly raised', () => {
    const set = setOf({ kind: 'person', id: 's', generation: 3 });
    const { raises } = set;
    set.apply({ kind: 'person', id: 's', generation: 3 }, LATER);
    set.apply({ kind: 'person', id: 's', generation: 2 }, LATER);
    expect(set.raisedSince('s', raises)).toBe(false);
    set.apply({ kind: 'person', id: 's', generation: 4 }, LATER);
    expect([set.raisedSince('s', raises), set.raisedSince('s', set.raises)]).toEqual([true, false]);
    set.sweep(LATER + 1);
    expect(set.raisedSince('s', raises)).toBe(false);
    set.apply({ kind: 'person', id: 's', generation: 5 }, 2 * LATER);
    expect(set.raisedSince('s', raises)).toBe(true);
  });

  test('a generation revokes only tokens of lower generations', () => {
    const set = setOf({ kind: 'person', id: 's', generation: 3 });
    expect(set.revokedBy({ ...token, sub_gen: 2 })).toBe('person');
    expect(set.revokedBy({ ...token, sub_gen: 3 })).toBeUndefined();
    expect(set.revokedBy({ ...token, sub_gen: 4 })).toBeUndefined();
  });

  test('a token without a person or grant is not revoked by an id of that name', () => {
    const { sub_gen: _, grant_id: __, ...machine } = token;
    const set = setOf(
      { kind: 'person', id: 's', generation: 9 },
      { kind: 'grant', id: 'undefined' },
    );
    expect(set.revokedBy(machine)).toBeUndefined();
  });

  test('names of Object.prototype are ids like any other', () => {
    for (const id of ['__proto__', 'constructor', 'toString', '']) {
      expect(setOf().revokedBy({ ...token, jti: id, kid: id, sub: id, client_id: id })).toBe(
        undefined,
      );
      expect(setOf({ kind: 'token', id }).revokedBy({ ...token, jti: id })).toBe('token');
    }
  });

  test('a sweep removes revocations that have expired, and none that is still needed', () => {
    const set = setOf({ kind: 'token', id: 'j' }, { kind: 'client', id: 'c', generation: 1 });
    set.apply({ kind: 'grant', id: 'g' }, LATER + 1);
    set.sweep(LATER - 1);
    expect(set.size).toBe(3);
    set.sweep(LATER);
    expect(set.size).toBe(1);
    expect(set.revokedBy(token)).toBe('grant');
    set.sweep(LATER + 1);
    expect(set.size).toBe(0);
    expect(set.revokedBy(token)).toBeUndefined();
  });

  test('a sweep reads a thousand entries, and continues where the last sweep stopped', () => {
    const MANY = 10_000;
    const set = setOf();
    for (let n = 0; n < MANY; n += 1) set.apply({ kind: 'token', id: `${n}` }, LATER + (n % 2));
    const sizes: number[] = [];
    for (let sweep = 0; sweep < 12; sweep += 1) {
      set.sweep(LATER);
      sizes.push(set.size);
    }
    expect(sizes.slice(0, 3)).toEqual([9_500, 9_000, 8_500]);
    expect(sizes.at(-1)).toBe(MANY / 2);
    expect(set.revokedBy({ ...token, jti: '1' })).toBe('token');
    expect(set.revokedBy({ ...token, jti: '0' })).toBeUndefined();
  });

  test('if a revocation comes twice, the later expiry counts, in any order', () => {
    for (const ends of [
      [10, 20],
      [20, 10],
    ] as const) {
      const set = setOf();
      for (const until of ends) set.apply({ kind: 'token', id: 'j' }, until);
      set.sweep(15);
      expect(set.revokedBy(token)).toBe('token');
    }
  });

  test('a new epoch starts the generations anew and keeps the other revocations', () => {
    const set = setOf({ kind: 'person', id: 's', generation: 5 }, { kind: 'key', id: 'k' });
    set.epoch = 'e2';
    const renewed = { ...token, epoch: 'e2', sub_gen: 0 };
    expect(set.revokedBy({ ...renewed, kid: 'another' })).toBeUndefined();
    expect(set.revokedBy(renewed)).toBe('key');
    set.apply({ kind: 'person', id: 's', generation: 1 }, LATER);
    expect(set.revokedBy({ ...renewed, kid: 'another' })).toBe('person');
  });

  test('an epoch that disappears for a while and comes back loses no revocation', () => {
    const set = setOf({ kind: 'person', id: 's', generation: 5 });
    set.epoch = undefined;
    expect(set.revokedBy(token)).toBe('epoch');
    set.epoch = 'e1';
    expect(set.revokedBy({ ...token, sub_gen: 4 })).toBe('person');
  });

  test('the order and the repetition of entries do not matter', () => {
    const id = fc.constantFrom('a', 'b', 'c');
    const revocation: fc.Arbitrary<Revocation> = fc.oneof(
      fc.record({ kind: fc.constantFrom('token', 'grant', 'key'), id }),
      fc.record({ kind: fc.constantFrom('person', 'client'), id, generation: fc.nat(5) }),
    );
    const entry = fc.tuple(revocation, fc.nat(100));
    const claims = fc.record({
      jti: id,
      kid: id,
      sub: id,
      client_id: id,
      grant_id: id,
      sub_gen: fc.nat(5),
      client_gen: fc.nat(5),
      epoch: fc.constant('e1'),
    });
    fc.assert(
      fc.property(fc.array(entry), fc.nat(100), fc.array(claims), (entries, now, tokens) => {
        const [once, shuffled] = [setOf(), setOf()];
        for (const [what, until] of entries) once.apply(what, until);
        for (const [what, until] of [...entries, ...entries].toReversed())
          shuffled.apply(what, until);
        once.sweep(now);
        shuffled.sweep(now);
        expect(shuffled.size).toBe(once.size);
        for (const each of tokens) expect(shuffled.revokedBy(each)).toBe(once.revokedBy(each));
      }),
    );
  });
});
