/** @slow */
import { expect, test } from '@jest/globals';
import { ALONE } from '#shared/base/line.ts';
import { changePassword, changePasswordAndEnd, PasswordReplaced } from './change-password.ts';
import { testPeople } from './directory.fixture.ts';
import { localDirectory } from './local.ts';
import { addPerson, disablePerson, PasswordError, setPassword } from './people.ts';
import { removePerson } from './remove-person.ts';
import { PROOF, SEAL } from './verifier-kind.fixture.ts';

const OLD = 'the old password';
const NEW = 'the new password';
const REALMS = [{ realm: 'one', kinds: [PROOF, SEAL] }];

/** Opens a store with alice, twice. */
async function alice() {
  const made = await testPeople(undefined, REALMS);
  const other = await testPeople(made.data, REALMS);
  const seen = await addPerson(made.store, { name: 'alice', password: OLD });
  const { stores, passwords } = made;
  const enters = async (password: string) =>
    (await localDirectory({
      ...stores,
      passwords,
      admitted: { demo: true, sources: new Set() },
    }).authenticate('alice', password, ALONE)) !== undefined;
  return { ...made, other, seen, enters };
}

test('changePassword replaces hash and verifiers in one step', async () => {
  const { store, stores, seen } = await alice();
  const before = await stores.people.getWhole(seen.id);
  let replaced = 0;
  const replace: typeof stores.people.replace = (person, verifiers) => {
    replaced += 1;
    return stores.people.replace(person, verifiers);
  };
  const watched = { ...store, stores: { ...stores, people: { ...stores.people, replace } } };
  await changePassword(watched, seen, NEW);
  const after = await stores.people.getWhole(seen.id);
  expect(replaced).toBe(1);
  expect(after?.person.password_hash).not.toBe(seen.password_hash);
  const values = [...(before?.verifiers ?? []), ...(after?.verifiers ?? [])];
  expect(new Set(values.map(({ value }) => value)).size).toBe(4);
});

test('changePassword ends no access, and changePasswordAndEnd ends all', async () => {
  const { store, stores, seen } = await alice();
  await changePassword(store, seen, NEW);
  expect(await stores.revocations.generation('person', seen.id)).toBe(0);
  const now = (await stores.people.get(seen.id)) ?? seen;
  expect(await changePasswordAndEnd(store, now, OLD)).toMatchObject({ generation: 1 });
  expect(await stores.revocations.generation('person', seen.id)).toBe(1);
});

test('one of ten changes at the same time that saw the same password, through two openings of the store, succeeds', async () => {
  const { store, other, seen, enters, stores } = await alice();
  const changes = Array.from({ length: 10 }, (_, index) =>
    changePasswordAndEnd(index % 2 ? store : other.store, seen, `${NEW} ${index}`),
  );
  const results = await Promise.allSettled(changes);
  const entered = await Promise.all(results.map((_, index) => enters(`${NEW} ${index}`)));
  expect(results.map(({ status }) => status === 'fulfilled')).toEqual(entered);
  expect(entered.filter(Boolean)).toHaveLength(1);
  for (const result of results) {
    if (result.status === 'rejected') expect(result.reason).toBeInstanceOf(PasswordReplaced);
  }
  expect(await stores.revocations.generation('person', seen.id)).toBe(1);
});

test('changePassword keeps other changes of the record that were made meanwhile', async () => {
  const { store, stores, seen } = await alice();
  await disablePerson(store, 'alice');
  await changePassword(store, seen, NEW);
  expect(await stores.people.get(seen.id)).toMatchObject({ disabled: true, version: 2 });
});

test('changePassword keeps a password that an operator set meanwhile', async () => {
  const { store, seen, enters } = await alice();
  await setPassword(store, 'alice', 'that of the operator');
  await expect(changePassword(store, seen, NEW)).rejects.toThrow(PasswordReplaced);
  expect(await enters('that of the operator')).toBe(true);
});

test('another person who got the name of a removed person keeps their password', async () => {
  const { store, stores, seen, enters } = await alice();
  await removePerson({ ...store, stores }, 'alice');
  await addPerson(store, { name: 'alice', password: OLD }, 'reused');
  await expect(changePassword(store, seen, NEW)).rejects.toThrow(PasswordReplaced);
  expect(await enters(OLD)).toBe(true);
});

test('a password that breaks the rules changes nothing', async () => {
  const { store, seen, enters } = await alice();
  await expect(changePassword(store, seen, 'short')).rejects.toThrow(PasswordError);
  expect(await enters(OLD)).toBe(true);
});
