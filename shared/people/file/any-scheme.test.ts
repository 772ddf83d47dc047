import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { testPeople } from '../directory.fixture.ts';
import { everybody } from '../everybody.ts';
import { parseDirectoryFile } from './directory-file.ts';
import { formatDirectoryFile } from './format-directory.ts';
import { importDirectory } from './import-directory.ts';
import { lackingOf } from '../lacking.ts';
import { localVerifiers } from '../local-verifiers.ts';
import { addPerson, setPassword } from '../people.ts';
import { PROOF } from '../verifier-kind.fixture.ts';

const PASSWORD = 'correct horse battery staple';
const [HERE, LATER] = [
  { realm: 'here', kinds: [PROOF] },
  { realm: 'later', kinds: [PROOF] },
];

test('the rows of an invented scheme are created and removed with passwords and files', async () => {
  const { store, stores } = await testPeople(undefined, [HERE]);
  const verifiers = localVerifiers({
    people: stores.people,
    admitted: { demo: false, sources: new Set() },
  });
  const find = (realm: string) => verifiers.find(PROOF.kind, realm, { name: 'alice' });
  const proofOf = (realm: string, password: string) =>
    PROOF.derive({ name: 'alice', realm, password }, store.random);

  // A new person has what the scheme derives, and the handle finds the person.
  const { id } = await addPerson(store, { name: 'alice', password: PASSWORD });
  const person = { id, name: 'alice' };
  expect(await find('here')).toEqual({ person, value: await proofOf('here', PASSWORD) });
  const handle = PROOF.handle?.('alice', 'here') ?? '';
  expect(await verifiers.find(PROOF.kind, 'here', { handle })).toEqual(await find('here'));

  // A person lacks the verifiers of a new realm until their next password.
  const lacking = async () => {
    const record = await stores.people.get(id);
    return record && lackingOf(stores.people, [HERE, LATER])(record);
  };
  expect(await lacking()).toEqual([LATER]);
  const next = 'the new password';
  await setPassword({ ...store, realms: [HERE, LATER] }, 'alice', next);
  expect(await lacking()).toEqual([]);
  const [here, later] = [await find('here'), await find('later')];
  expect(here?.value).toBe(await proofOf('here', next));
  expect(later?.value).toBe(await proofOf('later', next));

  // After export and import the verifiers are the same.
  const file = formatDirectoryFile({
    people: everybody(stores.people),
    api_keys: [],
    public_keys: [],
    passkeys: [],
    second_factors: [],
  });
  const directory = parseDirectoryFile(await buffer(Readable.from(file)), [PROOF]);
  const other = await testPeople();
  await importDirectory({ ...other.store, stores: other.stores }, directory);
  const imported = localVerifiers({
    people: other.stores.people,
    admitted: { demo: false, sources: new Set() },
  });
  expect(await imported.find(PROOF.kind, 'here', { handle })).toEqual(here);
  expect(await imported.find(PROOF.kind, 'later', { name: 'alice' })).toEqual(later);
});
