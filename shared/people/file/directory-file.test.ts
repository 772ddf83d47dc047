import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { systemRandom } from '#shared/base/random.ts';
import type { PersonRecord, WholePerson } from '#shared/stores/people.ts';
import { newApiKey } from '../api-key.ts';
import { userhashOf } from '../digest-hash.ts';
import { DirectoryFileError, parseDirectoryFile } from './directory-file.ts';
import { testPeople } from '../directory.fixture.ts';
import { formatDirectoryFile } from './format-directory.ts';
import { addPerson, setKerberos } from '../people.ts';

const REALMS = [
  { realm: 'one', digest: ['MD5', 'SHA-256', 'SHA-512-256'], scram: ['SHA-1', 'SHA-256'] },
] as const;

const { id, secret_hash } = newApiKey(systemRandom);
const KEY = { id, application: 'App', realm: 'one', secret_hash, scopes: ['a:b'], created_at: 1 };

/** alice with all that a person can have, and a key, as they are exported. */
async function exported() {
  const { store, stores } = await testPeople(undefined, REALMS);
  const password = 'correct horse battery staple';
  await addPerson(store, { name: 'alice', password, demo: true });
  const { id: of } = await setKerberos(store, 'alice', ['alice@A']);
  const alice = (await stores.people.getWhole(of)) as WholePerson;
  return { alice, text: await written([alice], [KEY]) };
}

const written = async (...directory: Parameters<typeof formatDirectoryFile>) =>
  text(formatDirectoryFile(...directory));

const parse = (file: string) => parseDirectoryFile(Buffer.from(file));

/** The message of the refusal. */
function mistakes(file: string): string {
  try {
    parse(file);
  } catch (error) {
    if (error instanceof DirectoryFileError) return error.message;
    throw error;
  }
  return 'taken';
}

test('what is written is read again, without what follows from the rest', async () => {
  const { alice, text: file } = await exported();
  const { aliases, version, digest_set, ...person } = alice.person;
  expect([aliases, version, digest_set]).toEqual([['kerberos:alice@A'], 1, expect.any(String)]);
  const { people, api_keys } = parse(file);
  expect(api_keys).toEqual([KEY]);
  expect(people).toEqual([{ ...person, digests: expect.any(Array) }]);
  expect(new Set(people[0]?.digests)).toEqual(new Set(alice.digests));
  expect(file).not.toMatch(/aliases|version|digest_set|userhash/);
  expect(parse(await written([], []))).toMatchObject({ people: [], api_keys: [] });
});

test('a line for each person and key', async () => {
  const { alice } = await exported();
  const lines = (await written([alice, alice], [KEY])).split('\n');
  expect(lines.filter((line) => line.startsWith('{"id"'))).toHaveLength(3);
});

test('a file of before SCRAM had keys for all realms is read: those of any realm', async () => {
  const { text: file } = await exported();
  const { people, ...rest } = JSON.parse(file);
  const [{ scram, verifiers, ...alice }] = people;
  const former = {
    ...rest,
    countersign_directory: 1,
    people: [{ ...alice, verifiers: { none: {}, one: { ...verifiers.one, scram } } }],
  };
  expect(parse(JSON.stringify(former)).people).toEqual(parse(file).people);
});

test('RFC 7616 section 3.4.4: userhashes follow from the name', async () => {
  const { text: file } = await exported();
  const [person] = parse(file.replace('"alice"', '"bob"')).people;
  for (const { hash, realm, userhash } of person?.digests ?? []) {
    expect(userhash).toBe(userhashOf(hash, 'bob', realm));
  }
  expect(person?.digests).toHaveLength(3);
});

describe('refused, by its place', () => {
  /** The same file with a member of alice, of her verifiers or of the key set to something else. */
  async function spoilt(place: readonly (string | number)[], value: unknown): Promise<string> {
    const { text: exportedText } = await exported();
    const file: unknown = JSON.parse(exportedText);
    let object = file as Record<string | number, unknown>;
    for (const step of place.slice(0, -1)) object = object[step] as typeof object;
    object[place.at(-1) ?? ''] = value;
    return JSON.stringify(file);
  }
  const hash = (parameters: string, salt = 'A'.repeat(22), digest = 'A'.repeat(43)) =>
    `$argon2id$v=19$${parameters}$${salt}$${digest}`;

  test.each([
    [['countersign_directory'], 3, 'must be 1 or 2'],
    [['people'], {}, 'expected array'],
    [['more'], 1, 'Unrecognized key'],
    [['people', 0, 'id'], '../x', 'must be an identifier'],
    [['people', 0, 'id'], '', 'must be an identifier'],
    [['people', 0, 'name'], 'Alice', 'a name in its normal form'],
    [['people', 0, 'name'], 'al ice', 'a name in its normal form'],
    [['people', 0, 'name'], 'x'.repeat(65), 'a name in its normal form'],
    [['people', 0, 'password_hash'], 'swordfish', 'an argon2id hash'],
    // A hash of another cost would tell by the time who is there, or take all memory.
    [['people', 0, 'password_hash'], hash('m=8,t=1,p=1'), 'an argon2id hash'],
    [['people', 0, 'password_hash'], hash('m=4194304,t=2,p=1'), 'an argon2id hash'],
    [['people', 0, 'password_hash'], hash('m=19456,t=2,p=1', 'A'.repeat(21)), 'an argon2id hash'],
    // Bits after the last byte, which argon2 would refuse at each sign-in.
    [['people', 0, 'password_hash'], hash('m=19456,t=2,p=1', `${'A'.repeat(21)}B`), 'an argon2id'],
    [['people', 0, 'password_hash'], undefined, 'expected string'],
    [['people', 0, 'verifiers', 'a"b'], {}, 'verifiers.a"b'],
    [['people', 0, 'verifiers', 'one', 'digest', 'MD5'], 'x'.repeat(32), 'hexadecimal'],
    [['people', 0, 'verifiers', 'one', 'digest', 'SHA-256'], 'A'.repeat(64), 'hexadecimal'],
    [['people', 0, 'verifiers', 'one', 'digest', 'SHA-256'], 'a'.repeat(63), 'hexadecimal'],
    [['people', 0, 'verifiers', 'one', 'digest', 'SHA-1'], 'a'.repeat(40), 'Unrecognized key'],
    [['people', 0, 'scram', 'SHA-1', 'iterations'], 1, '>=4096'],
    [['people', 0, 'scram', 'SHA-1', 'iterations'], 1e9, '<=1000000'],
    [['people', 0, 'scram', 'SHA-1', 'salt'], '', '16 bytes in base64'],
    [['people', 0, 'scram', 'SHA-1', 'salt'], 'AA==', '16 bytes in base64'],
    [
      ['people', 0, 'scram', 'SHA-256', 'stored_key'],
      Buffer.alloc(20).toString('base64'),
      '32 bytes in base64',
    ],
    [
      ['people', 0, 'scram', 'SHA-256', 'server_key'],
      Buffer.alloc(32).toString('base64url'),
      '32 bytes in base64',
    ],
    [['people', 0, 'kerberos', 0], 'alice', 'a principal with its realm'],
    [['people', 0, 'disabled'], 'no', 'expected boolean'],
    [['people', 0, 'created_at'], -1, '>=0'],
    [['people', 0, 'aliases'], ['kerberos:root@A'], 'Unrecognized key'],
    [['people', 0, 'version'], 7, 'Unrecognized key'],
    [['api_keys', 0, 'id'], 'a b', 'must be an identifier'],
    [['api_keys', 0, 'application'], 'App\u001b[2J', '1 to 100 characters'],
    [['api_keys', 0, 'realm'], '', 'realm'],
    [['api_keys', 0, 'secret_hash'], 'x', '32 bytes in base64url'],
    [['api_keys', 0, 'scopes', 0], 'a b', 'a scope-token'],
    [['api_keys', 0, 'expires_at'], 1.5, 'expected int'],
  ])('%j', async (place, value, message) => {
    const said = mistakes(await spoilt(place, value));
    expect(said).toContain(message);
    expect(said.split('\n')).toHaveLength(1);
  });

  test('two people with one id, name or principal, and two keys with one id', async () => {
    const { alice } = await exported();
    const other = (changes: Partial<PersonRecord>) => ({
      ...alice,
      person: { ...alice.person, ...changes },
    });
    const bob = { id: 'bob', name: 'bob' };
    const twice: readonly (readonly [Parameters<typeof formatDirectoryFile>, string])[] = [
      [[[alice, alice], []], 'people.1.id: '],
      [[[alice, other({ id: 'other' })], []], 'people.1.name: has the name alice again'],
      [[[alice, other(bob)], []], 'people.1: has the alias kerberos:alice@A again'],
      [
        [[other({ ...bob, kerberos: ['b@A', 'b@A'] })], []],
        'people.0: has the alias kerberos:b@A again',
      ],
      [[[], [KEY, KEY]], 'api_keys.1.id: '],
    ];
    for (const [file, message] of twice) {
      expect(mistakes(await written(...file))).toContain(message);
    }
  });

  test('no file, half a file, another file, and bytes that are not UTF-8', async () => {
    const { text: exportedText } = await exported();
    for (const end of [0, 1, exportedText.length >> 1, exportedText.length - 3]) {
      expect(mistakes(exportedText.slice(0, end))).toContain('is not JSON');
    }
    for (const other of ['null', '[]', '1', '"x"', '{}']) expect(mistakes(other)).not.toBe('taken');
    const broken = Buffer.from(exportedText);
    broken[exportedText.indexOf('alice')] = 0xff;
    expect(() => parseDirectoryFile(broken)).toThrow(/^all: is not JSON in UTF-8$/);
  });

  test('of a thousand mistakes twenty are told, and no secret in them', async () => {
    const { alice } = await exported();
    const person = { ...alice.person, password_hash: 'very secret', created_at: -1 };
    const broken = { ...alice, person };
    const said = mistakes(
      await written(
        Array.from({ length: 500 }, () => broken),
        [],
      ),
    );
    expect(said.split('\n')).toHaveLength(20);
    expect(said).not.toContain('very secret');
  });

  test('any JSON ends in a refusal, never in another error', () => {
    fc.assert(fc.property(fc.json(), (json) => expect(mistakes(json)).not.toBe('taken')));
  });
});
