import type { NameRange } from '#shared/base/name-range.ts';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import type { PeopleList, PersonRecord } from '../../people/people.ts';
import type { Stores } from '../../stores.ts';
import { everybodyIn, fresh, somePerson } from '../samples.ts';
import { SLICE } from '../../sql/rows.ts';
import type { Contract } from '../store-under-test.ts';

export function peopleContract(contract: () => Contract): void {
  describe('people', () => {
    const added = async (changes: Partial<PersonRecord> = {}) => {
      const person = { ...somePerson(fresh()), ...changes };
      expect(await contract().one.people.add(person)).toBe(true);
      return person;
    };

    test('a person is kept with all members, found by id and by name, and listed', async () => {
      const { other } = contract();
      const person = await added({ disabled: false, demo: true });
      expect(await other.people.get(person.id)).toEqual(person);
      expect(await other.people.getByName(person.name)).toEqual(person);
      expect(await everybodyIn(other)).toContainEqual(person);
    });

    test('OpenID Connect Core section 8: neither id nor name is given to another person', async () => {
      const { one, other } = contract();
      const person = await added();
      const impostor = { ...somePerson(fresh()), password_hash: 'of the impostor' };
      expect(await other.people.add({ ...impostor, name: person.name })).toBe(false);
      expect(await other.people.add({ ...impostor, id: person.id })).toBe(false);
      expect(await other.people.add(person)).toBe(false);
      expect(await one.people.get(person.id)).toEqual(person);
      expect(await one.people.getByName(person.name)).toEqual(person);
      expect(await everybodyIn(one)).not.toContainEqual(
        expect.objectContaining({ password_hash: impostor.password_hash }),
      );
    });

    test('a refused person leaves neither id nor name behind', async () => {
      const { one, other } = contract();
      const person = await added();
      const [id, name] = [fresh(), fresh()];
      expect(await one.people.add({ ...somePerson(person.name), id })).toBe(false);
      expect(await one.people.add({ ...somePerson(name), id: person.id })).toBe(false);
      expect(await other.people.get(id)).toBeUndefined();
      expect(await other.people.getByName(name)).toBeUndefined();
      expect(await other.people.add({ ...somePerson(name), id })).toBe(true);
    });

    test('all people are listed once, in the order of their names, in slices', async () => {
      const { one, other } = contract();
      const base = fresh();
      const names = Array.from({ length: SLICE + 3 }, (_, n) => `${base}${n}`);
      const odd = ['', '\u0000', ' ', '(', '[', '+', '-', '\uffff', '😀', 'é', 'A', 'Z', 'a', 'z'];
      for (const name of [...names, ...odd.map((tail) => base + tail)]) {
        expect(await one.people.add(somePerson(name))).toBe(true);
      }
      const lengths: number[] = [];
      for await (const slice of other.people.list()) lengths.push(slice.length);
      expect(lengths.slice(0, -1)).toEqual(lengths.slice(0, -1).map(() => SLICE));
      const bytes = (await everybodyIn(other)).map(({ name }) => Buffer.from(name));
      expect(bytes).toEqual(bytes.toSorted(Buffer.compare));
      const here = bytes.map(String).filter((name) => name.startsWith(base));
      expect(new Set(here)).toEqual(new Set([...names, ...odd.map((tail) => base + tail)]));
      expect(here).toHaveLength(names.length + odd.length);
    });

    test('people are listed by group and by state, by name, and a change moves them', async () => {
      const { one, other } = contract();
      const group = `\u00e9"' ${fresh()}`;
      const names = ['a', 'b', 'c', 'd'].map((tail) => `${fresh()}-${tail}`).toSorted();
      const people = names.map((name, n) => ({
        ...somePerson(name),
        profile: { groups: [group, group, `${group}x`].slice(0, n === 3 ? 0 : 3) },
        ...(n === 1 && { disabled: true, admin: true }),
      }));
      for (const person of people) expect(await one.people.add(person)).toBe(true);
      const page = async (list: PeopleList, range: Partial<NameRange> = {}) =>
        (await other.people.page({ list, limit: 1000, ...range }))
          .map(({ name }) => name)
          .filter((name) => names.includes(name));
      const [a = '', b = '', c = '', d = ''] = names;
      expect(await page({ group })).toEqual([a, b, c]);
      expect(await page({ group: group.slice(0, -1) })).toEqual([]);
      expect(await page({ group }, { limit: 1, after: a })).toEqual([b]);
      expect(await page({ group }, { prefix: c })).toEqual([c]);
      expect(await page({ group }, { after: c })).toEqual([]);
      expect(await page({ state: 'disabled' }, { prefix: b })).toEqual([b]);
      expect(await page({ state: 'admin' }, { prefix: b })).toEqual([b]);
      expect(await page({ state: 'active' }, { prefix: b })).toEqual([]);
      expect(await page({ state: 'active' }, { prefix: d })).toEqual([d]);
      const [, second, third] = people;
      if (second === undefined || third === undefined) throw new Error('nobody');
      const { disabled: _, admin: __, ...enabled } = second;
      const moved = { ...enabled, profile: { groups: [`${group}y`] }, version: second.version + 1 };
      expect(await one.people.replace(moved)).toBe(true);
      await one.people.remove(third);
      expect(await page({ group })).toEqual([a]);
      expect(await page({ group: `${group}x` })).toEqual([a]);
      expect(await page({ group: `${group}y` })).toEqual([b]);
      expect(await page({ state: 'disabled' }, { prefix: b })).toEqual([]);
      expect(await page({ state: 'admin' }, { prefix: b })).toEqual([]);
      expect(await page({ state: 'active' }, { prefix: b })).toEqual([b]);
      expect(await page({ state: 'active' }, { prefix: c })).toEqual([]);
    });

    test('a page has only the people whose names are in the requested range', async () => {
      const { one, other } = contract();
      const prefix = `${fresh().toLowerCase()}.`;
      const names = ['a', 'b', 'ba', 'c'].map((tail) => prefix + tail);
      for (const name of names.toReversed()) await one.people.add(somePerson(name));
      const page = async (range: NameRange) =>
        (await other.people.page(range)).map(({ name }) => name);
      expect(await page({ prefix, limit: 9 })).toEqual(names);
      expect(await page({ prefix, limit: 2, after: names[0] })).toEqual(names.slice(1, 3));
      expect(await page({ prefix: `${prefix}b`, limit: 9, after: names[0] })).toEqual(
        names.slice(1, 3),
      );
      expect(await page({ prefix, limit: 9, after: names.at(-1) })).toEqual([]);
      expect(await page({ limit: 1, after: names[0] })).toEqual([names[1]]);
    });

    test('a list has each person once while people are added', async () => {
      const { one, other } = contract();
      const base = fresh();
      const names = Array.from({ length: 20 }, (_, n) => `${base}${n}`);
      for (const name of names) await one.people.add(somePerson(name));
      const found: string[] = [];
      for await (const slice of other.people.list()) {
        found.push(...slice.map(({ name }) => name));
        await one.people.add(somePerson(`${base}${fresh()}`));
      }
      for (const name of names) expect(found.filter((each) => each === name)).toHaveLength(1);
    });

    test('a person is not found by the name as an id, or by the id as a name', async () => {
      const { one } = contract();
      const person = await added();
      expect(await one.people.get(person.name)).toBeUndefined();
      expect(await one.people.getByName(person.id)).toBeUndefined();
      expect(await one.people.add(somePerson(person.id))).toBe(true);
      expect(await one.people.getByName(person.name)).toEqual(person);
    });

    test('names are compared exactly, and wildcards in a name have no effect', async () => {
      const { one } = contract();
      const name = await added({ name: `${fresh()}Ab` }).then((person) => person.name);
      for (const near of [
        name.toLowerCase(),
        `${name} `,
        `${name}\u0000`,
        `${name}%`,
        `${name}*`,
      ]) {
        expect(await one.people.getByName(near)).toBeUndefined();
        const person = await added({ name: near });
        expect(await one.people.getByName(near)).toEqual(person);
      }
      expect((await one.people.getByName(name))?.name).toBe(name);
    });

    test('an unknown id or name, however odd, is absent', async () => {
      const { one } = contract();
      const odd = [
        '',
        '*',
        '__proto__',
        'constructor',
        "' OR 1=1 --",
        '\u0000',
        'x'.repeat(10_000),
      ];
      for (const each of odd) {
        expect(await one.people.get(each)).toBeUndefined();
        expect(await one.people.getByName(each)).toBeUndefined();
        expect(await one.people.replace({ ...somePerson(each), id: each, version: 1 })).toBe(false);
      }
    });

    test('odd ids and names find their person', async () => {
      const { one, other } = contract();
      const tails = ['__proto__', "'; --", '"', '\u0000', '{a}', ':', '😀', 'x'.repeat(10_000)];
      const base = fresh();
      const named = tails.map((tail) => [tail + base, base + tail] as const);
      for (const [id, name] of [...named, ['__proto__', 'constructor'] as const]) {
        const person = { ...somePerson(name), id };
        expect(await one.people.add(person)).toBe(true);
        expect(await other.people.get(person.id)).toEqual(person);
        expect(await other.people.getByName(person.name)).toEqual(person);
      }
    });

    test('any record is returned unchanged, also after a change', async () => {
      const { one, other } = contract();
      const text = anyText({ maxLength: 60 });
      await fc.assert(
        fc.asyncProperty(text, text, text, async (id, name, password_hash) => {
          const prefix = fresh();
          const person = { ...somePerson(prefix + name), id: prefix + id, password_hash };
          expect(await one.people.add(person)).toBe(true);
          expect(await other.people.getByName(person.name)).toEqual(person);
          expect(await other.people.replace({ ...person, version: 1 })).toBe(true);
          expect(await one.people.get(person.id)).toEqual({ ...person, version: 1 });
        }),
        { numRuns: 30 },
      );
    });

    test('a change must be of the previous version; an older, equal or later one is refused', async () => {
      const { one, other } = contract();
      const person = await added();
      const changed = { ...person, password_hash: 'changed', version: 1 };
      for (const version of [-1, 0, 2, 0.5, Number.NaN]) {
        expect(await other.people.replace({ ...changed, version })).toBe(false);
      }
      expect(await one.people.get(person.id)).toEqual(person);
      expect(await other.people.replace(changed)).toBe(true);
      expect(await other.people.replace(changed)).toBe(false);
      expect(await other.people.replace({ ...changed, disabled: true, version: 2 })).toBe(true);
      const last = { ...changed, disabled: true, version: 2 };
      expect(await one.people.get(person.id)).toEqual(last);
      expect(await one.people.getByName(person.name)).toEqual(last);
    });

    test('a change keeps the name, and removes the members that it leaves out', async () => {
      const { one, other } = contract();
      const [person, somebody] = [await added({ disabled: true, demo: true }), await added()];
      const { disabled: _, demo: __, ...rest } = person;
      expect(await one.people.replace({ ...rest, name: somebody.name, version: 1 })).toBe(true);
      expect(await other.people.get(person.id)).toEqual({ ...rest, version: 1 });
      expect(await other.people.getByName(person.name)).toEqual({ ...rest, version: 1 });
      expect(await other.people.getByName(somebody.name)).toEqual(somebody);
    });

    test('a change adds no person', async () => {
      const { one } = contract();
      const person = { ...somePerson(fresh()), version: 1 };
      expect(await one.people.replace(person)).toBe(false);
      expect(await one.people.get(person.id)).toBeUndefined();
      expect(await one.people.getByName(person.name)).toBeUndefined();
    });

    test('if a password is changed and the person disabled at once, one is refused, and a retry keeps both', async () => {
      const { one, other } = contract();
      for (let round = 0; round < 20; round++) {
        const person = await added();
        const passwd = (was: PersonRecord): PersonRecord => ({ ...was, password_hash: 'new' });
        const disable = (was: PersonRecord): PersonRecord => ({ ...was, disabled: true });
        const change = async (stores: Stores, by: typeof passwd, was: PersonRecord) =>
          stores.people.replace({ ...by(was), version: was.version + 1 });
        const done = await Promise.all([
          change(one, passwd, person),
          change(other, disable, person),
        ]);
        expect(done.toSorted()).toEqual([false, true]);
        const current = (await one.people.get(person.id)) ?? person;
        expect(await change(one, done[0] ? disable : passwd, current)).toBe(true);
        expect(await other.people.get(person.id)).toEqual({
          ...person,
          password_hash: 'new',
          disabled: true,
          version: 2,
        });
      }
    });

    test('people do not expire', async () => {
      const { one, store } = contract();
      const person = await added();
      await store.passSeconds(3650 * 86_400);
      while ((await one.sweep()) > 0);
      expect(await one.people.getByName(person.name)).toEqual(person);
    });
  });
}
