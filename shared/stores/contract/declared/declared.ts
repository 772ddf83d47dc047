import { describe, expect, test } from '@jest/globals';
import type { DeclaredThing } from '../../declared/declared.ts';
import { fresh, someClient, somePerson } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

export function declaredContract(contract: () => Contract): void {
  describe('declared things', () => {
    test('an entry is noted once, by kind and id, and can be removed', async () => {
      const { one, other } = contract();
      const id = fresh();
      const things: DeclaredThing[] = [
        { kind: 'api-key', id },
        { kind: 'client', id },
        { kind: 'client', id: `${id} with : and ä` },
        { kind: 'person', id },
      ];
      const here = async () =>
        (await other.declared.list()).filter((thing) => thing.id.startsWith(id));
      for (const thing of [...things, ...things].toReversed()) await one.declared.add(thing);
      expect(await here()).toEqual(things);
      await one.declared.remove({ kind: 'client', id });
      await one.declared.remove({ kind: 'client', id });
      expect(await here()).toEqual(things.filter((_, index) => index !== 1));
    });

    test('ten entries that are added at once are all listed', async () => {
      const { one, other } = contract();
      const id = fresh();
      await Promise.all(
        Array.from({ length: 10 }, (_, n) =>
          (n % 2 === 0 ? one : other).declared.add({ kind: 'person', id: `${id}${n}` }),
        ),
      );
      const all = await one.declared.list();
      expect(all.filter((thing) => thing.id.startsWith(id))).toHaveLength(10);
    });
  });

  describe('changes together', () => {
    test('all changes of one transaction are stored with their events, and the transaction reads its own changes', async () => {
      const { one, other } = contract();
      const [person, client] = [somePerson(fresh()), someClient(fresh())];
      const text = JSON.stringify({ kind: 'person.added', person: person.id });
      const seen = await one.together(async (stores) => {
        await stores.recorded('people', text).add(person);
        await stores.clients.add(client);
        await stores.declared.add({ kind: 'client', id: client.client_id });
        return stores.people.getByName(person.name);
      });
      expect(seen).toEqual(person);
      expect(await other.people.get(person.id)).toEqual(person);
      expect(await other.clients.get(client.client_id)).toEqual(client);
      expect(await other.declared.list()).toContainEqual({ kind: 'client', id: client.client_id });
    });

    test('an error within the transaction is passed on, and no change is stored', async () => {
      const { one, other } = contract();
      const person = somePerson(fresh());
      const reason = new Error('a reason');
      const failing = one.together(async (stores) => {
        await stores.people.add(person);
        throw reason;
      });
      await expect(failing).rejects.toBe(reason);
      expect(() => one.check('all')).not.toThrow();
      expect(await other.people.get(person.id)).toBeUndefined();
      expect(await one.people.add(somePerson(fresh()))).toBe(true);
    });

    test('a transaction within a transaction is a part of it', async () => {
      const { one, other } = contract();
      const [person, inner] = [somePerson(fresh()), somePerson(fresh())];
      const reason = new Error('a reason');
      const failing = one.together(async (stores) => {
        await stores.people.add(person);
        expect(await stores.together((within) => within.people.get(person.id))).toEqual(person);
        await stores.together((within) => within.people.add(inner));
        throw reason;
      });
      await expect(failing).rejects.toBe(reason);
      expect(await other.people.get(inner.id)).toBeUndefined();
    });

    test('changes by other callers at the same time are not lost', async () => {
      const { one, other } = contract();
      const people = Array.from({ length: 10 }, () => somePerson(fresh()));
      const added = await Promise.all(
        people.map((person, n) =>
          n % 2 === 0
            ? one.together(async (stores) => stores.people.add(person))
            : other.people.add(person),
        ),
      );
      expect(added).toEqual(people.map(() => true));
      for (const person of people) expect(await other.people.get(person.id)).toEqual(person);
    });
  });
}
