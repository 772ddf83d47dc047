import { describe, expect, jest, test } from '@jest/globals';
import type { People } from '../../people/people.ts';
import { fresh, somePerson, someVerifier } from '../samples.ts';
import type { Contract } from '../store-under-test.ts';

/** The queries of schemes and pages for a visitor who has given only a name. */
const LOOKS: Readonly<Record<string, (people: People, named: string) => Promise<unknown>>> = {
  'by id': (people, named) => people.get(named),
  'by name': (people, named) => people.getByName(named),
  'by alias': (people, named) => people.getByAlias(named),
  'by name, with a verifier': (people, name) => people.getVerifier('proof', 'one', { name }),
  'by handle, with a verifier': (people, handle) => people.getVerifier('proof', 'one', { handle }),
};

/** Returns how many records of people were parsed as JSON. */
async function recordsRead(look: () => Promise<unknown>): Promise<number> {
  const parse = jest.spyOn(JSON, 'parse');
  try {
    await look();
    return parse.mock.calls.filter(([text]) => text.includes('"password_hash"')).length;
  } finally {
    parse.mockRestore();
  }
}

/** The time of an answer does not reveal whether a person exists. */
export function absentPeopleContract(contract: () => Contract): void {
  describe('a query for an absent person', () => {
    test.each(Object.entries(LOOKS))(
      '%s parses as many records as for an existing person',
      async (_, look) => {
        const { one, other } = contract();
        const named = fresh();
        const person = { ...somePerson(named), id: named, aliases: [named] };
        const verifier = someVerifier('one', { kind: 'proof', handle: named });
        expect(await one.people.add(person, [verifier])).toBe(true);
        expect(await look(one.people, named)).toBeDefined();
        const absent = fresh();
        expect(await look(one.people, absent)).toBeUndefined();
        for (const time of ['first', 'again']) {
          const [there, not] = [named, absent].map(
            (who) => () => recordsRead(() => look(other.people, who)),
          );
          expect([time, await there?.()]).toEqual([time, await not?.()]);
        }
      },
    );
  });
}
