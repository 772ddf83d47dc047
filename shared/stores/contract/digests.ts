import { describe, expect, test } from '@jest/globals';
import type { DigestRow, PersonRecord } from '../people.ts';
import { fresh, someDigest, somePerson } from './samples.ts';
import type { Contract } from './store-under-test.ts';

/** What Digest keeps of people, a row for each realm and hash (RFC 7616 section 3.4). */
export function digestsContract(contract: () => Contract): void {
  describe('rows of Digest', () => {
    const added = async (...digests: DigestRow[]) => {
      const person = somePerson(fresh());
      expect(await contract().one.people.add(person, digests)).toBe(true);
      return person;
    };
    const byName = (row: DigestRow, { name }: PersonRecord) =>
      contract().other.people.getDigest(row.realm, row.hash, { name });
    const byUserhash = ({ realm, hash, userhash }: DigestRow) =>
      contract().other.people.getDigest(realm, hash, { userhash });
    const rowsOf = async ({ id }: PersonRecord) =>
      new Set((await contract().other.people.getWhole(id))?.digests);
    const next = (person: PersonRecord) => ({ ...person, version: person.version + 1 });

    test('each is found by name and by userhash, and no other', async () => {
      const { other } = contract();
      const rows = [
        someDigest('one'),
        someDigest('one', { hash: 'MD5' }),
        someDigest('a realm: (with "all") \u0000\n é 😀'),
        someDigest('__proto__'),
        someDigest(''),
      ];
      const person = await added(...rows);
      await added(someDigest('two'));
      for (const row of rows) {
        expect(await byName(row, person)).toEqual({ person, ha1: row.ha1 });
        expect(await byUserhash(row)).toEqual({ person, ha1: row.ha1 });
        expect(await byUserhash({ ...row, realm: 'two' })).toBeUndefined();
        expect(await byUserhash({ ...row, hash: 'SHA-512-256' })).toBeUndefined();
        expect(await byUserhash({ ...row, userhash: row.userhash.slice(1) })).toBeUndefined();
      }
      for (const near of ['two', 'One', 'one ', 'on', 'constructor']) {
        expect(await byName(someDigest(near), person)).toBeUndefined();
      }
      expect(await byName(someDigest('one'), somePerson(person.id))).toBeUndefined();
      expect(await byName(someDigest('one'), somePerson('nobody'))).toBeUndefined();
      expect(await other.people.getWhole(person.id)).toMatchObject({ person });
      expect(await rowsOf(person)).toEqual(new Set(rows));
      expect(await other.people.getWhole(fresh())).toBeUndefined();
    });

    test('who is refused keeps none, and whoever has a userhash of somebody else is refused', async () => {
      const { one, other } = contract();
      const [row, free] = [someDigest('one'), someDigest('one', { hash: 'MD5' })];
      const person = await added(row);
      const impostor = somePerson(fresh());
      const sameHash = { ...someDigest('one'), userhash: row.userhash };
      expect(await one.people.add(impostor, [free, sameHash])).toBe(false);
      expect(await one.people.add({ ...impostor, name: person.name }, [free])).toBe(false);
      expect(await one.people.add({ ...impostor, id: person.id }, [free])).toBe(false);
      expect(await other.people.get(impostor.id)).toBeUndefined();
      expect(await byUserhash(free)).toBeUndefined();
      expect(await rowsOf(person)).toEqual(new Set([row]));
      expect(await one.people.add(impostor, [free])).toBe(true);
      expect(await one.people.replace(next(impostor), [sameHash])).toBe(false);
      expect(await rowsOf(impostor)).toEqual(new Set([free]));
    });

    test('a change without rows keeps them; with rows nothing of those before is found', async () => {
      const { one } = contract();
      const [kept, left] = [someDigest('one'), someDigest('two')];
      const person = await added(kept, left);
      const disabled = { ...next(person), disabled: true };
      expect(await one.people.replace(disabled)).toBe(true);
      expect(await byName(kept, person)).toEqual({ person: disabled, ha1: kept.ha1 });
      expect(await rowsOf(person)).toEqual(new Set([kept, left]));
      const changed = next(disabled);
      const [other, more] = [{ ...kept, ha1: fresh() }, someDigest('three')];
      expect(await one.people.replace(changed, [other, more])).toBe(true);
      expect(await byName(kept, person)).toEqual({ person: changed, ha1: other.ha1 });
      expect(await byUserhash(kept)).toEqual({ person: changed, ha1: other.ha1 });
      expect(await byUserhash(left)).toBeUndefined();
      expect(await byName(left, person)).toBeUndefined();
      expect(await byUserhash(more)).toEqual({ person: changed, ha1: more.ha1 });
      const heir = await added(left);
      expect(await byUserhash(left)).toMatchObject({ person: heir });
      expect(await one.people.replace(next(changed), [])).toBe(true);
      expect(await rowsOf(person)).toEqual(new Set());
      expect(await byUserhash(kept)).toBeUndefined();
    });

    test('a change of another version, or of nobody, touches no row', async () => {
      const { one } = contract();
      const [row, free] = [someDigest('one'), someDigest('one')];
      const person = await added(row);
      for (const version of [-1, 0, 2]) {
        expect(await one.people.replace({ ...person, version }, [free])).toBe(false);
      }
      expect(await one.people.replace({ ...somePerson(fresh()), version: 1 }, [free])).toBe(false);
      expect(await rowsOf(person)).toEqual(new Set([row]));
      expect(await byUserhash(free)).toBeUndefined();
    });

    test('a new password while it is asked for: record and rows are of one password, always', async () => {
      const { one, other } = contract();
      const realms = Array.from({ length: 50 }, (_, n) => `realm ${n}`);
      const rows = (round: number) =>
        realms.map((realm) => ({ ...someDigest(realm), ha1: `${round}` }));
      const first = { ...somePerson(fresh()), password_hash: '0' };
      expect(await one.people.add(first, rows(0))).toBe(true);
      for (let round = 1; round <= 20; round++) {
        const person = { ...first, password_hash: `${round}`, version: round };
        const [done, ...found] = await Promise.all([
          one.people.replace(person, rows(round)),
          ...[...realms.slice(0, 3), ...realms.slice(-3)].map((realm) =>
            other.people.getDigest(realm, 'SHA-256', { name: first.name }),
          ),
        ]);
        const whole = await other.people.getWhole(first.id);
        expect(done).toBe(true);
        expect(new Set(whole?.digests.map(({ ha1 }) => ha1))).toEqual(new Set([`${round}`]));
        for (const each of found) expect(each?.ha1).toBe(each?.person.password_hash);
      }
    });

    test('a thousand realms: the record is as long as with none, and a question is answered with one row', async () => {
      const { other } = contract();
      const rows = Array.from({ length: 1000 }, (_, n) => someDigest(`realm ${n}`));
      const person = await added(...rows);
      const bytes = JSON.stringify(person).length;
      expect(JSON.stringify(await other.people.getByName(person.name))).toHaveLength(bytes);
      expect(JSON.stringify(await byName(someDigest('realm 7'), person)).length).toBeLessThan(
        bytes + 100,
      );
      const byRealm = (given: Iterable<DigestRow>) =>
        new Map([...given].map((row) => [row.realm, row]));
      expect(byRealm(await rowsOf(person))).toEqual(byRealm(rows));
    });
  });
}
