import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { systemRandom } from '#shared/random.ts';
import { newApiKey } from './api-key.ts';
import { DirectoryFileError, formatDirectory, parseDirectory } from './directory-file.ts';
import { testPeople } from './directory.fixture.ts';
import { addPerson, setKerberos } from './people.ts';

const REALMS = [
  { realm: 'one', digest: ['MD5', 'SHA-256', 'SHA-512-256'], scram: ['SHA-1', 'SHA-256'] },
] as const;

const { id, secret_hash } = newApiKey(systemRandom);
const KEY = { id, application: 'App', realm: 'one', secret_hash, scopes: ['a:b'], created_at: 1 };

/** alice with all that a person can have, and a key, as they are exported. */
async function exported() {
  const { store } = await testPeople(undefined, REALMS);
  const password = 'correct horse battery staple';
  await addPerson(store, { name: 'alice', password, demo: true });
  const alice = await setKerberos(store, 'alice', ['alice@A']);
  return { alice, text: formatDirectory([alice], [KEY]) };
}

const parse = (text: string) => parseDirectory(Buffer.from(text));

/** The message of the refusal. */
function mistakes(text: string): string {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof DirectoryFileError) return error.message;
    throw error;
  }
  return 'taken';
}

test('what is written is read again, without what follows from the rest', async () => {
  const { alice, text } = await exported();
  const { aliases, version, ...person } = alice;
  expect([aliases?.length, version]).toEqual([4, 1]);
  expect(parse(text)).toMatchObject({ people: [person], api_keys: [KEY] });
  expect(text).not.toContain('aliases');
  expect(parse(formatDirectory([], []))).toMatchObject({ people: [], api_keys: [] });
});

describe('refused, by its place', () => {
  /** The same file with a member of alice, of her verifiers or of the key set to something else. */
  async function spoilt(place: readonly (string | number)[], value: unknown): Promise<string> {
    const { text } = await exported();
    const file: unknown = JSON.parse(text);
    let object = file as Record<string | number, unknown>;
    for (const step of place.slice(0, -1)) object = object[step] as typeof object;
    object[place.at(-1) ?? ''] = value;
    return JSON.stringify(file);
  }
  const hash = (parameters: string, salt = 'A'.repeat(22), digest = 'A'.repeat(43)) =>
    `$argon2id$v=19$${parameters}$${salt}$${digest}`;

  test.each([
    [['countersign_directory'], 2, 'must be 1'],
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
    [['people', 0, 'verifiers', 'one', 'scram', 'SHA-1', 'iterations'], 1, '>=4096'],
    [['people', 0, 'verifiers', 'one', 'scram', 'SHA-1', 'iterations'], 1e9, '<=1000000'],
    [['people', 0, 'verifiers', 'one', 'scram', 'SHA-1', 'salt'], '', '16 bytes in base64'],
    [['people', 0, 'verifiers', 'one', 'scram', 'SHA-1', 'salt'], 'AA==', '16 bytes in base64'],
    [
      ['people', 0, 'verifiers', 'one', 'scram', 'SHA-256', 'stored_key'],
      Buffer.alloc(20).toString('base64'),
      '32 bytes in base64',
    ],
    [
      ['people', 0, 'verifiers', 'one', 'scram', 'SHA-256', 'server_key'],
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

  test('two people with one id, name, userhash or principal, and two keys with one id', async () => {
    const { alice } = await exported();
    const bob = { ...alice, id: 'bob', name: 'bob' };
    const twice: readonly (readonly [Parameters<typeof formatDirectory>, string])[] = [
      [[[alice, alice], []], 'people.1.id: '],
      [[[alice, { ...alice, id: 'other' }], []], 'people.1.name: has the name alice again'],
      [[[alice, bob], []], 'people.1: has the alias kerberos:alice@A again'],
      [[[{ ...bob, kerberos: ['b@A', 'b@A'] }], []], 'people.0: has the alias kerberos:b@A again'],
      [[[], [KEY, KEY]], 'api_keys.1.id: '],
    ];
    for (const [file, message] of twice) {
      expect(mistakes(formatDirectory(...file))).toContain(message);
    }
  });

  test('no file, half a file, another file, and bytes that are not UTF-8', async () => {
    const { text } = await exported();
    for (const end of [0, 1, text.length >> 1, text.length - 3]) {
      expect(mistakes(text.slice(0, end))).toContain('is not JSON');
    }
    for (const other of ['null', '[]', '1', '"x"', '{}']) expect(mistakes(other)).not.toBe('taken');
    const broken = Buffer.from(text);
    broken[text.indexOf('alice')] = 0xff;
    expect(() => parseDirectory(broken)).toThrow(/^all: is not JSON in UTF-8$/);
  });

  test('of a thousand mistakes twenty are told, and no secret in them', async () => {
    const { alice } = await exported();
    const broken = { ...alice, password_hash: 'very secret', created_at: -1 };
    const said = mistakes(
      formatDirectory(
        Array.from({ length: 500 }, () => broken),
        [],
      ),
    );
    expect(said.split('\n')).toHaveLength(20);
    expect(said).not.toContain('very secret');
  });

  test('any JSON ends in a refusal, never in another error', () => {
    fc.assert(fc.property(fc.json(), (text) => expect(mistakes(text)).not.toBe('taken')));
  });
});
