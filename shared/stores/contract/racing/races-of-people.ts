import {
  FAR,
  fresh,
  someApiKey,
  someVerifier,
  somePerson,
  somePasskey,
  somePublicKey,
  someSecondFactor,
} from '../samples.ts';
import { BURST, type Races } from './race.ts';

/** Races about people and their credentials. */
export const RACES_OF_PEOPLE = {
  'add a person of a name': {
    prepare: async () => fresh(),
    attempt: (stores, name) => stores.people.add(somePerson(name)),
    winners: 1,
  },
  'add a person of an id': {
    prepare: async () => fresh(),
    attempt: (stores, id) => stores.people.add({ ...somePerson(fresh()), id }),
    winners: 1,
  },
  'change a person': {
    prepare: async (stores) => {
      const person = somePerson(fresh());
      await stores.people.add(person);
      return person.id;
    },
    attempt: (stores, id) => stores.people.replace({ ...somePerson(fresh()), id, version: 1 }),
    winners: 1,
  },
  'remove a person': {
    prepare: async (stores) => {
      const person = somePerson(fresh());
      await stores.people.add(person);
      return person.id;
    },
    attempt: (stores, id) => stores.people.remove({ id, version: 0 }),
    winners: 1,
  },
  'add a person of a former name': {
    prepare: async (stores) => {
      const person = somePerson(fresh());
      await stores.people.add(person);
      await stores.people.remove(person);
      return person.name;
    },
    attempt: (stores, name) => stores.people.add(somePerson(name), [], 'reused'),
    winners: 1,
  },
  'add a person of an alias': {
    prepare: async () => fresh(),
    attempt: (stores, alias) => stores.people.add({ ...somePerson(fresh()), aliases: [alias] }),
    winners: 1,
  },
  'add a person whose search key nobody has': {
    prepare: async () => fresh(),
    attempt: (stores, key) => {
      const person = { ...somePerson(fresh()), search_keys: [key] };
      return stores.people.add(person, [], 'refused', { unshared: key });
    },
    winners: 1,
  },
  'add a person of a handle': {
    prepare: async () => fresh(),
    attempt: (stores, handle) =>
      stores.people.add(somePerson(fresh()), [someVerifier('one', { handle })]),
    winners: 1,
  },
  'give an alias by a change': {
    prepare: async () => fresh(),
    attempt: async (stores, alias) => {
      const person = somePerson(fresh());
      await stores.people.add(person);
      return stores.people.replace({ ...person, aliases: [alias], version: 1 });
    },
    winners: 1,
  },
  'add an API key': {
    prepare: async () => fresh(),
    attempt: (stores, id) => stores.apiKeys.add(someApiKey(id)),
    winners: 1,
  },
  'remove an API key': {
    prepare: async (stores) => {
      const id = fresh();
      await stores.apiKeys.add(someApiKey(id));
      return id;
    },
    attempt: (stores, id) => stores.apiKeys.remove(id),
    winners: 1,
  },
  'add a public key': {
    prepare: async () => fresh(),
    attempt: async (stores, id) => {
      const owner = { kind: 'person', id: fresh() } as const;
      return (await stores.publicKeys.add({ ...somePublicKey(id), owner }, 1)) === 'added';
    },
    winners: 1,
  },
  'add public keys of one person': {
    prepare: async () => fresh(),
    attempt: async (stores, id) => {
      const owner = { kind: 'person', id } as const;
      const outcome = await stores.publicKeys.add({ ...somePublicKey(fresh()), owner }, BURST);
      return outcome === 'added';
    },
    winners: BURST,
  },
  'remove a public key': {
    prepare: async (stores) => {
      const id = fresh();
      await stores.publicKeys.add(somePublicKey(id), 1);
      return id;
    },
    attempt: (stores, id) => stores.publicKeys.remove(id),
    winners: 1,
  },
  'add passkeys of one person': {
    prepare: async () => fresh(),
    attempt: async ({ passkeys }, accountId) =>
      (await passkeys.add({ ...somePasskey(fresh()), accountId }, BURST)) === 'added',
    winners: BURST,
  },
  'use a passkey with one counter': {
    prepare: async (stores) => {
      const id = fresh();
      await stores.passkeys.add(somePasskey(id), 1);
      return id;
    },
    attempt: async ({ passkeys }, id) =>
      (await passkeys.use(id, { counter: 8, backedUp: true, at: 1 })) === 'used',
    winners: 1,
  },
  'remove all but the last passkey': {
    prepare: async (stores) => {
      const accountId = fresh();
      for (let n = 0; n <= BURST; n += 1) {
        await stores.passkeys.add({ ...somePasskey(`${accountId}${n}`), accountId }, BURST + 1);
      }
      return accountId;
    },
    attempt: async ({ passkeys }, accountId) => {
      for (const { id } of await passkeys.of(accountId)) {
        const outcome = await passkeys.remove(accountId, id, 1);
        if (outcome !== 'gone') return outcome === 'removed';
      }
      return false;
    },
    winners: BURST,
  },
  'set a second factor up': {
    prepare: async () => fresh(),
    attempt: ({ secondFactors }, accountId) =>
      secondFactors.add({ ...someSecondFactor(accountId), id: fresh() }),
    winners: 1,
  },
  'put another second factor in the place of one': {
    prepare: async ({ secondFactors }) => {
      const accountId = fresh();
      await secondFactors.add(someSecondFactor(accountId));
      return accountId;
    },
    attempt: async ({ secondFactors }, accountId) => {
      const before = someSecondFactor(accountId);
      const factor = { ...before, id: fresh() };
      const next = { factor, replaces: before.id, generation: 0, until: FAR };
      return (await secondFactors.setUp(next)) !== undefined;
    },
    winners: 1,
  },
  'use a step of a second factor': {
    prepare: async ({ secondFactors }) => {
      const accountId = fresh();
      await secondFactors.add(someSecondFactor(accountId));
      return accountId;
    },
    attempt: ({ secondFactors }, accountId) =>
      secondFactors.useStep(accountId, someSecondFactor(accountId).id, 8, 1),
    winners: 1,
  },
  'use a recovery code': {
    prepare: async ({ secondFactors }) => {
      const accountId = fresh();
      await secondFactors.add(someSecondFactor(accountId));
      return accountId;
    },
    attempt: async ({ secondFactors }, accountId) =>
      (await secondFactors.useRecovery(accountId, 'mac 1', 1)) !== undefined,
    winners: 1,
  },
} satisfies Races;
