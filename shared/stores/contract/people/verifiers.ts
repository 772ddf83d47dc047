import { describe, expect, test } from '@jest/globals';
import { ALL_REALMS, type PersonRecord, type VerifierRow } from '../../people/people.ts';
import { fresh, somePerson, someVerifier } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

/** The verifiers of people for schemes: a row for each kind and realm. */
export function verifiersContract(contract: () => Contract): void {
  describe('verifiers', () => {
    const added = async (...verifiers: VerifierRow[]) => {
      const person = somePerson(fresh());
      expect(await contract().one.people.add(person, verifiers)).toBe(true);
      return person;
    };
    const byName = ({ kind, realm }: VerifierRow, { name }: PersonRecord) =>
      contract().other.people.getVerifier(kind, realm, { name });
    const byHandle = ({ kind, realm, handle = '' }: VerifierRow) =>
      contract().other.people.getVerifier(kind, realm, { handle });
    const rowsOf = async ({ id }: PersonRecord) =>
      new Set((await contract().other.people.getWhole(id))?.verifiers);
    const next = (person: PersonRecord) => ({ ...person, version: person.version + 1 });

    test('a verifier is found only by its name and its handle', async () => {
      const { other } = contract();
      const rows = [
        someVerifier('one'),
        someVerifier('one', { kind: 'proof' }),
        someVerifier('one one', { kind: 'proof' }),
        someVerifier('a realm: (with "all") \u0000\n é 😀', { value: '{"a": "\\ \u0000\n é 😀"}' }),
        someVerifier('one', {
          kind: 'a kind: (with "all") \u0000\n é 😀',
          handle: `\u0000 é${fresh()}`,
        }),
        someVerifier('__proto__', { value: '' }),
        someVerifier(ALL_REALMS),
      ];
      const person = await added(...rows);
      await added(someVerifier('two'));
      for (const row of rows) {
        const found = { person, value: row.value };
        expect(await byName(row, person)).toEqual(found);
        expect(await byHandle(row)).toEqual(found);
        expect(await byHandle({ ...row, realm: 'two' })).toBeUndefined();
        expect(await byHandle({ ...row, kind: 'proof two' })).toBeUndefined();
        expect(await byHandle({ ...row, handle: row.handle.slice(1) })).toBeUndefined();
      }
      for (const near of ['two', 'One', 'one ', 'on', 'constructor']) {
        expect(await byName(someVerifier(near), person)).toBeUndefined();
        expect(await byName(someVerifier('one', { kind: near }), person)).toBeUndefined();
      }
      expect(await byName(someVerifier('one'), somePerson(person.id))).toBeUndefined();
      expect(await byName(someVerifier('one'), somePerson('nobody'))).toBeUndefined();
      expect(await other.people.getWhole(person.id)).toMatchObject({ person });
      expect(await rowsOf(person)).toEqual(new Set(rows));
      expect(await other.people.getWhole(fresh())).toBeUndefined();
    });

    test('verifiers without a handle are found only by name, for many people', async () => {
      const { handle: _, ...row } = someVerifier('one');
      const people = [await added(row), await added(row)];
      for (const person of people) {
        expect(await byName(row, person)).toEqual({ person, value: row.value });
        expect(await rowsOf(person)).toEqual(new Set([row]));
      }
      for (const handle of ['', 'null', 'undefined', row.value]) {
        expect(await byHandle({ ...row, handle })).toBeUndefined();
      }
      const [person = somePerson('nobody')] = people;
      const named = { ...row, handle: fresh() };
      expect(await contract().one.people.replace(next(person), [named])).toBe(true);
      expect(await byHandle(named)).toMatchObject({ value: row.value });
      expect(await contract().one.people.replace({ ...person, version: 2 }, [row])).toBe(true);
      expect(await byHandle(named)).toBeUndefined();
    });

    test('a handle belongs to one kind and realm: other kinds and realms can use the same text', async () => {
      const { handle, ...row } = someVerifier('one');
      const rows = [
        { ...row, handle },
        { ...row, handle, realm: 'two' },
        { ...row, handle, kind: 'proof two' },
      ];
      const people = await Promise.all(rows.map((one) => added(one)));
      for (const [n, one] of rows.entries()) {
        expect(await byHandle(one)).toEqual({ person: people[n], value: row.value });
      }
    });

    test('a person with a handle of another person is refused, and leaves no verifier', async () => {
      const { one, other } = contract();
      const [row, free] = [someVerifier('one'), someVerifier('one', { kind: 'proof two' })];
      const person = await added(row);
      const impostor = somePerson(fresh());
      const sameHandle = { ...someVerifier('one'), handle: row.handle };
      expect(await one.people.add(impostor, [free, sameHandle])).toBe(false);
      expect(await one.people.add({ ...impostor, name: person.name }, [free])).toBe(false);
      expect(await one.people.add({ ...impostor, id: person.id }, [free])).toBe(false);
      expect(await other.people.get(impostor.id)).toBeUndefined();
      expect(await byHandle(free)).toBeUndefined();
      expect(await rowsOf(person)).toEqual(new Set([row]));
      expect(await one.people.add(impostor, [free])).toBe(true);
      expect(await one.people.replace(next(impostor), [sameHandle])).toBe(false);
      expect(await rowsOf(impostor)).toEqual(new Set([free]));
    });

    test('a change without verifiers keeps them, and a change with verifiers replaces all', async () => {
      const { one } = contract();
      const [kept, left] = [someVerifier('one'), someVerifier('two')];
      const person = await added(kept, left);
      const disabled = { ...next(person), disabled: true };
      expect(await one.people.replace(disabled)).toBe(true);
      expect(await byName(kept, person)).toEqual({ person: disabled, value: kept.value });
      expect(await rowsOf(person)).toEqual(new Set([kept, left]));
      const changed = next(disabled);
      const [other, more] = [{ ...kept, value: fresh() }, someVerifier('three')];
      expect(await one.people.replace(changed, [other, more])).toBe(true);
      expect(await byName(kept, person)).toEqual({ person: changed, value: other.value });
      expect(await byHandle(kept)).toEqual({ person: changed, value: other.value });
      expect(await byHandle(left)).toBeUndefined();
      expect(await byName(left, person)).toBeUndefined();
      expect(await byHandle(more)).toEqual({ person: changed, value: more.value });
      const heir = await added(left);
      expect(await byHandle(left)).toMatchObject({ person: heir });
      expect(await one.people.replace(next(changed), [])).toBe(true);
      expect(await rowsOf(person)).toEqual(new Set());
      expect(await byHandle(kept)).toBeUndefined();
    });

    test('a change of another version, or of an absent person, changes no row', async () => {
      const { one } = contract();
      const [row, free] = [someVerifier('one'), someVerifier('one')];
      const person = await added(row);
      for (const version of [-1, 0, 2]) {
        expect(await one.people.replace({ ...person, version }, [free])).toBe(false);
      }
      expect(await one.people.replace({ ...somePerson(fresh()), version: 1 }, [free])).toBe(false);
      expect(await rowsOf(person)).toEqual(new Set([row]));
      expect(await byHandle(free)).toBeUndefined();
    });

    test('during a change of the password, a query returns record and verifiers of one password', async () => {
      const { one, other } = contract();
      const realms = Array.from({ length: 50 }, (_, n) => `realm ${n}`);
      const rows = (round: number) =>
        realms.map((realm) => ({ ...someVerifier(realm), value: `${round}` }));
      const first = { ...somePerson(fresh()), password_hash: '0' };
      expect(await one.people.add(first, rows(0))).toBe(true);
      for (let round = 1; round <= 20; round++) {
        const person = { ...first, password_hash: `${round}`, version: round };
        const [done, ...found] = await Promise.all([
          one.people.replace(person, rows(round)),
          ...[...realms.slice(0, 3), ...realms.slice(-3)].map((realm) =>
            other.people.getVerifier('proof one', realm, { name: first.name }),
          ),
        ]);
        const whole = await other.people.getWhole(first.id);
        expect(done).toBe(true);
        expect(new Set(whole?.verifiers.map(({ value }) => value))).toEqual(new Set([`${round}`]));
        for (const each of found) expect(each?.value).toBe(each?.person.password_hash);
      }
    });

    test('with a thousand realms the record is as short as with none, and a query reads one row', async () => {
      const { other } = contract();
      const rows = Array.from({ length: 1000 }, (_, n) => someVerifier(`realm ${n}`));
      const person = await added(...rows);
      const bytes = JSON.stringify(person).length;
      expect(JSON.stringify(await other.people.getByName(person.name))).toHaveLength(bytes);
      expect(JSON.stringify(await byName(someVerifier('realm 7'), person)).length).toBeLessThan(
        bytes + 100,
      );
      const byRealm = (given: Iterable<VerifierRow>) =>
        new Map([...given].map((row) => [row.realm, row]));
      expect(byRealm(await rowsOf(person))).toEqual(byRealm(rows));
    });
  });
}
