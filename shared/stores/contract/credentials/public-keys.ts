import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import type { KeyOwner, PublicKeyRecord } from '../../credentials/public-keys.ts';
import { SLICE } from '../../sql/rows.ts';
import { fresh, publicKeysIn, somePublicKey } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

const NOW = 1_800_000_000_000;
const MINUTE = 60_000;
const MOST = 20;

const person = (id = fresh()): KeyOwner => ({ kind: 'person', id });

export function publicKeysContract(contract: () => Contract): void {
  describe('public keys', () => {
    const added = async (changes: Partial<PublicKeyRecord> = {}) => {
      const key = { ...somePublicKey(fresh()), ...changes };
      expect(await contract().one.publicKeys.add(key, MOST)).toBe('added');
      return key;
    };
    const idsOf = async (owner: KeyOwner) =>
      (await contract().other.publicKeys.of(owner)).map(({ id }) => id);

    test('a key is kept with all its members, found by its id and its owner, and listed', async () => {
      const { other } = contract();
      for (const key of [
        await added(),
        await added({
          scheme: 'HOBA',
          owner: { kind: 'application', id: 'Weather station' },
          origin: 'https://rs.example',
          name: '',
          acr: 'urn:countersign:acr:passkey',
          used_at: NOW,
          signed_out_at: NOW + 1,
        }),
      ]) {
        expect(await other.publicKeys.get(key.id)).toEqual(key);
        expect(await other.publicKeys.of(key.owner)).toContainEqual(key);
        expect(await publicKeysIn(other)).toContainEqual(key);
      }
    });

    test('pages of applications have no key of a person, and begin after a key that may be gone', async () => {
      const { one, other } = contract();
      const owner = { kind: 'application', id: `\u00e9 ${fresh()} "` } as const;
      const [first, second, third] = [
        await added({ owner, created_at: NOW - 1 }),
        await added({ owner, created_at: NOW, id: `a${fresh()}` }),
        await added({ owner, created_at: NOW, id: `b${fresh()}` }),
      ];
      await added({ owner: person(owner.id), created_at: NOW });
      const before = { owner, created_at: 0, id: '' };
      const page = (after: PublicKeyRecord | typeof before, limit: number) =>
        other.publicKeys.pageOfApplications({ after, limit });
      expect(await page(before, 3)).toEqual([first, second, third]);
      expect(await page(before, 2)).toEqual([first, second]);
      await one.publicKeys.remove(second.id);
      expect(await page(second, 1)).toEqual([third]);
      const all = await other.publicKeys.pageOfApplications({ limit: 1000 });
      expect(all).toContainEqual(third);
      expect(all.filter((key) => key.owner.kind !== 'application')).toEqual([]);
    });

    test('RFC 9729 section 8: a taken id is refused for any owner and scheme, and the first key stays', async () => {
      const { one, other } = contract();
      const key = await added();
      const another = { ...key, owner: person(), scheme: 'HOBA', created_at: 1 } as const;
      expect(await other.publicKeys.add(another, MOST)).toBe('taken');
      expect(await other.publicKeys.add(another, 0)).toBe('taken');
      expect(await other.publicKeys.add(key, 1)).toBe('taken');
      expect(await one.publicKeys.get(key.id)).toEqual(key);
      expect(await idsOf(key.owner)).toEqual([key.id]);
      expect(await idsOf(another.owner)).toEqual([]);
    });

    test('an owner has at most the allowed number of keys in all schemes, and can add one again after a removal', async () => {
      const { one, other } = contract();
      const owner = person();
      const ids: string[] = [];
      for (let n = 0; n < MOST; n += 1) {
        const scheme = n % 2 === 0 ? 'HOBA' : 'Concealed';
        ids.push((await added({ owner, scheme, created_at: NOW + n })).id);
      }
      const next = { ...somePublicKey(fresh()), owner, created_at: NOW + MOST };
      expect(await other.publicKeys.add(next, MOST)).toBe('full');
      expect(await one.publicKeys.get(next.id)).toBeUndefined();
      expect(await idsOf(owner)).toEqual(ids);
      await added({ owner: { ...owner, kind: 'application' } });
      await added({ owner: person(`${owner.id} `) });
      expect(await one.publicKeys.remove(ids[3] ?? '')).toBe(true);
      expect(await other.publicKeys.add(next, MOST)).toBe('added');
      expect(await idsOf(owner)).toEqual([...ids.filter((_, n) => n !== 3), next.id]);
      expect(await other.publicKeys.add({ ...next, id: fresh() }, MOST)).toBe('full');
      expect(await other.publicKeys.add({ ...next, id: fresh() }, MOST + 1)).toBe('added');
    });

    test('if ten keys are added at once for the last place, one succeeds', async () => {
      const { one, other } = contract();
      for (let round = 0; round < 5; round += 1) {
        const owner = person();
        for (let n = 1; n < MOST; n += 1) await added({ owner });
        const outcomes = await Promise.all(
          Array.from({ length: 10 }, (_, n) =>
            (n % 2 === 0 ? one : other).publicKeys.add({ ...somePublicKey(fresh()), owner }, MOST),
          ),
        );
        expect(outcomes.toSorted()).toEqual(['added', ...Array<string>(9).fill('full')]);
        expect(await idsOf(owner)).toHaveLength(MOST);
      }
    });

    test('if two people add one key at once, one succeeds, and the other has no row', async () => {
      const { one, other } = contract();
      for (let round = 0; round < 10; round += 1) {
        const id = fresh();
        const owners = Array.from({ length: 6 }, () => person());
        const outcomes = await Promise.all(
          owners.map((owner, n) =>
            (n % 2 === 0 ? one : other).publicKeys.add({ ...somePublicKey(id), owner }, MOST),
          ),
        );
        expect(outcomes.toSorted()).toEqual(['added', ...Array<string>(5).fill('taken')]);
        const winner = owners[outcomes.indexOf('added')];
        expect(await one.publicKeys.get(id)).toMatchObject({ owner: winner });
        for (const owner of owners)
          expect(await idsOf(owner)).toEqual(owner === winner ? [id] : []);
      }
    });

    test('ids are compared exactly, with their case and their whole length', async () => {
      const { one } = contract();
      const key = await added({ id: `${fresh()}Ab` });
      for (const near of [key.id.toLowerCase(), key.id.slice(0, -1), `${key.id} `, `${key.id}%`]) {
        expect(await one.publicKeys.get(near)).toBeUndefined();
        expect(await one.publicKeys.remove(near)).toBe(false);
      }
      expect(await one.publicKeys.get(key.id)).toEqual(key);
    });

    test('an unknown id, however odd, is absent: not found, noted, signed out or removed', async () => {
      const { one } = contract();
      const before = await publicKeysIn(one);
      for (const id of ['', '*', '__proto__', "' OR 1=1 --", '\u0000', 'x'.repeat(10_000)]) {
        expect(await one.publicKeys.get(id)).toBeUndefined();
        expect(await one.publicKeys.signOut(id, NOW)).toBe(false);
        await expect(one.publicKeys.touch(id, NOW)).resolves.toBeUndefined();
        expect(await one.publicKeys.remove(id)).toBe(false);
        expect(await one.publicKeys.of(person(id))).toEqual([]);
      }
      expect(await publicKeysIn(one)).toEqual(before);
    });

    test('owners with odd ids have only their own keys', async () => {
      const base = fresh();
      const tails = [
        '',
        ' ',
        '!',
        '"',
        '"]',
        '\\',
        ']',
        ' 0',
        '%',
        '*',
        '\u0000',
        "'; --",
        '{a}',
        '😀',
      ];
      const owners = tails
        .flatMap((tail) => [person(base + tail), person(tail + base)])
        .flatMap((owner) => [owner, { ...owner, kind: 'application' } as const])
        // A key without a suffix in the id is in the list twice.
        .slice(2);
      const ids: string[] = [];
      for (const owner of owners) ids.push((await added({ owner })).id);
      for (const [n, owner] of owners.entries()) expect(await idsOf(owner)).toEqual([ids[n]]);
      const mine = (await publicKeysIn(contract().other)).filter(({ id }) => ids.includes(id));
      expect(mine).toHaveLength(ids.length);
    });

    test('any record is returned unchanged, also after changes', async () => {
      const { one, other } = contract();
      const text = anyText({ maxLength: 60 });
      await fc.assert(
        fc.asyncProperty(text, text, text, async (tail, name, origin) => {
          const owner = person(fresh() + tail);
          const key = await added({ name, origin, owner });
          expect(await other.publicKeys.of(owner)).toEqual([key]);
          await other.publicKeys.touch(key.id, NOW);
          expect(await other.publicKeys.signOut(key.id, NOW + 1)).toBe(true);
          const changed = { ...key, used_at: NOW, signed_out_at: NOW + 1 };
          expect(await one.publicKeys.get(key.id)).toEqual(changed);
          expect(await one.publicKeys.of(owner)).toEqual([changed]);
        }),
        { numRuns: 30 },
      );
    });

    test('the keys of each owner are listed together, the oldest first', async () => {
      const { other } = contract();
      const [a, b] = [person(), person()];
      const made: Record<string, number> = {};
      const ages = [2, 30, 1, 100, 20, 3].map((age) => NOW + age);
      for (const created_at of ages) {
        for (const owner of [a, b]) made[(await added({ owner, created_at })).id] = created_at;
      }
      const oldestFirst = ages.toSorted((one, two) => one - two);
      for (const owner of [a, b]) {
        expect((await idsOf(owner)).map((id) => made[id])).toEqual(oldestFirst);
      }
      const listed = (await publicKeysIn(other)).filter(({ id }) => id in made);
      const owners = listed.map(({ owner }) => owner.id);
      expect(owners.filter((id, n) => id !== owners[n - 1])).toHaveLength(2);
      expect(listed.map(({ created_at }) => created_at)).toEqual([...oldestFirst, ...oldestFirst]);
    });

    test('a list in slices has each record once, even if records are added meanwhile', async () => {
      const { one, other } = contract();
      const ids = new Set<string>();
      await Promise.all(Array.from({ length: SLICE + 3 }, async () => ids.add((await added()).id)));
      const found: string[] = [];
      for await (const slice of other.publicKeys.list()) {
        expect(slice.length).toBeLessThanOrEqual(SLICE);
        found.push(...slice.map(({ id }) => id));
        await one.publicKeys.add(somePublicKey(fresh()), MOST);
      }
      expect(found.filter((id) => ids.has(id)).toSorted()).toEqual([...ids].toSorted());
      for (const id of ids) await one.publicKeys.remove(id);
    });

    test('the last use is noted to the minute, and never moves backwards', async () => {
      const { one, other } = contract();
      const key = await added();
      const noted: (number | undefined)[] = [];
      const uses = [0, MINUTE - 1, MINUTE, 5, 10 * MINUTE, 9 * MINUTE, -MINUTE, 11 * MINUTE];
      for (const use of uses) {
        await other.publicKeys.touch(key.id, NOW + use);
        noted.push((await one.publicKeys.get(key.id))?.used_at);
      }
      expect(noted).toEqual(
        [0, 0, MINUTE, MINUTE, 10 * MINUTE, 10 * MINUTE, 10 * MINUTE, 11 * MINUTE].map(
          (use) => NOW + use,
        ),
      );
    });

    test('RFC 7486 section 6.3: the time of a sign-out never moves backwards, whatever else happens at once', async () => {
      const { one, other } = contract();
      const key = await added();
      const ends: (number | undefined)[] = [];
      for (const at of [20, 50, 30, 50, 0, 90]) {
        expect(await one.publicKeys.signOut(key.id, NOW + at)).toBe(true);
        ends.push((await other.publicKeys.get(key.id))?.signed_out_at);
      }
      expect(ends).toEqual([20, 50, 50, 50, 50, 90].map((at) => NOW + at));
      for (let round = 0; round < 10; round += 1) {
        const { id } = await added();
        const at = [70, 20, 50, 10, 90, 30];
        const done = await Promise.all([
          ...at.map((end, n) => (n % 2 === 0 ? one : other).publicKeys.signOut(id, NOW + end)),
          ...at.map((use) => other.publicKeys.touch(id, NOW + use * MINUTE)),
        ]);
        expect(done.slice(0, at.length)).toEqual(at.map(() => true));
        expect(await one.publicKeys.get(id)).toMatchObject({
          signed_out_at: NOW + 90,
          used_at: NOW + 90 * MINUTE,
        });
      }
    });

    test('a removed key is gone, and neither a use nor a signing out brings it back', async () => {
      const { one, other } = contract();
      const key = await added();
      expect(await other.publicKeys.remove(key.id)).toBe(true);
      await one.publicKeys.touch(key.id, NOW);
      expect(await one.publicKeys.signOut(key.id, NOW)).toBe(false);
      expect(await one.publicKeys.get(key.id)).toBeUndefined();
      expect(await one.publicKeys.of(key.owner)).toEqual([]);
      expect(await publicKeysIn(one)).not.toContainEqual(expect.objectContaining({ id: key.id }));
      expect(await one.publicKeys.remove(key.id)).toBe(false);
    });

    test('a key that is used, signed out and removed at once stays removed', async () => {
      const { one, other } = contract();
      for (let round = 0; round < 20; round += 1) {
        const { id, owner } = await added();
        const uses = Array.from({ length: 10 }, (_, n) => NOW + n * MINUTE);
        const [removed] = await Promise.all([
          other.publicKeys.remove(id),
          one.publicKeys.signOut(id, NOW),
          ...uses.map((at, n) => (n % 2 === 0 ? one : other).publicKeys.touch(id, at)),
        ]);
        expect(removed).toBe(true);
        expect(await one.publicKeys.get(id)).toBeUndefined();
        expect(await idsOf(owner)).toEqual([]);
      }
    });

    test('another owner can add a removed key', async () => {
      const { one, other } = contract();
      const key = await added();
      const next = { ...key, owner: person(), created_at: NOW + 5 };
      await one.publicKeys.remove(key.id);
      expect(await other.publicKeys.add(next, MOST)).toBe('added');
      expect(await idsOf(key.owner)).toEqual([]);
      expect(await idsOf(next.owner)).toEqual([key.id]);
    });

    test('a record stays until it is removed, and then leaves no row', async () => {
      const { one, store } = contract();
      await store.passSeconds(365 * 86_400);
      while ((await one.sweep()) > 0);
      const before = await store.countAll();
      const key = await added();
      await store.passSeconds(365 * 86_400);
      while ((await one.sweep()) > 0);
      expect(await one.publicKeys.get(key.id)).toEqual(key);
      await one.publicKeys.remove(key.id);
      expect(await store.countAll()).toBe(before);
    });
  });
}
