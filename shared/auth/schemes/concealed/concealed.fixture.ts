import { constants, createHash, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { KeyOwner } from '#shared/stores/credentials/public-keys.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import { requestOf } from '../../judge/auth.fixture.ts';
import type { AuthRequest } from '../../scheme.ts';
import { concealed, type ConcealedOptions } from './concealed.ts';
import { covered, exporterContext } from './signed.ts';
import { SIGNATURE_SCHEMES } from './signature-schemes.ts';

export const REALM = 'vault';
export const ORIGIN_URL = 'https://rs.example:8443';
export const ALICE: KeyOwner = { kind: 'person', id: 'p-alice' };

const pss = (hash: string) => (content: Buffer, key: KeyObject) =>
  sign(hash, content, {
    key,
    padding: constants.RSA_PKCS1_PSS_PADDING,
    saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
  });
const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ec = (namedCurve: string) => () => generateKeyPairSync('ec', { namedCurve }).privateKey;

/** Functions that make a key and sign with it, for each SignatureScheme. */
export const SIGNERS = {
  0x0403: {
    make: ec('P-256'),
    sign: (content: Buffer, key: KeyObject) => sign('sha256', content, key),
  },
  0x0503: {
    make: ec('P-384'),
    sign: (content: Buffer, key: KeyObject) => sign('sha384', content, key),
  },
  0x0804: { make: rsa, sign: pss('sha256') },
  0x0805: { make: rsa, sign: pss('sha384') },
  0x0806: { make: rsa, sign: pss('sha512') },
  0x0807: {
    make: () => generateKeyPairSync('ed25519').privateKey,
    sign: (content: Buffer, key: KeyObject) => sign(null, content, key),
  },
} as const;

export type SchemeNumber = keyof typeof SIGNERS;

/** Makes a key pair, with its names in the store and in credentials. */
export const newKey = (s: SchemeNumber = 0x0807) => keyFrom(s, SIGNERS[s].make());

/** Returns the same for a given private key. */
export function keyFrom(s: SchemeNumber, privateKey: KeyObject) {
  const publicKey = createPublicKey(privateKey);
  const spki = publicKey.export({ format: 'der', type: 'spki' });
  const id = createHash('sha256').update(spki).digest('base64url');
  const encoded = SIGNATURE_SCHEMES.get(s)?.encode(publicKey) ?? Buffer.alloc(0);
  return { s, privateKey, id, spki: spki.toString('base64url'), encoded };
}

export type TestKey = ReturnType<typeof keyFrom>;

/** Returns a connection's exporter: a hash of the connection's secret and the exporter's arguments. */
export const exporterFrom =
  (secret: string): NonNullable<AuthRequest['exporter']> =>
  (label, context, length) =>
    createHash('sha512').update(secret).update(label).update(context).digest().subarray(0, length);

export interface Shown {
  readonly key: TestKey;
  readonly connection?: string;
  readonly url?: string;
  readonly realm?: string;
}

/** Returns the parameters that an honest client sends. */
export function paramsOf({ key, connection = 'one', url = ORIGIN_URL, realm }: Shown) {
  const context = exporterContext({
    signatureScheme: key.s,
    keyId: Buffer.from(key.id, 'base64url'),
    publicKey: key.encoded,
    url,
    realm,
  });
  const output = exporterFrom(connection)('EXPORTER-HTTP-Concealed-Authentication', context, 48);
  const signature = SIGNERS[key.s].sign(covered(output.subarray(0, 32)), key.privateKey);
  return {
    k: key.id,
    a: key.encoded.toString('base64url'),
    s: String(key.s),
    v: output.subarray(32).toString('base64url'),
    p: signature.toString('base64url'),
    ...(realm !== undefined && { realm: `"${realm}"` }),
  };
}

export const fieldOf = (params: Readonly<Record<string, string>>) =>
  `Concealed ${Object.entries(params)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ')}`;

/** A request over the connection `one`. */
export const asking = (
  field: string,
  more: Partial<Omit<AuthRequest, 'field' | 'lines'>> = {},
  fields: readonly (readonly [string, string])[] = [],
) =>
  requestOf([['Authorization', field], ...fields], {
    origin: ORIGIN_URL,
    exporter: exporterFrom('one'),
    ...more,
  });

/** Returns the options of the scheme on the given stores. */
export const optionsOver = ({
  publicKeys,
  people,
  secondFactors,
}: Pick<Stores, 'publicKeys' | 'people' | 'secondFactors'>) => ({
  realm: REALM,
  publicKeys,
  people,
  secondFactor: 'optional' as const,
  secondFactors,
  admitted: { demo: true, sources: new Set<string>() },
  applications: true,
  frontend: false,
});

/** Creates a store with alice, and the scheme on it. */
export async function setup(more: Partial<ConcealedOptions> = {}) {
  const clock = new ManualClock();
  const stores = await openSqlite({ folder: await storeFolder(), clock, random: systemRandom });
  await stores.people.add({
    id: ALICE.id,
    name: 'alice',
    password_hash: 'none',
    created_at: 0,
    version: 0,
  });
  const scheme = concealed({ ...optionsOver(stores), clock, ...more });
  return {
    clock,
    stores,
    scheme,
    async know({ id, spki }: TestKey, owner = ALICE, of: 'Concealed' | 'HOBA' = 'Concealed') {
      const record = { id, spki, owner, scheme: of, name: 'laptop', created_at: clock.now() };
      await stores.publicKeys.add(record, 20);
    },
    [Symbol.asyncDispose]: () => stores[Symbol.asyncDispose](),
  };
}
