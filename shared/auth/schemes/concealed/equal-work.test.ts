import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { parseCredentials } from '#shared/http/auth/credentials.ts';
import { someSecondFactor } from '#shared/stores/contract/samples.ts';
import type { StoreUnderTest } from '#shared/stores/contract/store-under-test.ts';
import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import { sharedUnderTest } from '#shared/stores/postgres/under-test.ts';
import { sqliteUnderTest } from '#shared/stores/sqlite/under-test.ts';
import type { Stores } from '#shared/stores/stores.ts';
import type { AuthRequest, Scheme } from '../../scheme.ts';
import { concealed } from './concealed.ts';
import {
  ALICE,
  asking,
  fieldOf,
  keyFrom,
  newKey,
  optionsOver,
  paramsOf,
  REALM,
  type SchemeNumber,
  SIGNERS,
  type TestKey,
} from './concealed.fixture.ts';
import { SIGNATURE_SCHEMES } from './signature-schemes.ts';

const rsa = (modulusLength: number, publicExponent = 65_537) =>
  keyFrom(0x0804, generateKeyPairSync('rsa', { modulusLength, publicExponent }).privateKey);

/** Functions that make the three keys compared: a known key, an unknown key, and the client's own key. */
const KINDS: readonly (readonly [string, () => TestKey])[] = [
  ...(Object.keys(SIGNERS).map(Number) as SchemeNumber[]).map(
    (s) => [`signature scheme ${s}`, () => newKey(s)] as const,
  ),
  ['RSA of 4096 bits', () => rsa(4096)],
  ['RSA of 2056 bits', () => rsa(2056)],
  ['RSA with a long exponent', () => rsa(2048, 2 ** 31 + 11)],
];

/** Both stores use the same keys, because making RSA keys takes seconds. */
const KEYS = KINDS.map(([kind, make]) => [kind, make(), make(), make()] as const);
const LONGER = rsa(3072);

/** Proofs by a holder of another key than the key that `k` names. */
const FALSE: readonly (readonly [string, (of: TestKey, own: TestKey) => string])[] = [
  [
    'with its `a`, signed by another key',
    (of, own) => fieldOf(paramsOf({ key: { ...of, privateKey: own.privateKey } })),
  ],
  ['with the `a` that signed', (of, own) => fieldOf(paramsOf({ key: { ...own, id: of.id } }))],
  [
    'with the `a` that signed, of another size',
    ({ id }) => fieldOf(paramsOf({ key: { ...LONGER, id } })),
  ],
  ['of another connection', (of) => fieldOf(paramsOf({ key: of, connection: 'two' }))],
  ['with another `v`', (of) => fieldOf({ ...paramsOf({ key: of }), v: 'AAAA' })],
  ['for another realm', (of, own) => fieldOf(paramsOf({ key: { ...own, id: of.id }, realm: 'x' }))],
  ['with an `a` that is no key', (of) => fieldOf({ ...paramsOf({ key: of }), a: 'AAAA' })],
];

const sizeOf = ({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject) =>
  [asymmetricKeyType, asymmetricKeyDetails?.modulusLength, asymmetricKeyDetails?.publicExponent]
    .join(' ')
    .trim();

afterEach(() => {
  jest.restoreAllMocks();
});

/** Counts the work for a refused request. */
async function workFor(scheme: Scheme, stores: Stores, request: AuthRequest) {
  const credentials = parseCredentials(request.lines('Authorization')[0] ?? '');
  if (credentials === undefined) throw new Error('no credentials');
  const looks = [jest.spyOn(stores.publicKeys, 'get'), jest.spyOn(stores.people, 'get')];
  const decoded = jest.spyOn(JSON, 'parse');
  const signatures = [...SIGNATURE_SCHEMES.values()].map((one) => jest.spyOn(one, 'verifies'));
  const verdict = await scheme.authenticate(credentials, request);
  const work = {
    looks: looks.map(({ mock }) => mock.calls.length),
    decoded: decoded.mock.calls.filter(([text]) => /"(?:spki|password_hash)"/.test(text)).length,
    verified: signatures.flatMap(({ mock }) => mock.calls.map(([, key]) => sizeOf(key))),
  };
  jest.restoreAllMocks();
  return { work, verdict };
}

describe.each([
  ['SQLite', (): Promise<StoreUnderTest> => sqliteUnderTest()],
  ['PostgreSQL with Redis', (): Promise<StoreUnderTest> => sharedUnderTest()],
])('RFC 9729 section 6.4: a false proof does not reveal which keys are known, on %s', (_, open) => {
  let store: StoreUnderTest;
  let stores: Stores;
  let scheme: Scheme;

  beforeAll(async () => {
    store = await open();
    stores = await store.open();
    const person = { name: 'alice', password_hash: 'none', created_at: 0, version: 0 };
    await stores.people.add({ ...person, id: ALICE.id });
    scheme = concealed({ ...optionsOver(stores), clock: store.clock });
  });

  afterAll(async () => {
    await stores[Symbol.asyncDispose]();
    await store.end();
  });

  test('an old key of a person who must use a second factor is refused until the person keeps it at the set-up', async () => {
    const key = newKey();
    const { id, spki } = key;
    const of = { owner: ALICE, scheme: 'Concealed', name: '', created_at: 5 } as const;
    const demanding = concealed({
      ...optionsOver(stores),
      clock: store.clock,
      secondFactor: 'required',
    });
    const request = asking(fieldOf(paramsOf({ key, realm: REALM })));
    const verdictBy = async (one: Scheme) => (await workFor(one, stores, request)).verdict.kind;
    const added: readonly [Pick<PublicKeyRecord, 'acr'>, 'granted' | 'refused'][] = [
      [{}, 'refused'],
      [{ acr: 'urn:countersign:acr:password' }, 'refused'],
      [{ acr: 'urn:countersign:acr:second-factor' }, 'granted'],
      [{ acr: 'urn:countersign:acr:passkey' }, 'granted'],
    ];
    for (const [how, expected] of added) {
      await stores.publicKeys.add({ ...of, ...how, id, spki }, 1000);
      expect([how, await verdictBy(scheme)]).toEqual([how, 'granted']);
      expect([how, await verdictBy(demanding)]).toEqual([how, expected]);
      await stores.publicKeys.remove(id);
    }
    const factor = { ...someSecondFactor(ALICE.id), created_at: 6 };
    await stores.secondFactors.add(factor);
    await stores.publicKeys.add({ ...of, id, spki }, 1000);
    expect(await verdictBy(demanding)).toBe('granted');
    await stores.publicKeys.remove(id);
    await stores.publicKeys.add({ ...of, id, spki, created_at: 7 }, 1000);
    expect(await verdictBy(demanding)).toBe('refused');
    await stores.secondFactors.remove(ALICE.id);
  });

  describe.each(KEYS)('%s', (__, known, unknown, own) => {
    beforeAll(async () => {
      const { id, spki } = known;
      const record = {
        id,
        spki,
        owner: ALICE,
        scheme: 'Concealed',
        name: '',
        created_at: 0,
      } as const;
      expect(await stores.publicKeys.add(record, 1000)).toBe('added');
      const right = asking(fieldOf(paramsOf({ key: known, realm: REALM })));
      expect((await workFor(scheme, stores, right)).verdict.kind).toBe('granted');
    });

    test.each(FALSE)(
      '%s: the server does the same work for a known and for an unknown key',
      async (___, lie) => {
        const [one, other] = [
          await workFor(scheme, stores, asking(lie(known, own))),
          await workFor(scheme, stores, asking(lie(unknown, own))),
        ];
        expect(one.verdict.kind).toBe('refused');
        expect(one).toEqual(other);
      },
    );
  });
});
