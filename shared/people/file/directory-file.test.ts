import { generateKeyPairSync } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { systemRandom } from '#shared/base/random.ts';
import type { PersonRecord, WholePerson } from '#shared/stores/people/people.ts';
import { MOST_PASSKEYS } from '#shared/stores/credentials/passkeys.ts';
import { somePasskey, someSecondFactor } from '#shared/stores/contract/samples.ts';
import { newApiKey } from '../api-key.ts';
import { DirectoryFileError, parseDirectoryFile } from './directory-file.ts';
import { testPeople } from '../directory.fixture.ts';
import { type DirectoryParts, formatDirectoryFile } from './format-directory.ts';
import { addPerson, setKerberos } from '../people.ts';
import { readPublicKey } from '../public-key.ts';
import { OTHER_PROOF, PROOF, SEAL } from '../verifier-kind.fixture.ts';

const KINDS = [PROOF, OTHER_PROOF, SEAL];
const REALMS = [{ realm: 'one', kinds: KINDS }];

const { id, secret_hash } = newApiKey(systemRandom);
const KEY = { id, application: 'App', realm: 'one', secret_hash, scopes: ['a:b'], created_at: 1 };

const octets = (count: number) => Buffer.alloc(count).toString('base64url');

const PASSKEY = { ...somePasskey(octets(1_023)), used_at: 2, refused_at: 3 };

const SECOND_FACTOR = {
  ...someSecondFactor('alice'),
  id: 'set-up',
  sealed: octets(60),
  recovery: [octets(32)],
  used_at: 5,
};

const { publicKey } = generateKeyPairSync('ed25519');
const PUBLIC_KEY = {
  ...readPublicKey(publicKey.export({ format: 'der', type: 'spki' }), 'Concealed'),
  scheme: 'Concealed',
  owner: { kind: 'application', id: 'App' },
  name: 'Laptop',
  acr: 'urn:countersign:acr:passkey',
  created_at: 1,
} as const;

/** Returns the export of alice with all that a person can have, and of keys. */
async function exported() {
  const { store, stores } = await testPeople(undefined, REALMS);
  const password = 'correct horse battery staple';
  await addPerson(store, { name: 'alice', password, demo: true });
  const { id: of } = await setKerberos(store, 'alice', ['alice@A']);
  const alice = (await stores.people.getWhole(of)) as WholePerson;
  return {
    alice,
    text: await written({
      people: [alice],
      api_keys: [KEY],
      public_keys: [PUBLIC_KEY],
      passkeys: [{ ...PASSKEY, accountId: of }],
      second_factors: [{ ...SECOND_FACTOR, accountId: of }],
    }),
  };
}

const written = async (parts: Partial<DirectoryParts>) =>
  text(
    formatDirectoryFile({
      people: [],
      api_keys: [],
      public_keys: [],
      passkeys: [],
      second_factors: [],
      ...parts,
    }),
  );

const parse = (file: string, kinds = KINDS) => parseDirectoryFile(Buffer.from(file), kinds);

/** Returns the message with which the file is refused. */
function mistakes(file: string, kinds = KINDS): string {
  try {
    parse(file, kinds);
  } catch (error) {
    if (error instanceof DirectoryFileError) return error.message;
    throw error;
  }
  return 'taken';
}

test('a written file is read again, without its derived members', async () => {
  const { alice, text: file } = await exported();
  const { aliases, search_keys: _, version, verifier_set, ...person } = alice.person;
  expect([aliases, version, verifier_set]).toEqual([['kerberos:alice@A'], 1, expect.any(String)]);
  const { people, api_keys, public_keys, passkeys, second_factors } = parse(file);
  expect(api_keys).toEqual([KEY]);
  expect(public_keys).toEqual([PUBLIC_KEY]);
  expect(passkeys).toEqual([{ ...PASSKEY, accountId: alice.person.id }]);
  expect(second_factors).toEqual([{ ...SECOND_FACTOR, accountId: alice.person.id }]);
  const owner = { kind: 'person', id: alice.person.id } as const;
  const hers = { ...PUBLIC_KEY, owner, used_at: 5, signed_out_at: 7 };
  expect(parse(await written({ people: [alice], public_keys: [hers] })).public_keys).toEqual([
    hers,
  ]);
  expect(people).toEqual([{ ...person, verifiers: expect.any(Array) }]);
  expect(alice.verifiers).toHaveLength(3);
  expect(new Set(people[0]?.verifiers)).toEqual(new Set(alice.verifiers));
  expect(file).not.toMatch(/aliases|search_keys|version|verifier_set|handle/);
  const empty = { people: [], api_keys: [], public_keys: [], passkeys: [], second_factors: [] };
  expect(parse(await written({}))).toMatchObject(empty);
});

test('a person without a password is read again', async () => {
  const { alice } = await exported();
  const { password_hash: _, ...person } = alice.person;
  const bare = { person, verifiers: [] };
  const [read] = parse(await written({ people: [bare] })).people;
  expect(read).toMatchObject({ name: 'alice', verifiers: [] });
  expect(read).not.toHaveProperty('password_hash');
});

test('the file has a line for each person, key, passkey and second factor', async () => {
  const { alice } = await exported();
  const lines = (
    await written({
      people: [alice, alice],
      api_keys: [KEY],
      public_keys: [PUBLIC_KEY],
      passkeys: [PASSKEY],
      second_factors: [SECOND_FACTOR],
    })
  ).split('\n');
  expect(lines.filter((line) => /^\{"(?:id|accountId)"/.test(line))).toHaveLength(6);
});

test('handles are derived from the name, not stored in the file', async () => {
  const { text: file } = await exported();
  const [{ verifiers = [] } = {}] = parse(file.replace('"alice"', '"bob"')).people;
  expect(verifiers).toHaveLength(3);
  expect(verifiers.map(({ handle }) => handle)).toEqual(
    verifiers.map(({ kind, realm }) =>
      KINDS.find((one) => one.kind === kind)?.handle?.('bob', realm),
    ),
  );
});

describe('a faulty file is refused, with the place of the fault', () => {
  /** Returns the file with one member of alice, of her verifiers or of the key set to another value. */
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
    [['countersign_directory'], 6, 'countersign_directory: must be 1; in a file of a build before'],
    [['countersign_directory'], 2, 'countersign_directory: must be 1; '],
    [['countersign_directory'], undefined, 'countersign_directory: must be 1; '],
    [['people'], {}, 'people: must be a list in brackets'],
    [['more'], 1, 'all: has what nothing reads: remove more'],
    [['people', 0, 'name'], 'Alice', 'a name in its normal form'],
    [['people', 0, 'name'], 'al ice', 'a name in its normal form'],
    [['people', 0, 'name'], 'x'.repeat(65), 'a name in its normal form'],
    [['people', 0, 'password_hash'], 'swordfish', 'an argon2id hash'],
    // Another cost would show by the time which people exist, or use all memory.
    [['people', 0, 'password_hash'], hash('m=8,t=1,p=1'), 'an argon2id hash'],
    [['people', 0, 'password_hash'], hash('m=4194304,t=2,p=1'), 'an argon2id hash'],
    [['people', 0, 'password_hash'], hash('m=19456,t=2,p=1', 'A'.repeat(21)), 'an argon2id hash'],
    // The hash has bits after the last byte, which argon2 would refuse at each sign-in.
    [['people', 0, 'password_hash'], hash('m=19456,t=2,p=1', `${'A'.repeat(21)}B`), 'an argon2id'],
    // Digest and SCRAM would authenticate a person whom Basic refuses.
    [['people', 0, 'password_hash'], undefined, 'people.0.verifiers: must be empty for somebody'],
    [['people', 0, 'password_hash'], null, 'must be text in quotation marks'],
    [['people', 0, 'verifiers'], undefined, 'is missing: it must be a list'],
    [['people', 0, 'verifiers', 1, 'kind'], 'proof three', 'verifiers.1.kind'],
    [['people', 0, 'verifiers', 1, 'kind'], 'proof two', 'must have one of each kind and realm'],
    [['people', 0, 'verifiers', 1, 'realm'], 'a"b', 'verifiers.1.realm'],
    [['people', 0, 'verifiers', 1, 'realm'], '', 'verifiers.1.realm'],
    // This verifier is valid in all realms, so it must not name one.
    [['people', 0, 'verifiers', 0, 'realm'], 'one', 'verifiers.0.realm'],
    [['people', 0, 'verifiers', 1, 'value'], 'x'.repeat(64), 'value of a verifier of Proof one'],
    [['people', 0, 'verifiers', 1, 'value'], undefined, 'is missing: it must be text'],
    [['people', 0, 'verifiers', 1, 'handle'], 'x', 'has what nothing reads'],
    [['people', 0, 'scram'], {}, 'has what nothing reads'],
    [['people', 0, 'kerberos', 0], 'alice', 'a principal with its realm'],
    [['people', 0, 'disabled'], 'no', 'must be true or false'],
    [['people', 0, 'created_at'], -1, 'must be at least 0'],
    [['people', 0, 'aliases'], ['kerberos:root@A'], 'has what nothing reads'],
    [['people', 0, 'version'], 7, 'has what nothing reads'],
    [['api_keys', 0, 'id'], 'a b', 'must be an identifier'],
    [['api_keys', 0, 'application'], 'App\u001b[2J', '1 to 100 characters'],
    [['api_keys', 0, 'realm'], '', 'realm'],
    [['api_keys', 0, 'secret_hash'], 'x', '32 bytes in base64url'],
    [['api_keys', 0, 'scopes', 0], 'a b', 'a scope-token'],
    [['api_keys', 0, 'expires_at'], 1.5, 'must be a whole number'],
    [
      ['public_keys', 0, 'id'],
      'A'.repeat(43),
      'a key for Concealed in DER, and id its fingerprint',
    ],
    [['public_keys', 0, 'spki'], 'AAAA', 'a key for Concealed in DER, and id its fingerprint'],
    // Another spelling of base64 would let the key exist twice.
    [['public_keys', 0, 'spki'], `${PUBLIC_KEY.spki}=`, 'a key for Concealed in DER'],
    [['public_keys', 0, 'scheme'], 'Basic', 'public_keys.0.scheme'],
    [['public_keys', 0, 'scheme'], 'HOBA', 'origin'],
    [['public_keys', 0, 'origin'], 'https://rs.example', 'has what nothing reads'],
    [['public_keys', 0, 'owner'], { kind: 'person', id: 'somebody' }, 'is nobody of the file'],
    [['public_keys', 0, 'owner', 'kind'], 'client', 'public_keys.0.owner.kind'],
    [['public_keys', 0, 'owner'], { kind: 'application', id: '' }, '1 to 100 characters'],
    [['public_keys', 0, 'name'], 'x\u001b[2J', '1 to 100 characters'],
    [['public_keys', 0, 'signed_out_at'], -1, 'must be at least 0'],
    [['public_keys', 0, 'more'], 1, 'has what nothing reads'],
    [['passkeys'], undefined, 'passkeys: '],
    [['passkeys', 0, 'id'], '', 'passkeys.0.id: must be 1 to 1,023 octets in base64url'],
    [['passkeys', 0, 'id'], 'A', '1 to 1,023 octets in base64url'],
    [['passkeys', 0, 'id'], 'AAA=', '1 to 1,023 octets in base64url'],
    [['passkeys', 0, 'id'], 'AA+A', '1 to 1,023 octets in base64url'],
    // Bits after the last octet would let the passkey exist twice, in two spellings.
    [['passkeys', 0, 'id'], 'AAB', '1 to 1,023 octets in base64url'],
    [['passkeys', 0, 'id'], octets(1_024), '1 to 1,023 octets in base64url'],
    [['passkeys', 0, 'publicKey'], 'pQ==', 'publicKey: must be 1 to 2,048 octets in base64url'],
    [['passkeys', 0, 'publicKey'], octets(2_049), '1 to 2,048 octets in base64url'],
    [['passkeys', 0, 'accountId'], 'somebody', 'passkeys.0.accountId: is nobody of the file'],
    [['passkeys', 0, 'rpId'], 'https://auth.example', 'rpId: must be a domain'],
    [['passkeys', 0, 'rpId'], 'x'.repeat(254), 'rpId: must be a domain'],
    [['passkeys', 0, 'counter'], 2 ** 32, 'must be at most 4294967295'],
    [['passkeys', 0, 'counter'], -1, 'must be at least 0'],
    [['passkeys', 0, 'counter'], 0.5, 'must be a whole number'],
    [['passkeys', 0, 'backupEligible'], undefined, 'must be true or false'],
    [['passkeys', 0, 'backedUp'], 1, 'must be true or false'],
    [['passkeys', 0, 'name'], 'x\u001b[2J', '1 to 100 characters'],
    [['passkeys', 0, 'created_at'], undefined, 'created_at'],
    [['passkeys', 0, 'used_at'], -1, 'must be at least 0'],
    [['passkeys', 0, 'refused_at'], 'today', 'refused_at'],
    [['passkeys', 0, 'more'], 1, 'has what nothing reads'],
    [['second_factors'], undefined, 'second_factors: '],
    [['second_factors', 0, 'accountId'], 'somebody', 'accountId: is nobody of the file'],
    [['second_factors', 0, 'id'], '', 'must be an identifier'],
    [['second_factors', 0, 'sealed'], 'AAAA=', '1 to 256 octets in base64url'],
    [['second_factors', 0, 'sealed'], octets(257), '1 to 256 octets in base64url'],
    [['second_factors', 0, 'step'], -1, 'must be at least 0'],
    [['second_factors', 0, 'step'], 0.5, 'must be a whole number'],
    [['second_factors', 0, 'recovery', 0], 'ABCDE12345', '1 to 32 octets in base64url'],
    [['second_factors', 0, 'recovery', 0], octets(33), '1 to 32 octets in base64url'],
    [['second_factors', 0, 'recovery'], Array(11).fill(octets(32)), 'must have at most 10 entries'],
    [['second_factors', 0, 'used_at'], -1, 'must be at least 0'],
    [['second_factors', 0, 'more'], 1, 'has what nothing reads'],
  ])('%j', async (place, value, message) => {
    const said = mistakes(await spoilt(place, value));
    expect(said).toContain(message);
    expect(said.split('\n')).toHaveLength(1);
  });

  test.each(['../x', ''])("a person's id is refused: %j", async (of) => {
    expect(mistakes(await spoilt(['people', 0, 'id'], of)).split('\n')).toEqual([
      'people.0.id: must be an identifier',
      'passkeys.0.accountId: is nobody of the file',
      'second_factors.0.accountId: is nobody of the file',
    ]);
  });

  test('a file is refused with two people of one id, name or principal, or two keys of one kind with one id', async () => {
    const { alice } = await exported();
    const other = (changes: Partial<PersonRecord>) => ({
      ...alice,
      person: { ...alice.person, ...changes },
    });
    const bob = { id: 'bob', name: 'bob' };
    const hers = { ...PASSKEY, accountId: alice.person.id };
    const factor = { ...SECOND_FACTOR, accountId: alice.person.id };
    const twice: readonly (readonly [Partial<DirectoryParts>, string])[] = [
      [{ people: [alice, alice] }, 'people.1.id: '],
      [{ people: [alice, other({ id: 'other' })] }, 'people.1.name: has the name alice again'],
      [{ people: [alice, other(bob)] }, 'people.1: has the alias kerberos:alice@A again'],
      [
        { people: [other({ ...bob, kerberos: ['b@A', 'b@A'] })] },
        'people.0: has the alias kerberos:b@A again',
      ],
      [{ api_keys: [KEY, KEY] }, 'api_keys.1.id: '],
      [{ public_keys: [PUBLIC_KEY, PUBLIC_KEY] }, 'public_keys.1.id: '],
      [
        { people: [alice], passkeys: [hers, hers] },
        `passkeys.1.id: has the passkey ${hers.id} again`,
      ],
      [
        { people: [alice], second_factors: [factor, { ...factor, id: 'other' }] },
        `second_factors.1.accountId: has the second factor of ${factor.accountId} again`,
      ],
    ];
    for (const [file, message] of twice) {
      expect(mistakes(await written(file))).toContain(message);
    }
  });

  test('a file is refused with one passkey too many for a person, or with one passkey of two people', async () => {
    const { alice } = await exported();
    const { id: accountId } = alice.person;
    const person = { ...alice.person, id: 'bob', name: 'bob', kerberos: [] };
    const people = [alice, { ...alice, person }];
    const many = Array.from({ length: MOST_PASSKEYS + 1 }, (_, n) => ({
      ...PASSKEY,
      accountId,
      id: octets(n + 1),
    }));
    expect(mistakes(await written({ people, passkeys: many }))).toBe(
      `passkeys.${MOST_PASSKEYS}: is one of more than ${MOST_PASSKEYS} of a person`,
    );
    const [first = PASSKEY, ...rest] = many;
    expect(parse(await written({ people, passkeys: rest })).passkeys).toEqual(rest);
    const his = { ...first, accountId: 'bob' };
    expect(parse(await written({ people, passkeys: [...rest, his] })).passkeys).toHaveLength(
      MOST_PASSKEYS + 1,
    );
    expect(mistakes(await written({ people, passkeys: [first, his] }))).toBe(
      `passkeys.1.id: has the passkey ${first.id} again`,
    );
  });

  test('an empty, truncated or foreign file, a repeated member, and bytes that are not UTF-8 are refused', async () => {
    const { text: exportedText } = await exported();
    for (const end of [0, 1, exportedText.length >> 1, exportedText.length - 3]) {
      expect(mistakes(exportedText.slice(0, end))).toMatch(
        /^line \d+, column \d+: is not JSON in UTF-8$/,
      );
    }
    for (const other of ['null', '[]', '1', '"x"', '{}']) expect(mistakes(other)).not.toBe('taken');
    const twice = exportedText.replace('{', '{"people":[],');
    expect(mistakes(twice)).toBe('people: is there twice: remove one of them');
    const broken = Buffer.from(exportedText);
    broken[exportedText.indexOf('alice')] = 0xff;
    expect(() => parseDirectoryFile(broken, KINDS)).toThrow(/^all: is not JSON in UTF-8$/);
  });

  test('the message names twenty of a thousand mistakes, and no secret', async () => {
    const { alice } = await exported();
    const person = { ...alice.person, password_hash: 'very secret', created_at: -1 };
    const broken = { ...alice, person };
    const said = mistakes(await written({ people: Array.from({ length: 500 }, () => broken) }));
    expect(said.split('\n')).toHaveLength(20);
    expect(said).not.toContain('very secret');
  });

  test('any JSON is refused with the same kind of error', () => {
    fc.assert(fc.property(fc.json(), (json) => expect(mistakes(json)).not.toBe('taken')));
  });
});
