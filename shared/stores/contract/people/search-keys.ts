import { describe, expect, test } from '@jest/globals';
import type { PersonRecord } from '../../people/people.ts';
import { fresh, somePerson } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

/** Search keys find people among others: several may have the same. */
export function searchKeysContract(contract: () => Contract): void {
  describe('search keys of people', () => {
    const added = async (...search_keys: string[]) => {
      const person = { ...somePerson(fresh()), search_keys };
      expect(await contract().one.people.add(person)).toBe(true);
      return person;
    };
    const found = async (key: string) =>
      (await contract().other.people.search(key)).map(({ id }) => id).toSorted();
    const ids = (...people: readonly PersonRecord[]) => people.map(({ id }) => id).toSorted();

    test('a search returns the whole record of all people with a key, and of no others', async () => {
      const [shared, own] = [fresh(), fresh()];
      const [one, two] = [await added(shared, own), await added(shared)];
      expect(await found(shared)).toEqual(ids(one, two));
      expect(await contract().other.people.search(own)).toEqual([one]);
      for (const near of [fresh(), `${own} `, own.slice(1), own.slice(0, -1), `${own}%`, '']) {
        expect(await found(near)).toEqual([]);
      }
    });

    test('odd keys differ from keys with the same beginning', async () => {
      const base = fresh();
      const odd = ['', '\u0001', ' ', '@', 'a', 'é', '😀', '\uffff', '*', "'"];
      for (const tail of odd) {
        const person = await added(base + tail);
        expect(await found(base + tail)).toEqual(ids(person));
      }
    });

    test('a search by the beginning of keys finds each person once', async () => {
      const { people } = contract().other;
      const base = fresh();
      const [one, two] = [await added(`${base}a`, `${base}b`), await added(`${base}\u{1F600}`)];
      await added(base.slice(0, -1), `x${base}`);
      const beginning = async (start: string) =>
        (await people.searchBeginning(start)).map(({ id }) => id).toSorted();
      expect(await beginning(base)).toEqual(ids(one, two));
      expect(await beginning(`${base}b`)).toEqual(ids(one));
      expect(await beginning(`${base}%`)).toEqual([]);
      expect(await beginning(`${base}_`)).toEqual([]);
    });

    test('a repeated key finds the person once', async () => {
      const key = fresh();
      expect(await found(key)).toEqual([]);
      expect(await found(key)).toEqual([]);
      const person = await added(key, key);
      expect(await found(key)).toEqual(ids(person));
    });

    test('a change replaces the keys, and a refused change does not', async () => {
      const { one } = contract();
      const [before, after] = [fresh(), fresh()];
      const person = await added(before);
      const next = { ...person, search_keys: [after], version: person.version + 1 };
      expect(await one.people.replace({ ...next, version: 5 })).toBe(false);
      expect([await found(before), await found(after)]).toEqual([ids(person), []]);
      expect(await one.people.replace(next)).toBe(true);
      expect([await found(before), await found(after)]).toEqual([[], ids(person)]);
      const { search_keys: _, ...none } = next;
      expect(await one.people.replace({ ...none, version: next.version + 1 })).toBe(true);
      expect(await found(after)).toEqual([]);
    });

    test('a person with an unshared key is refused while another person has the key', async () => {
      const { one, other } = contract();
      const key = fresh();
      const alone = (store: typeof one) =>
        store.people.add({ ...somePerson(fresh()), search_keys: [key] }, [], 'refused', {
          unshared: key,
        });
      // Keys with the same beginning are different keys.
      await added(`${key}x`, key.slice(0, -1));
      expect(await alone(one)).toBe(true);
      expect(await alone(other)).toBe(false);
      const [holder] = await other.people.search(key);
      const namesake = await added(key);
      if (holder === undefined) throw new Error('nobody is found');
      expect(await one.people.remove(holder)).toBe(true);
      expect(await alone(one)).toBe(false);
      expect(await one.people.remove(namesake)).toBe(true);
      expect(await alone(other)).toBe(true);
    });

    test('after ten changes at once the keys are those of the stored record', async () => {
      const { one, other } = contract();
      const person = await added(fresh());
      const keys = Array.from({ length: 10 }, () => fresh());
      const done = await Promise.all(
        keys.map((key, n) =>
          (n % 2 ? one : other).people.replace({ ...person, search_keys: [key], version: 1 }),
        ),
      );
      expect(done.filter(Boolean)).toHaveLength(1);
      const finding: boolean[] = [];
      for (const key of keys) finding.push((await found(key)).length === 1);
      expect(finding).toEqual(done);
    });

    test('a person who is removed, or was not added, is not found', async () => {
      const { one } = contract();
      const key = fresh();
      const person = await added(key);
      const impostor = { ...somePerson(fresh()), name: person.name, search_keys: [key] };
      expect(await one.people.add(impostor)).toBe(false);
      expect(await found(key)).toEqual(ids(person));
      expect(await one.people.remove(person)).toBe(true);
      expect(await found(key)).toEqual([]);
    });
  });
}
