/** The target of an attacker of PrivateToken: two issuers and two origins on one store, each a process. */
import { createHash, createPrivateKey, constants, randomBytes, sign } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { join } from 'node:path';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { generateBlindRsaKey } from '#shared/private-token/blind-rsa.ts';
import { type SharedStore, startSharedStore } from '#shared/stores/postgres/started.fixture.ts';
import type { TokenKey } from '#shared/private-token/token-key.ts';
import { tokenInput } from '#shared/private-token/token.ts';
import { BLIND_RSA, type TokenType, VOPRF } from '#shared/private-token/token-types.ts';
import { get } from '../clients/digest/answers.fixture.ts';
import type { Field, HttpResponse, Send } from '../clients/digest/exchange.ts';
import { overHttp } from '../clients/digest/over-http.ts';
import { type Directory, preferredKey } from '../clients/private-token/directory.ts';
import { beginIssuance, type Issuance } from '../clients/private-token/issuance.ts';
import {
  directoryOf,
  type Offer,
  offersIn,
  redeem,
  tokenRequest,
} from '../clients/private-token/private-token-client.ts';
import { encodeChallenge, type TokenChallenge } from '../clients/private-token/token-challenge.ts';
import { startFlow } from '../flows/flow.ts';
import type { Flow, ForgedClaims, StoreKind } from '../flows/flow.ts';
import { UNLIMITED } from './attacked-pair.fixture.ts';

/** Rows for `describe.each`. */
export const TYPES = [
  { type: VOPRF, name: 'VOPRF' },
  { type: BLIND_RSA, name: 'blind RSA' },
] as const;

/** Seconds: so long that no test meets the end of a window. */
export const WINDOW = 2_592_000;

const ONLY = { schemes: ['PrivateToken'], serves: 'identity' } as const;

/** The spaces of both origins. Each key is the path and the realm of its space. */
const SPACES = {
  tokens: ONLY,
  again: ONLY,
  window: { ...ONLY, privateToken: { window: WINDOW } },
  'other-window': { ...ONLY, privateToken: { window: WINDOW } },
  rsa: { ...ONLY, privateToken: { types: ['blind-rsa-2048'] } },
  voprf: { ...ONLY, privateToken: { types: ['voprf-p384'] } },
  documents: { schemes: ['PrivateToken'] },
  beside: { ...ONLY, apiKey: { beside: true } },
  all: {
    ...ONLY,
    schemes: ['DPoP', 'Bearer', 'Basic', 'PrivateToken', 'API-Key'],
    apiKey: { query: 'key' },
  },
} as const;

export type SpaceName = keyof typeof SPACES;

export interface TokenServersOptions {
  readonly limits?: Readonly<Record<string, unknown>>;
  /** Further members of `privateTokens`. */
  readonly times?: Readonly<Record<string, unknown>>;
  /** The spaces by path and realm, in place of the default spaces. */
  readonly spaces?: Readonly<Record<string, object>>;
  /** Further members of the configuration. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The store's time limit in seconds, unless it is SQLite. */
  readonly deadline?: number;
}

export interface TokenServers extends AsyncDisposable {
  readonly flow: Flow;
  /** The store's servers, unless it is SQLite. */
  readonly shared: SharedStore | undefined;
  /** The certificate of all TLS listeners. */
  readonly ca: Buffer;
  /** Server name of the issuer. */
  readonly issuerName: string;
  /** Sends to one of the two resource servers in clear text, from an address of the loopback network. */
  origin(server: number, from?: string): Send;
  /** Sends to one of the two resource servers over TLS, which is another origin. */
  originTls(server: number, from?: string): Send;
  /** Sends to the issuer at one of the two authorization servers. */
  issuer(server: number, from?: string): Send;
  /** The URL of an issuer endpoint, which is also an audience. */
  endpoint(name: 'request' | 'verify'): string;
  /** The field with an access token for token requests. `claims` replace valid claims. */
  access(claims?: Partial<ForgedClaims>): Promise<Field>;
  directory(): Promise<Directory>;
}

/** Starts the servers. Only the limits given here can be reached. */
export async function startTokenServers(
  kind: StoreKind,
  {
    limits = {},
    times = {},
    spaces = SPACES,
    settings = {},
    deadline = 10,
  }: TokenServersOptions = {},
): Promise<TokenServers> {
  await using parts = new AsyncDisposableStack();
  const shared =
    kind === 'postgres'
      ? parts.use(await startSharedStore({ appendonly: true, deadline }))
      : undefined;
  const unlimited = Object.fromEntries(
    'client address credentials signIn account privateTokens redemptions verifications'
      .split(' ')
      .map((name) => [name, UNLIMITED]),
  );
  const flow = parts.use(
    await startFlow({
      ...(shared && { store: shared.store }),
      authz: 2,
      resource: 2,
      settings: ({ resource, tokenIssuer }) => ({
        limits: { ...unlimited, ...limits },
        privateTokens: { issuer: tokenIssuer, ...times },
        spaces: spacesAt(resource, spaces),
        ...settings,
      }),
    }),
  );
  const { pair } = flow;
  const ca = await readFile(join(pair.data, 'tls', 'certificate.pem'));
  const listening = await Promise.all([0, 1].map((server) => listenOf(pair.data, server)));
  const portOf = (name: keyof Listen, server: number) => listening[server]?.[name]?.port ?? 0;
  const issuerName = new URL(pair.tokenIssuer).host;
  const endpoint = (name: string) => `${pair.tokenIssuer}/private-token/${name}`;
  const issuer = (server: number, from?: string) => overTls(portOf('authzTls', server), ca, from);
  const owned = parts.move();

  return {
    flow,
    shared,
    ca,
    issuerName,
    origin: (server, from = '127.0.0.1') => {
      const agent = new Agent({ localAddress: from });
      return overHttp({ host: '127.0.0.1', port: portOf('resource', server), agent });
    },
    originTls: (server, from) => overTls(portOf('resourceTls', server), ca, from),
    issuer,
    endpoint,
    async access(claims = {}) {
      const good = { aud: endpoint('request'), client_id: 'attacker', scope: 'private-token' };
      return ['Authorization', `Bearer ${await flow.forge({ ...good, ...claims })}`];
    },
    directory: () => directoryOf({ name: issuerName, send: issuer(0), fields: [] }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const spacesAt = (origin: string, spaces: Readonly<Record<string, object>>) =>
  Object.entries(spaces).map(([realm, members]) =>
    Object.assign({ url: `${origin}/${realm}/`, realm }, members),
  );

type Listen = Omit<Flow['config']['listen'], 'host'>;

async function listenOf(data: string, server: number): Promise<Listen> {
  const text = await readFile(join(data, `config-${server}.json`), 'utf8');
  return (JSON.parse(text) as { listen: Listen }).listen;
}

function overTls(port: number, ca: Buffer, from = '127.0.0.1'): Send {
  const agent = new Agent();
  agent.createConnection = () => {
    const socket = connect({ host: '127.0.0.1', port, localAddress: from });
    return connectTls({ socket, ca, servername: 'localhost' });
  };
  return overHttp({ host: 'localhost', port, agent });
}

export const pathOf = (space: SpaceName) => `/${space}/`;

/** Gets the challenge of one type from a space; `send` chooses the origin. */
export async function offerOf(
  servers: TokenServers,
  space: SpaceName,
  type: TokenType,
  send = servers.origin(0),
): Promise<Offer & { readonly key: Buffer }> {
  const { resource, resourceTls } = servers.flow.pair;
  const answer = await send(get(pathOf(space)));
  const found = [resource, resourceTls]
    .flatMap((origin) => offersIn(answer, new URL(origin).host))
    .find(({ challenge }) => challenge.type === type);
  if (found?.key === undefined) throw new Error(`${answer.status}, no challenge of type ${type}`);
  return { ...found, key: found.key };
}

/** An issued token, with everything that client and issuer saw. */
export interface Minted {
  readonly token: Buffer;
  readonly issuance: Issuance;
  readonly response: Buffer;
  /** The client's random values: the nonce and the blind. */
  readonly drawn: readonly Buffer[];
}

export interface Minting {
  /** Sends to the issuer; default: the first server. */
  readonly send?: Send;
  /** The client's credentials; default: a new application. */
  readonly fields?: readonly Field[];
}

/** Gets a token for this challenge with the current key. Throws if the issuer refuses. */
export async function mint(
  servers: TokenServers,
  challenge: Buffer,
  { send = servers.issuer(0), fields }: Minting = {},
): Promise<Minted> {
  const drawn: Buffer[] = [];
  const random = (octets: number) => {
    const bytes = randomBytes(octets);
    drawn.push(bytes);
    return bytes;
  };
  const directory = await servers.directory();
  const now = Math.floor(Date.now() / 1000);
  const key = preferredKey(directory, challenge.readUInt16BE(), now);
  const issuance = beginIssuance(challenge, key, random);
  const asking = fields ?? [await servers.access()];
  const { status, content } = await send(tokenRequest(directory, issuance.request, asking));
  if (status !== 200) throw new Error(`the issuer answers ${status}: ${content.toString()}`);
  return { token: issuance.finish(content), issuance, response: content, drawn };
}

/** Gets a valid token for a space of the clear-text origin. */
export async function tokenFor(
  servers: TokenServers,
  space: SpaceName,
  type: TokenType,
): Promise<Buffer> {
  const { octets } = await offerOf(servers, space, type);
  return (await mint(servers, octets)).token;
}

/** Gets a token for a changed version of this challenge. */
export async function tokenForOther(
  servers: TokenServers,
  { challenge }: Offer,
  changes: Partial<TokenChallenge>,
): Promise<Buffer> {
  return (await mint(servers, encodeChallenge({ ...challenge, ...changes }))).token;
}

/** Sends a request with the token to a space. */
export function spend(
  send: Send,
  space: SpaceName,
  token: Uint8Array,
  fields: readonly Field[] = [],
): Promise<HttpResponse> {
  return send(redeem({ ...get(pathOf(space)), fields }, token));
}

/** How often each status came. */
export function tally(answers: readonly HttpResponse[]): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

/** A key that no issuer of these servers has, with its owner's signatures. */
export interface RogueKey extends TokenKey {
  token(challenge: Uint8Array, keyId?: Buffer): Buffer;
}

export async function rogueKey(): Promise<RogueKey> {
  const { privateKey, ...key } = await generateBlindRsaKey();
  const signer = createPrivateKey({ key: privateKey, format: 'der', type: 'pkcs8' });
  const padding = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 48 };
  return {
    ...key,
    token(challenge, keyId = key.id) {
      const digest = createHash('sha256').update(challenge).digest();
      const input = tokenInput(BLIND_RSA, randomBytes(32), digest, keyId);
      return Buffer.concat([input, sign('sha384', input, { key: signer, ...padding })]);
    },
  };
}

/** Returns the errors of the four processes: each has to be alive, and no logged error may be a defect. */
export async function unsound({ flow: { pair } }: TokenServers): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const { url, log } of [...pair.authz, ...pair.resources]) {
    const { status } = await fetch(`${url}/health/ready`);
    if (status !== 200) wrong.push(`${url} is not ready: ${status}`);
    wrong.push(...log.split('\n').filter((line) => line.includes('"level":"error"')));
  }
  return wrong;
}
