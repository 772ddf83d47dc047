import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import type { PasskeyRecord } from '../../credentials/passkeys.ts';
import { SLICE } from '../../sql/rows.ts';
import { fresh, passkeysIn, somePasskey } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';
import { passkeyUsesContract } from './passkey-uses.ts';

const NOW = 1_800_000_000_000;
const MOST = 20;
/** Characters of the longest credential ID in base64url: 1,023 octets (WebAuthn section 4). */
const LONGEST_ID = 1364;

export function passkeysContract(contract: () => Contract): void {
  passkeyUsesContract(contract);

  describe('passkeys', () => {
    const added = async (changes: Partial<PasskeyRecord> = {}) => {
      const passkey = { ...somePasskey(fresh()), ...changes };
      expect(await contract().one.passkeys.add(passkey, MOST)).toBe('added');
      return passkey;
    };
    const idsOf = async (accountId: string) =>
      (await contract().other.passkeys.of(accountId)).map(({ id }) => id);
    /** Returns one or the other store in turn, for ten attempts at once. */
    const inTurn = (n: number) => (n % 2 === 0 ? contract().one : contract().other).passkeys;
    const tenAtOnce = <T>(attempt: (n: number) => Promise<T>) =>
      Promise.all(Array.from({ length: 10 }, (_, n) => attempt(n)));

    test('a passkey is kept with all its members, found by its id and its person, and listed', async () => {
      const { other } = contract();
      for (const passkey of [
        await added(),
        await added({
          id: fresh().padEnd(LONGEST_ID, 'x'),
          counter: 4_294_967_295,
          backedUp: false,
          name: '',
          used_at: NOW,
          refused_at: NOW + 1,
        }),
      ]) {
        expect(await other.passkeys.get(passkey.id)).toEqual(passkey);
        expect(await other.passkeys.of(passkey.accountId)).toEqual([passkey]);
        expect(await passkeysIn(other)).toContainEqual(passkey);
      }
    });

    test('a taken id is refused for any person, and the first passkey stays', async () => {
      const { one, other } = contract();
      const passkey = await added();
      const another = { ...passkey, accountId: fresh(), created_at: 1 };
      expect(await other.passkeys.add(another, MOST)).toBe('taken');
      expect(await other.passkeys.add(another, 0)).toBe('taken');
      expect(await other.passkeys.add(passkey, 1)).toBe('taken');
      expect(await one.passkeys.get(passkey.id)).toEqual(passkey);
      expect(await idsOf(passkey.accountId)).toEqual([passkey.id]);
      expect(await idsOf(another.accountId)).toEqual([]);
    });

    test('long ids that differ in their last character are different', async () => {
      const accountId = fresh();
      const base = fresh().padEnd(LONGEST_ID - 1, 'A');
      const [a, b] = [await added({ id: `${base}A`, accountId }), await added({ id: `${base}a` })];
      expect(await contract().other.passkeys.get(a.id)).toEqual(a);
      expect(await contract().other.passkeys.get(b.id)).toEqual(b);
      expect(await contract().other.passkeys.get(base)).toBeUndefined();
      expect(await idsOf(accountId)).toEqual([a.id]);
    });

    test('a person has at most the allowed number of passkeys, and can add one again after a removal', async () => {
      const { one, other } = contract();
      const accountId = fresh();
      const ids: string[] = [];
      for (let n = 0; n < MOST; n += 1) {
        ids.push((await added({ accountId, created_at: NOW + n })).id);
      }
      const next = { ...somePasskey(fresh()), accountId, created_at: NOW + MOST };
      expect(await other.passkeys.add(next, MOST)).toBe('full');
      expect(await one.passkeys.get(next.id)).toBeUndefined();
      expect(await idsOf(accountId)).toEqual(ids);
      await added({ accountId: `${accountId} ` });
      expect(await one.passkeys.remove(accountId, ids[3] ?? '', 0)).toBe('removed');
      expect(await other.passkeys.add(next, MOST)).toBe('added');
      expect(await idsOf(accountId)).toEqual([...ids.filter((_, n) => n !== 3), next.id]);
      expect(await other.passkeys.add({ ...next, id: fresh() }, MOST)).toBe('full');
      expect(await other.passkeys.add({ ...next, id: fresh() }, MOST + 1)).toBe('added');
    });

    test('if ten keys are added at once for the last place, one succeeds', async () => {
      for (let round = 0; round < 5; round += 1) {
        const accountId = fresh();
        for (let n = 1; n < MOST; n += 1) await added({ accountId });
        const outcomes = await tenAtOnce((n) =>
          inTurn(n).add({ ...somePasskey(fresh()), accountId }, MOST),
        );
        expect(outcomes.toSorted()).toEqual(['added', ...Array<string>(9).fill('full')]);
        expect(await idsOf(accountId)).toHaveLength(MOST);
      }
    });

    test('if ten people add one id at once, one succeeds, and the others have no row', async () => {
      for (let round = 0; round < 5; round += 1) {
        const id = fresh();
        const people = Array.from({ length: 10 }, fresh);
        const outcomes = await tenAtOnce((n) =>
          inTurn(n).add({ ...somePasskey(id), accountId: people[n] ?? '' }, MOST),
        );
        expect(outcomes.toSorted()).toEqual(['added', ...Array<string>(9).fill('taken')]);
        const winner = people[outcomes.indexOf('added')];
        expect(await contract().one.passkeys.get(id)).toMatchObject({ accountId: winner });
        for (const person of people) {
          expect(await idsOf(person)).toEqual(person === winner ? [id] : []);
        }
      }
    });

    test('a passkey with an unknown id, however odd, is not found by any operation', async () => {
      const { passkeys } = contract().one;
      const { accountId, id } = await added({ id: `${fresh()}Ab` });
      const before = await passkeysIn(contract().one);
      const use = { counter: 1, backedUp: true, at: NOW };
      for (const odd of [
        '',
        '*',
        '__proto__',
        "' OR 1=1 --",
        '\u0000',
        'x'.repeat(10_000),
        id.toLowerCase(),
        id.slice(0, -1),
        `${id} `,
        `${id}%`,
      ]) {
        expect(await passkeys.get(odd)).toBeUndefined();
        expect(await passkeys.use(odd, use)).toBe('gone');
        expect(await passkeys.rename(accountId, odd, 'Phone')).toBe(false);
        expect(await passkeys.remove(accountId, odd, 0)).toBe('gone');
        expect(await passkeys.of(odd)).toEqual([]);
        await passkeys.removeAll(odd);
      }
      expect(await passkeysIn(contract().one)).toEqual(before);
    });

    test('people with odd ids have only their own passkeys', async () => {
      const base = fresh();
      const tails = ['', ' ', '!', '"', '"]', '\\', ' 0', '%', '*', '\u0000', "'; --", '{a}', '😀'];
      // A person without a suffix in the id is in the list twice.
      const people = tails.flatMap((tail) => [base + tail, tail + base]).slice(1);
      const ids: string[] = [];
      for (const accountId of people) ids.push((await added({ accountId })).id);
      for (const [n, person] of people.entries()) expect(await idsOf(person)).toEqual([ids[n]]);
      const removed = people[5] ?? '';
      await contract().one.passkeys.removeAll(removed);
      for (const [n, person] of people.entries()) {
        expect(await idsOf(person)).toEqual(person === removed ? [] : [ids[n]]);
      }
    });

    test('any record is returned unchanged, also after changes', async () => {
      const { one, other } = contract();
      const text = anyText({ maxLength: 60 });
      await fc.assert(
        fc.asyncProperty(text, text, text, text, async (tail, name, renamed, publicKey) => {
          const accountId = fresh() + tail;
          const passkey = await added({ name, publicKey, accountId });
          expect(await other.passkeys.of(accountId)).toEqual([passkey]);
          expect(await other.passkeys.rename(accountId, passkey.id, renamed)).toBe(true);
          const use = { counter: 8, backedUp: false, at: NOW };
          expect(await other.passkeys.use(passkey.id, use)).toBe('used');
          const { at: used_at, ...used } = use;
          const changed = { ...passkey, ...used, used_at, name: renamed };
          expect(await one.passkeys.get(passkey.id)).toEqual(changed);
          expect(await one.passkeys.of(accountId)).toEqual([changed]);
        }),
        { numRuns: 30 },
      );
    });

    test('the passkeys of each person are listed together, the oldest first', async () => {
      const { other } = contract();
      const [a, b] = [fresh(), fresh()];
      const made: Record<string, number> = {};
      const ages = [2, 30, 1, 100, 20, 3].map((age) => NOW + age);
      for (const created_at of ages) {
        for (const accountId of [a, b]) {
          made[(await added({ accountId, created_at })).id] = created_at;
        }
      }
      const oldestFirst = ages.toSorted((one, two) => one - two);
      for (const accountId of [a, b]) {
        expect((await idsOf(accountId)).map((id) => made[id])).toEqual(oldestFirst);
      }
      const listed = (await passkeysIn(other)).filter(({ id }) => id in made);
      const people = listed.map(({ accountId }) => accountId);
      expect(people.filter((id, n) => id !== people[n - 1])).toHaveLength(2);
      expect(listed.map(({ created_at }) => created_at)).toEqual([...oldestFirst, ...oldestFirst]);
    });

    test('a list in slices has each record once, even if records are added meanwhile', async () => {
      const { one, other } = contract();
      const all = await Promise.all(Array.from({ length: SLICE + 3 }, () => added()));
      const ids = new Set(all.map(({ id }) => id));
      const found: string[] = [];
      for await (const slice of other.passkeys.list()) {
        expect(slice.length).toBeLessThanOrEqual(SLICE);
        found.push(...slice.map(({ id }) => id));
        await one.passkeys.add(somePasskey(fresh()), MOST);
      }
      expect(found.filter((id) => ids.has(id)).toSorted()).toEqual([...ids].toSorted());
      for (const { accountId } of all) await one.passkeys.removeAll(accountId);
    });

    test('only their own person renames or removes a passkey', async () => {
      const { one, other } = contract();
      const passkey = await added();
      const { id, accountId } = passkey;
      const another = (await added()).accountId;
      for (const stranger of [another, fresh(), '', accountId.toUpperCase(), `${accountId} `]) {
        expect(await other.passkeys.rename(stranger, id, 'Mine')).toBe(false);
        expect(await other.passkeys.remove(stranger, id, 0)).toBe('gone');
        expect(await other.passkeys.remove(stranger, id, 9)).toBe('gone');
      }
      expect(await one.passkeys.get(id)).toEqual(passkey);
      expect(await other.passkeys.rename(accountId, id, 'Phone')).toBe(true);
      expect(await other.passkeys.rename(accountId, id, 'Phone')).toBe(true);
      expect(await one.passkeys.get(id)).toEqual({ ...passkey, name: 'Phone' });
      expect(await other.passkeys.remove(accountId, id, 0)).toBe('removed');
      expect(await one.passkeys.get(id)).toBeUndefined();
    });

    test('a removal that would leave too few passkeys is refused', async () => {
      const { one, other } = contract();
      const accountId = fresh();
      const [a, b] = [
        (await added({ accountId })).id,
        (await added({ accountId, created_at: NOW + 1 })).id,
      ];
      expect(await other.passkeys.remove(accountId, a, 2)).toBe('last');
      expect(await other.passkeys.remove(accountId, a, 1)).toBe('removed');
      expect(await one.passkeys.remove(accountId, b, 1)).toBe('last');
      expect(await one.passkeys.remove(accountId, a, 1)).toBe('gone');
      expect(await idsOf(accountId)).toEqual([b]);
      expect(await one.passkeys.remove(accountId, b, 0)).toBe('removed');
      expect(await idsOf(accountId)).toEqual([]);
    });

    test('ten removals of different passkeys at once leave the least number', async () => {
      for (let round = 0; round < 5; round += 1) {
        const accountId = fresh();
        const ids = (await tenAtOnce(() => added({ accountId }))).map(({ id }) => id);
        const outcomes = await tenAtOnce((n) => inTurn(n).remove(accountId, ids[n] ?? '', 1));
        expect(outcomes.toSorted()).toEqual(['last', ...Array<string>(9).fill('removed')]);
        expect(await idsOf(accountId)).toEqual([ids[outcomes.indexOf('last')]]);
      }
    });

    test('if ten callers remove one passkey at once, one succeeds', async () => {
      const { accountId, id } = await added();
      await added({ accountId });
      const outcomes = await tenAtOnce((n) => inTurn(n).remove(accountId, id, 1));
      const removed = outcomes.filter((outcome) => outcome === 'removed');
      expect(removed).toHaveLength(1);
      expect(await idsOf(accountId)).toHaveLength(1);
    });

    test('removing all passkeys of a person removes no other passkey', async () => {
      const { one, other } = contract();
      const accountId = fresh();
      for (let n = 0; n < 3; n += 1) await added({ accountId });
      const another = await added({ accountId: `${accountId}x` });
      await other.passkeys.removeAll(accountId);
      await other.passkeys.removeAll(accountId);
      expect(await one.passkeys.of(accountId)).toEqual([]);
      expect(await one.passkeys.get(another.id)).toEqual(another);
      expect(await passkeysIn(one)).not.toContainEqual(expect.objectContaining({ accountId }));
    });

    test('a removed passkey is gone, and neither a use nor another name brings it back', async () => {
      const { one, other } = contract();
      const use = { counter: 9, backedUp: true, at: NOW };
      for (const removal of [
        ({ accountId, id }: PasskeyRecord) => other.passkeys.remove(accountId, id, 0),
        ({ accountId }: PasskeyRecord) => other.passkeys.removeAll(accountId),
      ]) {
        const passkey = await added();
        const { accountId, id } = passkey;
        await removal(passkey);
        expect(await one.passkeys.use(id, use)).toBe('gone');
        expect(await one.passkeys.rename(accountId, id, 'Phone')).toBe(false);
        expect(await one.passkeys.remove(accountId, id, 0)).toBe('gone');
        expect(await one.passkeys.get(id)).toBeUndefined();
        expect(await one.passkeys.of(accountId)).toEqual([]);
        expect(await passkeysIn(one)).not.toContainEqual(expect.objectContaining({ id }));
      }
    });

    test('a passkey that is used, renamed and removed at once stays removed', async () => {
      for (let round = 0; round < 20; round += 1) {
        const { id, accountId } = await added({ counter: 0 });
        const { passkeys } = contract().one;
        await Promise.all([
          round % 2 === 0 ? passkeys.remove(accountId, id, 0) : passkeys.removeAll(accountId),
          ...Array.from({ length: 10 }, (_, n) =>
            inTurn(n).use(id, { counter: n, backedUp: true, at: NOW }),
          ),
          ...Array.from({ length: 10 }, (_, n) => inTurn(n).rename(accountId, id, `name ${n}`)),
        ]);
        expect(await passkeys.get(id)).toBeUndefined();
        expect(await idsOf(accountId)).toEqual([]);
      }
    });

    test('another person can add a removed passkey', async () => {
      const { one, other } = contract();
      const passkey = await added();
      const next = { ...passkey, accountId: fresh(), created_at: NOW + 5 };
      await one.passkeys.remove(passkey.accountId, passkey.id, 0);
      expect(await other.passkeys.add(next, MOST)).toBe('added');
      expect(await idsOf(passkey.accountId)).toEqual([]);
      expect(await idsOf(next.accountId)).toEqual([passkey.id]);
    });

    test('a record stays until it is removed, and then leaves no row', async () => {
      const { one, store } = contract();
      await store.passSeconds(365 * 86_400);
      while ((await one.sweep()) > 0);
      const before = await store.countAll();
      const [passkey, another] = [await added(), await added()];
      await store.passSeconds(365 * 86_400);
      while ((await one.sweep()) > 0);
      expect(await one.passkeys.get(passkey.id)).toEqual(passkey);
      await one.passkeys.remove(passkey.accountId, passkey.id, 0);
      await one.passkeys.removeAll(another.accountId);
      expect(await store.countAll()).toBe(before);
    });
  });
}
