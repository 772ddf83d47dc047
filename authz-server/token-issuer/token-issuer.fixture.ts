import type { KeyObject } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { prover } from '#shared/auth/judge/auth.fixture.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { configSchema } from '#shared/config/schema.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { GENERATE, signJws } from '#shared/jose/jws.fixture.ts';
import { keepTokenKeys } from '#shared/keys/token-key-lifecycle.ts';
import { jsonLog } from '#shared/base/log.ts';
import { rememberUntil } from '#shared/stores/revocation/lifetime.ts';
import { generateBlindRsaKey } from '#shared/private-token/blind-rsa.ts';
import { blindRsa } from '#shared/private-token/blind-rsa-client.ts';
import {
  DIRECTORY_PATH,
  type DirectoryKey,
  parseDirectory,
  REQUEST_TYPE,
} from '#shared/private-token/issuer-directory.ts';
import { truncatedKeyId } from '#shared/private-token/token-key.ts';
import { encodeTokenRequest } from '#shared/private-token/token-request.ts';
import { BLIND_RSA, type TokenType, VOPRF } from '#shared/private-token/token-types.ts';
import { tokenInput } from '#shared/private-token/token.ts';
import { TOKEN_MEDIA_TYPE } from '#shared/private-token/verification.ts';
import { blindVoprf } from '#shared/private-token/voprf-client.ts';
import { generateVoprfKey } from '#shared/private-token/voprf-key.ts';
import { voprf } from '#shared/private-token/voprf-thread.fixture.ts';
import { systemRandom } from '#shared/base/random.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import { tokenIssuerHandler } from './over-tls.ts';
import { openTokenIssuer } from './token-issuer.ts';

export const AS = 'https://as.example';
export const TOKEN_ISSUER = 'https://tokens.example';
export const REQUEST = `${TOKEN_ISSUER}/private-token/request`;
export const VERIFY = `${TOKEN_ISSUER}/private-token/verify`;
export const DOCUMENTS = 'https://rs.example/documents/';
export const TIMES = { rotation: 1000, overlap: 500, maxAge: 100 };
export const MASTER = Buffer.alloc(32, 7);
export const TYPES: readonly TokenType[] = [VOPRF, BLIND_RSA];
export const LIFE = 605;

/** The first keys of the issuers of a suite, which are shared because the generation of an RSA pair is slow. */
const FIRST = [generateVoprfKey(), await generateBlindRsaKey()] as const;
const GIVE_FIRST = { [VOPRF]: () => FIRST[0], [BLIND_RSA]: () => FIRST[1] };

const BLIND = { [VOPRF]: blindVoprf, [BLIND_RSA]: blindRsa };

interface Call {
  readonly method?: string;
  readonly path?: string;
  /** Alternating names and values, so that a field can occur twice. */
  readonly fields?: readonly string[];
  readonly body?: Uint8Array;
  /** The index of the process that gets the request. */
  readonly at?: number;
}

/** Makes a token request, and converts its response to a token; `undefined` if the response is invalid. */
export function tokenRequest({ type, publicKey, id }: DirectoryKey) {
  const input = tokenInput(type, systemRandom(32), systemRandom(32), id);
  const { blinded, finalize } = BLIND[type](publicKey, input, systemRandom);
  const body = encodeTokenRequest({ type, truncatedKeyId: truncatedKeyId(id), blinded });
  return {
    body,
    token(response: Uint8Array): Buffer | undefined {
      const authenticator = finalize(response);
      return authenticator && Buffer.concat([input, authenticator]);
    },
  };
}

/**
 * Starts the token issuer of several authorization servers over one real store, each on a real port. Their access
 * tokens are made here, by default for the person `alice` through the client `app`. `newKeys`: they make their own
 * first keys, and do not find those of the suite's other issuers.
 */
export async function startTokenIssuer(
  settings: object = {},
  { processes = 1, newKeys = false } = {},
) {
  const clock = new ManualClock();
  const now = () => Math.floor(clock.now() / 1000);
  const data = await storeFolder();
  const stack = new AsyncDisposableStack();
  const config = configSchema.parse({
    issuer: AS,
    data,
    spaces: [{ url: DOCUMENTS, realm: 'documents', schemes: ['Bearer', 'DPoP'] }],
    privateTokens: { issuer: TOKEN_ISSUER, ...TIMES },
    ...settings,
  });
  const key = GENERATE.ES256();
  const published = new Map<string, KeyObject>([['k1', key.publicKey]]);
  const written: string[] = [];

  async function startProcess() {
    const stores = stack.use(await openSqlite({ folder: data, clock, random: systemRandom }));
    await stores.revocations.epoch(true);
    if (!newKeys) {
      const life = { stores, master: MASTER, clock, random: systemRandom, times: TIMES };
      await keepTokenKeys({ ...life, generate: GIVE_FIRST }, []);
    }
    const feed = stack.use(await stores.revocations.feed());
    const log = jsonLog((line) => written.push(line), clock, 'authz');
    const parts = { config, stores, feed, master: MASTER, clock, random: systemRandom, log };
    const issuer = await openTokenIssuer({
      ...parts,
      publicKey: async (kid) => published.get(kid),
      voprf,
    });
    const handler = tokenIssuerHandler({ ...parts, ready: () => stores.ping() }, issuer);
    const server = http.createServer((request, response) => void handler(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    stack.defer(() => {
      server.close();
      server.closeAllConnections();
    });
    return { stores, issuer, port: (server.address() as AddressInfo).port };
  }

  const running = await Promise.all(Array.from({ length: processes }, startProcess));
  const [{ stores, issuer }] = running as [Awaited<ReturnType<typeof startProcess>>];
  const epoch = await stores.revocations.epoch(false);

  async function ask({ method = 'GET', path = '/', fields = [], body, at = 0 }: Call) {
    const headers = ['Host', 'tokens.example', ...fields];
    if (body !== undefined) headers.push('Content-Length', String(body.length));
    const { port } = running[at] ?? {};
    const request = http.request({ host: '127.0.0.1', port, method, path, headers });
    request.end(body);
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    const { statusCode: status = 0, headers: received } = response;
    return { status, headers: received, body: await buffer(response) };
  }

  let issued = 0;
  const accessToken = (claims: object = {}, header: object = {}, signer = key.privateKey) => {
    issued += 1;
    return signJws(
      { alg: 'ES256', typ: 'at+jwt', kid: 'k1', ...header },
      {
        iss: AS,
        aud: REQUEST,
        sub: 'alice-id',
        client_id: 'app',
        jti: `j${issued}`,
        iat: now(),
        exp: now() + 600,
        scope: 'private-token',
        grant_id: 'g1',
        sub_gen: 0,
        client_gen: 0,
        epoch,
        ...claims,
      },
      signer,
    );
  };
  /** Returns the resource server's access token for verification. */
  const serverToken = (claims: object = {}) =>
    accessToken({
      aud: VERIFY,
      sub: 'resource-server',
      client_id: 'resource-server',
      scope: 'private-token:verify',
      grant_id: undefined,
      sub_gen: undefined,
      ...claims,
    });

  const post = (path: string, type: string, body: Uint8Array, call: Call, token?: string) =>
    ask({
      method: 'POST',
      path,
      body,
      ...call,
      fields: call.fields ?? ['Authorization', `Bearer ${token}`, 'Content-Type', type],
    });
  const request = (body: Uint8Array, call: Call & { token?: string } = {}) =>
    post('/private-token/request', REQUEST_TYPE, body, call, call.token ?? accessToken());
  const verify = (body: Uint8Array, call: Call & { token?: string } = {}) =>
    post('/private-token/verify', TOKEN_MEDIA_TYPE, body, call, call.token ?? serverToken());

  async function directoryKeys(type?: TokenType): Promise<readonly DirectoryKey[]> {
    const { body } = await ask({ path: DIRECTORY_PATH });
    const { keys } = parseDirectory(JSON.parse(body.toString()), TOKEN_ISSUER + DIRECTORY_PATH);
    return keys.filter((one) => type === undefined || one.type === type);
  }

  /** Returns the key that a client chooses (RFC 9578 section 4). */
  async function currentKey(type: TokenType): Promise<DirectoryKey> {
    const first = (await directoryKeys(type)).find(({ notBefore = 0 }) => notBefore <= now());
    if (first === undefined) throw new Error('the directory has no key that issues');
    return first;
  }

  /** Obtains a whole token of the key. */
  async function obtain(from: DirectoryKey): Promise<Buffer> {
    const asked = tokenRequest(from);
    const { status, body } = await request(asked.body);
    const token = status === 200 ? asked.token(body) : undefined;
    if (token === undefined) throw new Error(`no token: ${status} ${body.toString()}`);
    return token;
  }

  const client = prover(now);
  return {
    clock,
    now,
    stores,
    published,
    running,
    ask,
    accessToken,
    serverToken,
    request,
    verify,
    directoryKeys,
    currentKey,
    obtain,
    jkt: client.jkt,
    proof: (token: string, claims: object = {}) =>
      client.proof(token, { htm: 'POST', htu: REQUEST, ...claims }),
    /** Runs the periodic work of the processes. */
    chores: () => Promise.all(issuer.chores.map(({ run }) => run())),
    /** Returns the lines of the log up to now. */
    log: () => written.join(''),
    until: () => rememberUntil(clock.now(), LIFE),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export type TestTokenIssuer = Awaited<ReturnType<typeof startTokenIssuer>>;

/** Returns what the issuer answers about a token. */
export const validity = ({ body }: { readonly body: Buffer }): unknown =>
  (JSON.parse(body.toString()) as { valid?: unknown }).valid;
