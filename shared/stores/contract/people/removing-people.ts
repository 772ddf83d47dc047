import { describe, expect, test } from '@jest/globals';
import type { PersonRecord } from '../../people/people.ts';
import type { Stores } from '../../stores.ts';
import { everybodyIn, fresh, somePerson, someVerifier } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

/** Removing a person removes their rows, and remembers that the name is a former one. */
export function removingPeopleContract(contract: () => Contract): void {
  describe('removing people', () => {
    const added = async (changes: Partial<PersonRecord> = {}) => {
      const person = { ...somePerson(fresh()), ...changes };
      expect(await contract().one.people.add(person)).toBe(true);
      return person;
    };
    const next = (person: PersonRecord) => ({ ...person, version: person.version + 1 });

    test('a removed person is not found in any way, and their aliases and handles are free for others', async () => {
      const { one, other } = contract();
      const [alias, row, unnamed] = [fresh(), someVerifier('one'), someVerifier('two')];
      const person = { ...somePerson(fresh()), aliases: [alias] };
      expect(await one.people.add(person, [row, unnamed])).toBe(true);
      const byName = { name: person.name };
      expect(await other.people.getVerifier(row.kind, row.realm, byName)).toBeDefined();
      expect(await one.people.remove(person)).toBe(true);
      for (const { people } of [one, other]) {
        expect(await people.get(person.id)).toBeUndefined();
        expect(await people.getByName(person.name)).toBeUndefined();
        expect(await people.getByAlias(alias)).toBeUndefined();
        expect(await people.getWhole(person.id)).toBeUndefined();
        for (const { kind, realm, handle } of [row, unnamed]) {
          expect(await people.getVerifier(kind, realm, byName)).toBeUndefined();
          expect(await people.getVerifier(kind, realm, { handle })).toBeUndefined();
        }
      }
      expect(await everybodyIn(other)).not.toContainEqual(person);
      const heir = { ...somePerson(fresh()), aliases: [alias] };
      expect(await other.people.add(heir, [row])).toBe(true);
      expect(await one.people.getByAlias(alias)).toEqual(heir);
      expect((await one.people.getVerifier(row.kind, row.realm, row))?.person).toEqual(heir);
    });

    test('removing a person does not change other people', async () => {
      const { one, other } = contract();
      const [alias, row] = [fresh(), someVerifier('one')];
      const bystander = { ...somePerson(fresh()), aliases: [alias] };
      await one.people.add(bystander, [row]);
      expect(await one.people.remove(await added({ aliases: [fresh()] }))).toBe(true);
      expect(await other.people.getByAlias(alias)).toEqual(bystander);
      expect(await other.people.getByName(bystander.name)).toEqual(bystander);
      expect((await other.people.getVerifier(row.kind, row.realm, row))?.person).toEqual(bystander);
    });

    test('one administrator stays if each leaves at the same time only while another stays', async () => {
      const { one, other } = contract();
      const list = { group: fresh() };
      const made = { admin: true, profile: { groups: [list.group] } };
      const people = await Promise.all(Array.from({ length: 4 }, () => added(made)));
      const isLast = new Error('the last');
      /** Disables, removes or demotes the person, unless no other stays. */
      const leaves = (person: PersonRecord, n: number) =>
        (n % 2 === 0 ? one : other).together(async (stores) => {
          const { admin: _, ...demoted } = next(person);
          const changed =
            n === 0
              ? stores.people.remove(person)
              : stores.people.replace(n === 1 ? demoted : { ...next(person), disabled: true });
          expect(await changed).toBe(true);
          const left = await stores.people.page({ list, limit: 10 });
          if (left.every(({ admin, disabled }) => !admin || disabled)) throw isLast;
        });
      const outcomes = await Promise.allSettled(people.map(leaves));
      const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
      expect(refused).toEqual([isLast]);
      const left = await other.people.page({ list, limit: 10 });
      expect(left.filter(({ admin, disabled }) => admin && !disabled)).toHaveLength(1);
    });

    test('removing another version of a person, or an absent person, does nothing', async () => {
      const { one, other } = contract();
      const person = await added({ aliases: [fresh()] });
      expect(await one.people.replace(next(person))).toBe(true);
      for (const version of [-1, 0, 2, Number.NaN]) {
        expect(await other.people.remove({ id: person.id, version })).toBe(false);
      }
      for (const id of [fresh(), person.name, '%', `${person.id} `]) {
        expect(await other.people.remove({ id, version: 0 })).toBe(false);
      }
      expect(await one.people.get(person.id)).toEqual(next(person));
      expect(await one.people.isFormerName(person.name)).toBe(false);
      expect(await other.people.remove(next(person))).toBe(true);
      expect(await other.people.remove(next(person))).toBe(false);
    });

    test('the name of a removed person is given again only on request', async () => {
      const { one, other } = contract();
      const person = await added();
      const heir = somePerson(person.name);
      expect(await one.people.isFormerName(person.name)).toBe(false);
      await one.people.remove(person);
      expect(await other.people.isFormerName(person.name)).toBe(true);
      expect(await other.people.add(heir)).toBe(false);
      expect(await other.people.add(person, [], 'refused')).toBe(false);
      expect(await other.people.get(heir.id)).toBeUndefined();
      expect(await other.people.add(heir, [], 'reused')).toBe(true);
      expect(await one.people.getByName(person.name)).toEqual(heir);
      expect(await one.people.isFormerName(person.name)).toBe(false);
      expect(await one.people.add(somePerson(person.name), [], 'reused')).toBe(false);
      expect(await one.people.remove(heir)).toBe(true);
      expect(await other.people.isFormerName(person.name)).toBe(true);
    });

    test('a person who is refused for another reason does not free a former name', async () => {
      const { one } = contract();
      const [person, somebody] = [await added(), await added({ aliases: [fresh()] })];
      await one.people.remove(person);
      const heir = { ...somePerson(person.name), aliases: somebody.aliases ?? [] };
      expect(await one.people.add(heir, [], 'reused')).toBe(false);
      expect(await one.people.add({ ...heir, aliases: [], id: somebody.id }, [], 'reused')).toBe(
        false,
      );
      expect(await one.people.isFormerName(person.name)).toBe(true);
    });

    test('a name that differs only in case or by one character is not a former name', async () => {
      const { one } = contract();
      const person = await added({ name: `${fresh()}ab` });
      await one.people.remove(person);
      for (const near of [`${person.name} `, person.name.toUpperCase(), person.name.slice(1), '']) {
        expect(await one.people.isFormerName(near)).toBe(false);
      }
      expect(await one.people.add(somePerson(person.name.toUpperCase()))).toBe(true);
    });

    test('names that look like a former name stay reserved; addresses of the removed person are forgotten', async () => {
      const { one, other } = contract();
      const [looks, email] = [`looks:${fresh()}`, `email:${fresh()}`];
      const person = await added({ search_keys: [email, looks] });
      expect(await one.people.isFormerName(looks)).toBe(false);
      await one.people.remove(person);
      expect([
        await other.people.isFormerName(looks),
        await other.people.isFormerName(email),
        await other.people.isFormerName(`${looks}x`),
      ]).toEqual([true, false, false]);
      const attempts = await Promise.all(
        Array.from({ length: 10 }, (_, n) => {
          const near = { ...somePerson(fresh()), search_keys: [looks] };
          const store = n % 2 ? one : other;
          return store.people.add(near, [], 'refused', { unshared: looks });
        }),
      );
      expect(attempts).not.toContain(true);
      // An operator may give the new person any name. Two people whose names look the same may both be removed.
      const near = { ...somePerson(fresh()), search_keys: [looks] };
      expect(await one.people.add(near)).toBe(true);
      expect(await other.people.remove(near)).toBe(true);
      expect(await one.people.isFormerName(looks)).toBe(true);
      const free = { ...somePerson(fresh()), search_keys: [email] };
      expect(await one.people.add(free, [], 'refused', { unshared: email })).toBe(true);
    });

    test('if ten people choose names that look like the name of a person who is being removed, none succeeds', async () => {
      const { one, other } = contract();
      for (let round = 0; round < 5; round++) {
        const looks = `looks:${fresh()}`;
        const person = await added({ search_keys: [looks] });
        const [removed, ...got] = await Promise.all([
          one.people.remove(person),
          ...Array.from({ length: 10 }, (_, n) => {
            const near = { ...somePerson(fresh()), search_keys: [looks] };
            const store = n % 2 ? one : other;
            return store.people.add(near, [], 'refused', { unshared: looks });
          }),
        ]);
        expect(removed).toBe(true);
        expect(got).not.toContain(true);
      }
    });

    test('a former name stays reserved', async () => {
      const { one, store } = contract();
      const person = await added();
      await one.people.remove(person);
      await store.passSeconds(3650 * 86_400);
      while ((await one.sweep()) > 0);
      expect(await one.people.isFormerName(person.name)).toBe(true);
    });

    test('if a person is removed and changed at once, one is done, and no row is left over', async () => {
      const { one, other } = contract();
      for (let round = 0; round < 20; round++) {
        const [alias, got, row] = [fresh(), fresh(), someVerifier('one')];
        const person = { ...somePerson(fresh()), aliases: [alias] };
        await one.people.add(person);
        const change = ({ people }: Stores) =>
          people.replace({ ...next(person), aliases: [alias, got] }, [row]);
        const [removed, changed] = await Promise.all(
          round % 2 === 0
            ? [one.people.remove(person), change(other)]
            : [change(other), one.people.remove(person)].toReversed(),
        );
        expect(changed).toBe(!removed);
        const found = [
          await other.people.get(person.id),
          await other.people.getByName(person.name),
          await other.people.getByAlias(alias),
          await other.people.getByAlias(got),
          (await other.people.getVerifier(row.kind, row.realm, row))?.person,
        ];
        const expected = changed ? { ...next(person), aliases: [alias, got] } : undefined;
        expect(found).toEqual(found.map(() => expected));
        expect(await one.people.isFormerName(person.name)).toBe(!changed);
      }
    });

    test('if ten people want the name of a person who is being removed, at most one who may have it gets it', async () => {
      const { one, other } = contract();
      for (let round = 0; round < 10; round++) {
        const person = await added();
        const wanting = Array.from({ length: 10 }, (_, n) => {
          const stores = n % 2 === 0 ? one : other;
          const former = n < 5 ? 'refused' : 'reused';
          return stores.people.add(somePerson(person.name), [], former);
        });
        const [removed, ...got] = await Promise.all([one.people.remove(person), ...wanting]);
        expect(removed).toBe(true);
        expect(got.slice(0, 5)).toEqual([false, false, false, false, false]);
        const heirs = got.filter(Boolean).length;
        expect(heirs).toBeLessThanOrEqual(1);
        expect((await other.people.getByName(person.name)) === undefined).toBe(heirs === 0);
        expect(await other.people.isFormerName(person.name)).toBe(heirs === 0);
      }
    });
  });
}
