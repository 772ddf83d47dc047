import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { afterAll } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import type { Directory } from '#shared/people/directory.ts';
import type { SecondFactorRule } from '#shared/people/second-factor/need.ts';
import type { Rate } from '#shared/stores/limits/limits.ts';
import type { PublicKeyRecord } from '#shared/stores/credentials/public-keys.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import { createAttempts } from '../../credentials/attempts.ts';
import { requestOf } from '../../judge/auth.fixture.ts';
import type { AuthRequest } from '../../scheme.ts';
import { createChallenges } from './challenges.ts';
import { hobaEndpoints } from './endpoints.ts';
import { hoba } from './hoba.ts';
import { createInvitations } from './invitations.ts';
import { createSignatures } from './signatures.ts';

const noPage = () => ({ status: 404, fields: {} });

export const ORIGIN = 'https://rs.example';
export const OTHER = 'https://rs.example:8443';
export const REALM = 'documents';
export const ALICE = { id: 'id of alice', name: 'alice' };
export const BOB = { id: 'id of bob', name: 'bob' };

/** A client's key, of which the server knows only the public half. */
export interface ClientKey {
  readonly kid: string;
  readonly spki: Buffer;
  readonly pem: string;
  readonly privateKey: KeyObject;
}

const made: ClientKey[] = [];

/** Returns a key that is made once for all tests of a suite, since making it is slow. */
export function clientKey(index = 0): ClientKey {
  return (made[index] ??= newKey());
}

function newKey(): ClientKey {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const kid = createHash('sha256').update(spki).digest('base64url');
  return { kid, spki, pem: publicKey.export({ type: 'spki', format: 'pem' }), privateKey };
}

/** The values that a client signs (RFC 7486 section 2). */
export interface Said {
  readonly kid?: string;
  readonly origin?: string;
  readonly realm?: string;
  readonly alg?: string;
  readonly nonce?: string;
  readonly hash?: string;
}

/** Returns the HOBA-RES of a client (RFC 7486 section 2). */
export function resultOf(
  { kid: own, privateKey }: ClientKey,
  challenge: string,
  { kid = own, origin = `${ORIGIN}:443`, realm = '', alg = '0', nonce, hash }: Said = {},
): string {
  const chosen = nonce ?? randomBytes(8).toString('base64url');
  const fields = [chosen, alg, origin, realm, kid, challenge];
  const text = fields.map((field) => `${Buffer.byteLength(field)}:${field}`).join('');
  const signature = sign(hash ?? 'sha256', Buffer.from(text), privateKey).toString('base64url');
  return [kid, challenge, chosen, signature].join('.');
}

export function requestTo(
  origin: string,
  fields: readonly (readonly [string, string])[] = [],
  more: Partial<Omit<AuthRequest, 'field' | 'lines'>> = {},
): AuthRequest {
  return requestOf([['Host', new URL(origin).host], ...fields], { origin, ...more });
}

export const authorized = (result: string): readonly [string, string] => [
  'Authorization',
  `HOBA result="${result}"`,
];

const opened: AsyncDisposable[] = [];
afterAll(async () => {
  for (const one of opened.toReversed()) await one[Symbol.asyncDispose]();
});

/**
 * Opens two processes on one store; alice has a key at `ORIGIN`. `beside`: stores that replace those of the database.
 */
export async function twoHobaProcesses({
  account = { burst: 1000, per: 1 },
  secondFactor = 'optional',
  clock = new ManualClock(),
  beside = {},
}: {
  account?: Rate;
  secondFactor?: SecondFactorRule;
  clock?: ManualClock;
  beside?: Partial<Stores>;
} = {}) {
  const folder = await storeFolder();
  const secret = randomBytes(32);
  const people = new Map([ALICE, BOB].map((person) => [person.id, person]));
  const directory: Pick<Directory, 'find'> = { find: async (id) => people.get(id) };

  async function start() {
    const opening = await openSqlite({ folder, clock, random: systemRandom });
    opened.push(opening);
    const stores = { ...opening, ...beside };
    const { limits, proofs, publicKeys, secondFactors } = stores;
    const attempts = createAttempts({ limits, account, address: { burst: 1000, per: 1 } });
    const challenges = createChallenges({ secret, clock, random: systemRandom });
    const common = { challenges, clock };
    const signatures = createSignatures({ ...common, proofs, attempts, random: systemRandom });
    const invitations = createInvitations({ stores, random: systemRandom });
    const known = { publicKeys, directory, secondFactor, secondFactors };
    const shared = { ...common, ...known, signatures };
    const endpoints = hobaEndpoints({ ...shared, stores, invitations, page: noPage });
    return {
      stores,
      access: { stores, clock, longestLife: 600 },
      challenges,
      invitations,
      scheme: (maxAge = 60) => hoba({ ...shared, realm: REALM, maxAge }),
      /** Answers as the server does, but throws errors. */
      post: async (name: string, request: AuthRequest, content = '') =>
        endpoints[`/.well-known/hoba/${name}`]?.answer(request, Buffer.from(content)),
    };
  }
  const here = await start();
  const add = (key: ClientKey, more: Partial<PublicKeyRecord> = {}) =>
    here.stores.publicKeys.add(
      {
        id: key.kid,
        scheme: 'HOBA',
        owner: { kind: 'person', id: ALICE.id },
        spki: key.spki.toString('base64url'),
        name: 'laptop',
        origin: ORIGIN,
        created_at: clock.now(),
        ...more,
      },
      20,
    );
  await add(clientKey());
  return { clock, people, add, here, there: await start() };
}
