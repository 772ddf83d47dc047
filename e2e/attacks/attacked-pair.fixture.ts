/**
 * The target of an attacker: two resource servers on one store. The test itself can change the directory.
 */
import { hkdfSync } from 'node:crypto';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { systemClock } from '#shared/base/clock.ts';
import { loadConfig } from '#shared/config/load.ts';
import type { Config } from '#shared/config/schema.ts';
import { readMasterSecret } from '#shared/config/secret.ts';
import { newApiKey } from '#shared/people/api-key.ts';
import { createPasswords } from '#shared/people/password.ts';
import { addPerson } from '#shared/people/people.ts';
import type { PeopleStore } from '#shared/people/people.ts';
import { DIGEST_KINDS } from '#shared/auth/schemes/digest/verifier.ts';
import { SCRAM_KINDS } from '#shared/auth/schemes/scram/verifier.ts';
import { neededVerifiers } from '#shared/config/needed-verifiers.ts';
import type { RealmNeeds } from '#shared/people/verifier-kind.ts';
import { silentLog } from '#shared/base/log.ts';
import { longestLife } from '#shared/stores/revocation/lifetime.ts';
import { randomId, systemRandom } from '#shared/base/random.ts';
import { openStores } from '#shared/stores/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { parseChallenges, valueOf } from '../clients/digest/challenges.ts';
import type { Challenge } from '../clients/digest/challenges.ts';
import { run, valuesOf } from '../clients/digest/exchange.ts';
import type {
  Field,
  HttpRequest,
  HttpResponse,
  SchemeClient,
  Send,
} from '../clients/digest/exchange.ts';
import { overHttp } from '../clients/digest/over-http.ts';
import { startStore } from '../flows/flow.ts';
import type { StoreKind } from '../flows/flow.ts';
import { startPair } from '../pair/pair.ts';
import type { Pair } from '../pair/pair.ts';

export interface Somebody {
  readonly username: string;
  readonly password: string;
}

export interface AttackedPair extends AsyncDisposable {
  readonly pair: Pair;
  readonly stores: Stores;
  /** Lets a test change people as the command line does. */
  readonly people: PeopleStore;
  /**
   * Adds a person that no other test uses. `realms` lists the realms that keep a verifier of the password
   * (default: all).
   */
  newcomer(realms?: readonly Realm[]): Promise<Somebody>;
  newKey(realm: string): Promise<{ id: string; key: string }>;
  /** Sends to one of the two servers, from an address of the loopback network. */
  send(server: number, from?: string): Send;
  /**
   * Sends exactly these bytes; resolves to all bytes that arrive until the server closes the connection.
   */
  raw(server: number, bytes: string, from?: string): Promise<string>;
  /** The secret that all servers share for this purpose. */
  secret(purpose: 'digest-nonce' | 'scram'): Buffer;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Limits that no test reaches. */
export const UNLIMITED = { burst: 1_000_000, per: 0.001 };

/** The spaces. Each key is the path and the realm of its space. */
const SPACES = {
  basic: { schemes: ['Basic'] },
  digest: { schemes: ['Digest'] },
  integrity: { schemes: ['Digest'], digest: { qop: ['auth-int'] } },
  hashed: {
    schemes: ['Digest'],
    digest: { algorithms: ['SHA-512-256', 'SHA-256', 'SHA-256-sess'], userhash: true },
  },
  'scram-1': { schemes: ['SCRAM-SHA-1'] },
  'scram-256': { schemes: ['SCRAM-SHA-256'] },
  keys: { schemes: ['API-Key'], apiKey: { limit: { burst: 10, per: 600 } } },
  'other-keys': { schemes: ['API-Key'], apiKey: { query: 'key' } },
  beside: { schemes: ['Basic'], apiKey: { beside: true } },
  all: {
    schemes: ['SCRAM-SHA-256', 'Digest', 'SCRAM-SHA-1', 'Bearer', 'DPoP', 'Basic', 'API-Key'],
    apiKey: { query: 'key' },
  },
} as const;

export type Realm = keyof typeof SPACES;

export const REALMS = Object.keys(SPACES) as readonly Realm[];

export async function startAttackedPair(
  kind: StoreKind,
  limits: Readonly<Record<'credentials' | 'signIn', Config['limits']['signIn']>>,
): Promise<AttackedPair> {
  await using parts = new AsyncDisposableStack();
  const store = await startStore(kind, parts);
  const settings = ({ resource }: Pick<Config, 'resource'>) => ({
    limits,
    spaces: Object.entries(SPACES).map(([realm, members]) => {
      const space = { url: `${resource}/${realm}/`, realm, serves: 'identity' };
      return Object.assign(space, members);
    }),
  });
  const pair = parts.use(await startPair({ ...store, resource: 2, settings }));
  const config = await loadConfig(pair.env);
  const common = { clock: systemClock, random: systemRandom, longestLife: longestLife(config) };
  const stores = parts.use(await openStores(config, { ...common, log: silentLog }));
  const realms = neededVerifiers(config).map(withMore);
  const people = { ...common, stores, passwords: createPasswords(), realms };
  const master = await readMasterSecret(config, pair.env);
  const owned = parts.move();

  return {
    pair,
    stores,
    people,
    async newcomer(names = REALMS) {
      const [username, password] = [`p${randomId(systemRandom).toLowerCase()}`, 'open sesame: 1=2'];
      const kept = realms.filter(({ realm }) => names.some((name) => name === realm));
      await addPerson({ ...people, realms: kept }, { name: username, password });
      return { username, password };
    },
    async newKey(realm) {
      const { id, key, secret_hash } = newApiKey(systemRandom);
      const record = { id, application: 'app', realm, scopes: [], secret_hash, created_at: 0 };
      await stores.apiKeys.add(record);
      return { id, key };
    },
    send(server, from = '127.0.0.1') {
      const { host, port } = placeOf(pair, server);
      return overHttp({ host, port, agent: new Agent({ localAddress: from }) });
    },
    raw: (server, bytes, from = '127.0.0.1') =>
      exactly({ ...placeOf(pair, server), localAddress: from }, bytes),
    secret: (purpose) => Buffer.from(hkdfSync('sha256', master, '', purpose, 32)),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/**
 * Adds verifiers that the space does not offer, as imported people have them. Then only the offer limits a
 * client.
 */
function withMore({ realm, kinds }: RealmNeeds): RealmNeeds {
  const more = [
    ...Object.values(DIGEST_KINDS),
    ...(realm === 'scram-256' ? Object.values(SCRAM_KINDS) : []),
  ];
  return { realm, kinds: [...new Set([...kinds, ...more])] };
}

function placeOf({ resources }: Pair, server: number): { host: string; port: number } {
  const { hostname, port } = new URL(resources[server]?.url ?? '');
  return { host: hostname, port: Number(port) };
}

/** Milliseconds without a byte after which the test gives up. */
const PATIENCE = 60_000;

function exactly(
  place: { host: string; port: number; localAddress: string },
  bytes: string,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect(place, () => socket.write(bytes, 'latin1'));
  let received = '';
  socket.setTimeout(PATIENCE, () => reject(new Error(`left open after: ${received}`)));
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  // A server may refuse a request early and close the connection: writing the rest then fails.
  socket.on('error', () => {});
  socket.on('close', () => resolve(received));
  return promise.finally(() => socket.destroy());
}

/** Calls `work` for all elements at once, alternately with server 0 and server 1. */
export const inTurn = <T, R>(all: readonly T[], work: (one: T, server: number) => Promise<R>) =>
  Promise.all(all.map((one, index) => work(one, index % 2)));

export function get(realm: Realm, fields: readonly Field[] = []): HttpRequest {
  return { method: 'GET', target: `/${realm}/`, fields, content: Buffer.alloc(0) };
}

export function post(realm: Realm, content: string, fields: readonly Field[] = []): HttpRequest {
  return { method: 'POST', target: `/${realm}/`, fields, content: Buffer.from(content) };
}

export function basic({ username, password }: Somebody): Field {
  return ['Authorization', `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`];
}

/** A client's exchange about one request: every message that the client sent, with its answer. */
export interface Conversation {
  readonly sent: readonly HttpRequest[];
  readonly answers: readonly HttpResponse[];
  /** The last answer. */
  readonly answer: HttpResponse;
}

export async function converse(
  client: SchemeClient,
  request: HttpRequest,
  send: Send,
): Promise<Conversation> {
  const sent: HttpRequest[] = [];
  const answers: HttpResponse[] = [];
  const answer = await run(client.exchange(request), async (one) => {
    sent.push(one);
    const got = await send(one);
    answers.push(got);
    return got;
  });
  return { sent, answers, answer };
}

/** The last message of a conversation, so that a test can replay it. */
export function lastOf({ sent }: Conversation): HttpRequest {
  const last = sent.at(-1);
  if (last === undefined) throw new Error('nothing was sent');
  return last;
}

/** The credentials of a request; '' if it has none. */
export function authorization(request?: HttpRequest): string {
  return valuesOf(request?.fields ?? [], 'Authorization')[0] ?? '';
}

export function withAuthorization(request: HttpRequest, value: string): HttpRequest {
  return { ...request, fields: [['Authorization', value]] };
}

export function challengesOf({ fields }: HttpResponse): readonly Challenge[] {
  return parseChallenges(valuesOf(fields, 'WWW-Authenticate'));
}

/** The value of a parameter, from the first challenge that has it. */
export function asked(answer: HttpResponse, name: string): string | undefined {
  for (const { params } of challengesOf(answer)) {
    const value = valueOf(params, name);
    if (value !== undefined) return value;
  }
  return undefined;
}

export function field({ fields }: HttpResponse, name: string): string | undefined {
  return valuesOf(fields, name)[0];
}

/** The visible parts of an answer, with a star for each character of a random value or a time. */
export function masked({ status, fields, content }: HttpResponse): string {
  const lines = fields.map(([name, value]) => `${name}: ${maskedValue(name, value)}`);
  return [status, ...lines, content.toString('latin1')].join('\n');
}

/** The visible parts of an answer without its reason, which the server sends in development only. */
export function maskedInProduction(answer: HttpResponse): string {
  const content = Buffer.from(
    answer.content.toString('latin1').replace(/"reason":"[^"]*",/, ''),
    'latin1',
  );
  const fields = answer.fields.map(([name, value]): Field =>
    name.toLowerCase() === 'content-length' ? [name, `${content.length}`] : [name, value],
  );
  return masked({ ...answer, fields, content });
}

/** The padding of base64 stays, because it shows the length of the value. */
const stars = (text: string) => text.replaceAll(/[^=]/g, '*');

function maskedValue(name: string, value: string): string {
  if (['date', 'retry-after', 'x-request-id'].includes(name.toLowerCase())) return stars(value);
  return value
    .replaceAll(/(?<=(?:nonce|sr|sid)="?)[^",]+/g, stars)
    .replaceAll(/(?<=\bdata=)[^",]+/g, (data) =>
      Buffer.from(data, 'base64')
        .toString()
        .replaceAll(/(?<=^r=|,s=)[^,]*/g, stars),
    );
}
