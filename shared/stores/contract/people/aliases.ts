import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import type { PersonRecord } from '../../people/people.ts';
import { fresh, somePerson } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

/** Aliases find people beside their names: Kerberos principals. */
export function aliasesContract(contract: () => Contract): void {
  describe('aliases of people', () => {
    const added = async (...aliases: string[]) => {
      const person = { ...somePerson(fresh()), aliases };
      expect(await contract().one.people.add(person)).toBe(true);
      return person;
    };
    const find = (alias: string) => contract().other.people.getByAlias(alias);
    /** The record with other aliases, as its next version. */
    const next = (person: PersonRecord, ...aliases: string[]): PersonRecord => ({
      ...person,
      aliases,
      version: person.version + 1,
    });
    const replace = (person: PersonRecord) => contract().one.people.replace(person);

    test('a person is found by each alias, and by no other', async () => {
      const [a, b] = [fresh(), fresh()];
      const person = await added(a, b);
      await added(fresh());
      expect(await find(a)).toEqual(person);
      expect(await find(b)).toEqual(person);
      for (const near of [fresh(), a.toLowerCase(), `${a} `, a.slice(1), `${a}%`, '']) {
        if (near !== a) expect(await find(near)).toBeUndefined();
      }
    });

    test('a name, an id and an alias with the same text are different', async () => {
      const { one } = contract();
      const person = await added(fresh());
      const [alias = ''] = person.aliases;
      expect(await find(person.name)).toBeUndefined();
      expect(await find(person.id)).toBeUndefined();
      expect(await one.people.getByName(alias)).toBeUndefined();
      expect(await one.people.get(alias)).toBeUndefined();
      const namesake = await added(person.name, person.id);
      expect(await find(person.name)).toEqual(namesake);
      expect(await one.people.getByName(person.name)).toEqual(person);
    });

    test('a person with an alias of another person is not added, and leaves no row', async () => {
      const { one, other } = contract();
      const [alias, free] = [fresh(), fresh()];
      const person = await added(fresh(), alias);
      const impostor = { ...somePerson(fresh()), aliases: [free, alias] };
      expect(await one.people.add(impostor)).toBe(false);
      expect(await other.people.get(impostor.id)).toBeUndefined();
      expect(await other.people.getByName(impostor.name)).toBeUndefined();
      expect(await find(alias)).toEqual(person);
      expect(await find(free)).toBeUndefined();
      expect(await one.people.add({ ...impostor, aliases: [free] })).toBe(true);
    });

    test('a person who is refused for the name or the id takes no alias', async () => {
      const { one } = contract();
      const person = await added(fresh());
      const free = fresh();
      const impostor = { ...somePerson(fresh()), aliases: [free] };
      expect(await one.people.add({ ...impostor, name: person.name })).toBe(false);
      expect(await one.people.add({ ...impostor, id: person.id })).toBe(false);
      expect(await one.people.add({ ...person, aliases: [free] })).toBe(false);
      expect(await find(free)).toBeUndefined();
      expect(await find(person.aliases[0] ?? '')).toEqual(person);
    });

    test('a change adds and removes aliases; a removed alias finds nobody, and other people can take it', async () => {
      const [kept, left, got] = [fresh(), fresh(), fresh()];
      const person = await added(kept, left);
      const changed = next(person, kept, got);
      expect(await replace(changed)).toBe(true);
      expect(await find(kept)).toEqual(changed);
      expect(await find(got)).toEqual(changed);
      expect(await find(left)).toBeUndefined();
      const somebody = await added(left);
      expect(await find(left)).toEqual(somebody);
      const { aliases: _, ...rest } = next(changed);
      expect(await replace(rest)).toBe(true);
      for (const alias of [kept, got]) expect(await find(alias)).toBeUndefined();
      expect(await find(left)).toEqual(somebody);
      expect(await contract().other.people.get(person.id)).toEqual(rest);
    });

    test('a change to an alias of another person is refused, and nothing is changed', async () => {
      const [alias, left, free] = [fresh(), fresh(), fresh()];
      const [person, somebody] = [await added(left), await added(alias)];
      expect(await replace(next(person, free, alias))).toBe(false);
      expect(await contract().other.people.get(person.id)).toEqual(person);
      expect(await find(left)).toEqual(person);
      expect(await find(alias)).toEqual(somebody);
      expect(await find(free)).toBeUndefined();
    });

    test('a change of another version, or of an absent person, changes no alias', async () => {
      const [alias, free] = [fresh(), fresh()];
      const person = await added(alias);
      for (const version of [-1, 0, 2]) {
        expect(await replace({ ...person, aliases: [free], version })).toBe(false);
      }
      expect(await replace({ ...somePerson(fresh()), aliases: [free], version: 1 })).toBe(false);
      expect(await find(alias)).toEqual(person);
      expect(await find(free)).toBeUndefined();
    });

    test('a repeated alias is kept once', async () => {
      const [alias, other] = [fresh(), fresh()];
      const person = await added(alias, alias);
      expect(await find(alias)).toEqual(person);
      const changed = next(person, other, alias, other);
      expect(await replace(changed)).toBe(true);
      expect(await find(other)).toEqual(changed);
      expect(await replace(next(changed))).toBe(true);
      expect(await find(alias)).toBeUndefined();
      expect(await find(other)).toBeUndefined();
    });

    test('any aliases, however odd, long or many, find their person', async () => {
      const odd = ['', '__proto__', 'constructor', '*', "'; --", '\u0000', ':', '{a}', '😀'];
      const base = fresh();
      const aliases = [
        ...odd.map((tail) => base + tail),
        'x'.repeat(10_000) + base,
        ...Array.from({ length: 500 }, () => fresh()),
      ];
      const [person, somebody] = [await added(...aliases, '__proto__', '0'), await added(fresh())];
      expect(await replace(next(somebody))).toBe(true);
      for (const alias of ['__proto__', '0']) expect(await find(alias)).toEqual(person);
      const found = await Promise.all(aliases.map(find));
      expect(found.filter((one) => one?.id !== person.id)).toEqual([]);
      expect(await replace(next(person))).toBe(true);
      expect(new Set(await Promise.all(aliases.map(find)))).toEqual(new Set([undefined]));
    });

    test('aliases agree with a list of all people after any changes', async () => {
      const few = fc.subarray(['a', 'b', 'c', 'd', 'e']);
      const change = fc.record({ who: fc.nat(2), aliases: few });
      await fc.assert(
        fc.asyncProperty(fc.array(change, { maxLength: 15 }), async (changes) => {
          const base = fresh();
          const people: PersonRecord[] = [await added(), await added(), await added()];
          for (const { who, aliases } of changes) {
            const changed = next(people[who] ?? somePerson(''), ...aliases.map((a) => base + a));
            const free = people.every(
              (person, n) =>
                n === who || !person.aliases?.some((alias) => changed.aliases?.includes(alias)),
            );
            expect(await replace(changed)).toBe(free);
            if (free) people[who] = changed;
          }
          for (const alias of ['a', 'b', 'c', 'd', 'e'].map((tail) => base + tail)) {
            const owner = people.find((person) => person.aliases?.includes(alias));
            expect(await find(alias)).toEqual(owner);
          }
        }),
        { numRuns: 30 },
      );
    });

    test('an alias that moves to another person during a query never finds its former person', async () => {
      const { one, other } = contract();
      const alias = fresh();
      let [holder, heir]: PersonRecord[] = [await added(alias), await added()];
      for (let round = 0; round < 20 && holder && heir; round++) {
        const [left, got] = [next(holder), next(heir, alias)];
        const handOver = one.people.replace(left).then(() => one.people.replace(got));
        const found = await Promise.all(
          Array.from({ length: 10 }, () => other.people.getByAlias(alias)),
        );
        expect(await handOver).toBe(true);
        for (const person of found) expect(person?.aliases ?? [alias]).toContain(alias);
        expect(await other.people.getByAlias(alias)).toEqual(got);
        [holder, heir] = [got, left];
      }
    });
  });
}
