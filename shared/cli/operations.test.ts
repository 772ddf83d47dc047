import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { importJWK, SignJWT } from 'jose';
import { epochSeconds } from '#shared/base/clock.ts';
import { ensureKeys, privateJwk } from '#shared/keys/signing-key-lifecycle.ts';
import { keepTokenKeys, listTokenKeys } from '#shared/keys/token-key-lifecycle.ts';
import { lifeOf } from '#shared/operations/keys/signing-keys.ts';
import { tokenKeyLife } from '#shared/operations/keys/token-keys.ts';
import { type House, perform } from '#shared/operations/operation.ts';
import { OPERATIONS } from '#shared/operations/operations.ts';
import { kindOf, spellingOf } from '#shared/operations/texts.ts';
import { addPerson, personNamed } from '#shared/people/people.ts';
import {
  someApiKey,
  someClient,
  somePasskey,
  somePublicKey,
  someSecondFactor,
} from '#shared/stores/contract/samples.ts';
import { newData, TestShell } from './cli.fixture.ts';
import { COMMANDS } from './commands.ts';
import { openHouse } from './stores/with-people.ts';

const SHOP = 'http://localhost:3001/shop/';
const SETTINGS = {
  privateTokens: {},
  spaces: [
    {
      url: SHOP,
      realm: 'shop',
      schemes: ['Bearer', 'API-Key'],
      serves: 'upstream',
      upstream: { url: 'http://127.0.0.1:8080/' },
      cache: {},
    },
  ],
};

/** A store with everything that the operations need. */
async function furnished(): Promise<House & AsyncDisposable> {
  const env = await newData();
  const file = `${env.COUNTERSIGN_DATA}.json`;
  await writeFile(file, JSON.stringify(SETTINGS));
  const house = await openHouse(new TestShell({ ...env, COUNTERSIGN_CONFIG: file }));
  const { clients, apiKeys, invalidations } = house.stores;
  await clients.add({ ...someClient('app'), secret_hash: 'hash' });
  await apiKeys.add(someApiKey('key'));
  await invalidations.add([{ space: '/shop/', kind: 'ban', value: '{"tag":"a"}', soft: true }]);
  await addPerson(house, { name: 'alice' });
  await ensureKeys(await lifeOf(house, false), ['ES256']);
  const life = await tokenKeyLife(house);
  await keepTokenKeys(life, await listTokenKeys(life));
  return house;
}

/** An access token that this server has signed. */
async function signed(house: House): Promise<string> {
  const life = await lifeOf(house, false);
  const [stored] = await life.stores.keys.list();
  if (stored === undefined) throw new Error('no key');
  const now = epochSeconds(house.clock);
  const claims = {
    iss: house.config.issuer,
    aud: SHOP,
    sub: 'app',
    client_id: 'app',
    jti: 'the-jti',
    iat: now,
    exp: now + 600,
    client_gen: 0,
    epoch: await house.stores.revocations.epoch(true),
  };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: stored.kid })
    .sign(await importJWK({ ...privateJwk(life, stored) }, 'ES256'));
}

const PEM = generateKeyPairSync('ed25519').publicKey.export({ format: 'pem', type: 'spki' });

const alice = ({ people }: House['stores']) => personNamed(people, 'alice');

type Given = Readonly<Record<string, unknown>>;

/** The input of each operation in this test. Some inputs depend on the store. */
const CALLS: Readonly<Record<string, Given | ((house: House) => Promise<Given>)>> = {
  'client add': {
    client_name: 'App',
    grant_types: ['client_credentials', 'urn:ietf:params:oauth:grant-type:device_code'],
    scope: 'shop:read',
  },
  'client list': {},
  'client show': { client_id: 'app' },
  'client set': { client_id: 'app', client_name: 'New' },
  'client secret': { client_id: 'app', overlap: 60 },
  'client access': { client_id: 'app' },
  'client end': { client_id: 'app' },
  'client remove': { client_id: 'app' },
  'user list': {},
  'user show': { name: 'alice' },
  'user access': { name: 'alice' },
  'user add': { name: 'bob' },
  'user invite': { name: 'bob' },
  'user passwd': { name: 'alice' },
  'user recover': { name: 'alice' },
  'user kerberos': { name: 'alice', principals: [] },
  'user end': { name: 'alice' },
  'user key list': {},
  'user key add': { name: 'alice', key_name: 'Phone', scheme: 'concealed', public_key: PEM },
  'user key remove': async ({ stores }) => {
    const { id } = await alice(stores);
    await stores.publicKeys.add({ ...somePublicKey('one'), owner: { kind: 'person', id } }, 9);
    return { name: 'alice', fingerprint: 'one' };
  },
  'user passkey list': {},
  'user passkey remove': async ({ stores }) => {
    const { id } = await alice(stores);
    const passkey = { ...somePasskey('one'), accountId: id };
    await stores.passkeys.add(passkey, 9);
    return { name: 'alice', id: 'one', last: true };
  },
  'user second-factor': { name: 'alice' },
  'user second-factor-remove': async ({ stores }) => {
    await stores.secondFactors.add(someSecondFactor((await alice(stores)).id));
    return { name: 'alice' };
  },
  'user remove': { name: 'alice' },
  'user set': { name: 'alice', display_name: 'Alice', admin: true },
  'user disable': { name: 'alice' },
  'user enable': { name: 'alice' },
  'key add': { application: 'App', realm: 'shop', scope: 'shop:read' },
  'key list': {},
  'key rotate': { id: 'key', expires: 7 },
  'key remove': { id: 'key' },
  'signing-keys list': {},
  'signing-keys rotate': { compromised: true },
  'private-token keys': {},
  'private-token rotate': { type: 'voprf-p384', compromised: true },
  'revocation status': {},
  'token revoke': async (house) => ({ token: await signed(house) }),
  'realm list': {},
  'cache stats': {},
  'cache purge': { urls: [`${SHOP}a`] },
  'cache ban': { url: SHOP, status: 404 },
  'cache bans': {},
  'audit list': { since: '2h' },
  'server status': {},
};

/** Options of a command that are not members of its operation. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  'client add': ['jwks', 'gnap-key'],
  'client set': ['jwks'],
  'user add': ['password-stdin'],
  'user passwd': ['password-stdin'],
  'user disable': ['undo'],
  'user key add': ['public-key', 'out', 'name', 'scheme'],
  'key add': ['public-key', 'out', 'name'],
  'user second-factor': ['remove'],
  'audit list': ['after', 'limit'],
};

/** Members that a command takes from a file or from standard input, not from an option. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  'client add': ['jwks', 'gnap_key'],
  'client set': ['jwks'],
  'user add': ['password'],
  'user passwd': ['password'],
  'user key add': ['public_key', 'key_name', 'scheme'],
  'key add': ['public_key', 'key_name'],
};

/**
 * The refusals of second calls. All other operations may be repeated without changing the numbers of
 * things.
 */
const REFUSED_AGAIN: Readonly<Record<string, RegExp>> = {
  'client remove': /^there is no client app/,
  'user add': /^the name bob is taken/,
  'user key add': /is known already, and no key is used twice/,
  'user key remove': /^alice has no key one/,
  'user passkey remove': /^alice has no passkey one/,
  'user second-factor-remove': /^alice has no second factor/,
  'user remove': /^there is no person alice/,
  'key remove': /^there is no key key/,
};

/** Operations that make one more thing each time, because each answer has its own name, id or secret. */
const MAKES_ONE_MORE: ReadonlySet<string> = new Set(['client add', 'key add', 'key rotate']);

async function numberOf(pages: AsyncIterable<readonly unknown[]>): Promise<number> {
  let number = 0;
  for await (const page of pages) number += page.length;
  return number;
}

/** The numbers of stored people, clients and keys. */
async function numbersIn({ people, clients, apiKeys, publicKeys, passkeys }: House['stores']) {
  return Promise.all([
    numberOf(people.list()),
    clients.list().then(({ length }) => length),
    apiKeys.list().then(({ length }) => length),
    numberOf(publicKeys.list()),
    numberOf(passkeys.list()),
  ]);
}

/** List members that commands fill in themselves. */
const PAGING = new Set(['after', 'limit']);

describe.each(OPERATIONS.map((operation) => [operation.name, operation] as const))(
  'the operation %s',
  (name, operation) => {
    const { input, operands, output } = operation;
    const member = (word: string) => spellingOf(word, input.shape[word] as never);

    test('is a command whose operands and options are its members', () => {
      const command = COMMANDS.find((one) => one.name === name);
      expect(command?.summary).toBe(operation.summary);
      const words = (command?.operands ?? []).map((word) => word.replaceAll(/[[\].]/g, ''));
      expect([...new Set(words)]).toEqual(operands.map((word) => member(word).value));
      const options = Object.keys(input.shape).filter(
        (word) => !operands.includes(word) && !PAGING.has(word) && !ELSEWHERE[name]?.includes(word),
      );
      const own = new Set(OWN[name]);
      const shown = Object.entries(command?.options ?? {}).filter(([option]) => !own.has(option));
      expect(shown.map(([option]) => option)).toEqual(options.map((word) => member(word).option));
      const flags = options.filter((word) => kindOf(input.shape[word] as never) === 'flag');
      const plain = shown.filter(([, { value }]) => value === undefined);
      expect(plain.map(([option]) => option)).toEqual(flags.map((word) => member(word).option));
    });

    test('returns its declared output, and refuses an unknown member', async () => {
      await using house = await furnished();
      const call = CALLS[name];
      if (call === undefined) throw new Error('name in CALLS what it is given here');
      const given = typeof call === 'function' ? await call(house) : call;
      const refused = perform(operation, { ...given, 'x-other': '' }, house);
      await expect(refused).rejects.toMatchObject({ name: 'InputError', path: ['x-other'] });
      const told = await perform(operation, given, house);
      expect(output.parse(told)).toEqual(told);
      expect(JSON.stringify(told)).not.toMatch(/secret_hash|"sealed"|"hash"/);
    });

    test('may be repeated, or reports what exists already', async () => {
      await using house = await furnished();
      const call = CALLS[name];
      const given = typeof call === 'function' ? await call(house) : call;
      await perform(operation, given ?? {}, house);
      const before = await numbersIn(house.stores);
      const again = perform(operation, given ?? {}, house);
      const refused = REFUSED_AGAIN[name];
      if (refused) await expect(again).rejects.toThrow(refused);
      else expect(output.parse(await again)).toEqual(await again);
      const after = await numbersIn(house.stores);
      const changed = after.filter((number, index) => number !== before[index]);
      expect(changed).toHaveLength(MAKES_ONE_MORE.has(name) ? 1 : 0);
    });
  },
);

test('no two operations have the same name', () => {
  const names = OPERATIONS.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});
