/** Two resource servers on one store with spaces for Mutual, and an attacker's tools for the protocol. */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { AuthParams } from '#shared/http/auth/params.ts';
import { MUTUAL_ALGORITHM_NAMES } from '#shared/auth/schemes/mutual/algorithms.ts';
import type { MutualAlgorithmName } from '#shared/auth/schemes/mutual/algorithms.ts';
import { mutualClient } from '#shared/auth/schemes/mutual/client.fixture.ts';
import type { ClientOptions } from '#shared/auth/schemes/mutual/client.fixture.ts';
import { endPoint } from '#shared/auth/schemes/mutual/validation.ts';
import { parseChallenges, parseParams } from '../clients/digest/challenges.ts';
import type { Param } from '../clients/digest/challenges.ts';
import { startStore } from '../flows/flow.ts';
import type { StoreKind } from '../flows/flow.ts';
import { startPair } from '../pair/pair.ts';
import type { Pair } from '../pair/pair.ts';
import { UNLIMITED } from './attacked-pair.fixture.ts';

export const ALICE = { user: 'alice', password: 'open sesame: 1=2' };
export const BOB = { user: 'bob', password: 'something else' };

/** The algorithm, and the realm, of tests that need no particular algorithm. */
export const P_256 = 'iso-kam3-ec-p256-sha256';

export interface Answer {
  readonly status: number;
  /** The parameters of the single Mutual challenge. Several challenges are an error. */
  readonly asked: AuthParams;
  /** The parameters of Authentication-Info. */
  readonly info: AuthParams;
}

/** The listener for a request: one of two processes in clear text, or the first process over TLS. */
export type Door = 0 | 1 | 'tls';

export interface MutualSite extends AsyncDisposable {
  readonly pair: Pair;
  /** Sends the value of Authorization unchanged, or no field if it is undefined. */
  ask(
    door: Door,
    realm: string,
    value: string | readonly string[] | undefined,
    from?: string,
  ): Promise<Answer>;
  client(realm: string, more?: Partial<ClientOptions>): ReturnType<typeof mutualClient>;
  /** A client that validates the server's certificate. */
  overTls(realm: string, more?: Partial<ClientOptions>): ReturnType<typeof mutualClient>;
}

/** One space per algorithm, and a second space with P_256. */
const SPACES: readonly (readonly [realm: string, algorithm: MutualAlgorithmName])[] = [
  ...MUTUAL_ALGORITHM_NAMES.map((name) => [name, name] as const),
  ['other', P_256],
];

export async function startMutualSite(
  kind: StoreKind,
  limits: object = { credentials: UNLIMITED, signIn: UNLIMITED, exchanges: UNLIMITED },
): Promise<MutualSite> {
  await using parts = new AsyncDisposableStack();
  const store = await startStore(kind, parts);
  const settings = ({ resource }: Pick<Pair, 'resource'>) => ({
    limits,
    spaces: SPACES.map(([realm, algorithm]) => ({
      url: `${resource}/${realm}/`,
      realm,
      schemes: ['Mutual'],
      mutual: { algorithm },
      serves: 'identity',
    })),
  });
  const pair = parts.use(await startPair({ ...store, resource: 2, settings }));
  for (const { user, password } of [ALICE, BOB]) await pair.addPerson(user, password);
  const ca = await readFile(join(pair.data, 'tls/certificate.pem'));
  const certificate = endPoint(new X509Certificate(ca).raw);
  const owned = parts.move();

  const client = (realm: string, more: Partial<ClientOptions> = {}) =>
    mutualClient({
      ...ALICE,
      algorithm: SPACES.find(([name]) => name === realm)?.[1] ?? P_256,
      scope: '127.0.0.1',
      realm,
      validation: 'host',
      vh: Buffer.from(pair.resource),
      ...more,
    });

  return {
    pair,
    client,
    overTls: (realm, more) =>
      client(realm, {
        scope: 'localhost',
        validation: 'tls-server-end-point',
        vh: certificate,
        ...more,
      }),
    async ask(door, realm, value, from = '127.0.0.1') {
      const headers = { ...(value !== undefined && { authorization: value as string }) };
      const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
      const sent =
        door === 'tls'
          ? httpsRequest(`${pair.resourceTls}/${realm}/`, { headers, ca }, resolve)
          : httpRequest(
              `${pair.resources[door]?.url}/${realm}/`,
              { headers, agent: new HttpAgent({ localAddress: from }) },
              resolve,
            );
      sent.once('error', reject).end();
      const response = await promise;
      await text(response);
      return answerOf(response);
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function answerOf({ statusCode = 0, headers }: IncomingMessage): Answer {
  const challenges = parseChallenges([headers['www-authenticate'] ?? []].flat());
  if (challenges.length > 1) throw new Error('more than one challenge (RFC 8120 section 4.1)');
  return {
    status: statusCode,
    asked: membersOf(challenges[0]?.params ?? []),
    info: membersOf(parseParams([headers['authentication-info'] ?? []].flat())),
  };
}

const membersOf = (params: readonly Param[]): AuthParams =>
  Object.fromEntries(params.map(({ name, value }) => [name, value]));

/** The value of Authorization, with all parameters in quotes. */
export const credentials = (params: AuthParams): string =>
  `Mutual ${Object.entries(params)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}`;
