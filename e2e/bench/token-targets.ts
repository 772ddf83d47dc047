import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { REQUEST_SCOPE } from '#shared/config/token-spaces.ts';
import { serverNameOf } from '#shared/private-token/server-name.ts';
import { GENERATE } from '#shared/keys/token-key-lifecycle.ts';
import type { TokenKeyPair } from '#shared/private-token/token-key.ts';
import { BLIND_RSA, type TokenType, VOPRF } from '#shared/private-token/token-types.ts';
import { systemRandom } from '#shared/base/random.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';
import type { Server } from './cpu.ts';
import { type LoopMonitor, loopMonitor } from './loop-delay.ts';
import { bearer, BODY, type Fields, ORIGIN } from './site.ts';
import { type Arithmetic, startBarePrivacyPass } from './targets/bare.ts';
import { type Settings, startCountersign, tlsOf } from './targets/countersign.ts';
import { type RedisStore, startRedisStore } from './targets/redis.ts';
import { issuingKeys } from './token-keys.ts';
import { digestOf } from './token-maker.ts';
import { mintTokens } from './tokens.ts';

/** An issuer, and an origin that takes its tokens. */
export interface TokenTarget {
  readonly name: string;
  readonly keys: readonly TokenKeyPair[];
  readonly issuer: Issuer;
  readonly origin: Origin;
}

interface Issuer {
  /** Over TLS. */
  readonly server: Server;
  readonly path: string;
  /** What lets in whoever requests tokens. */
  readonly credentials: Fields;
  /** Of its event loop. */
  readonly monitor: LoopMonitor;
}

interface Origin {
  readonly server: Server;
  path(type: TokenType): string;
  /** Of the challenge that it makes. */
  digest(type: TokenType): Buffer;
}

export interface TokenTargets {
  /** @cloudflare/privacypass-ts, with each arithmetic that it has for VOPRF. */
  readonly sjcl: TokenTarget;
  readonly noble: TokenTarget;
  /** Ours: the origin has tokens of VOPRF verified by the issuer. */
  readonly sqlite: TokenTarget;
  readonly redis: TokenTarget;
  /** With SQLite: the origin verifies them itself. */
  readonly itself: TokenTarget;
}

/** Starts them all; the stack ends them. */
export async function startTokenTargets(stack: AsyncDisposableStack): Promise<TokenTargets> {
  const { path: folder } = stack.use(await temporaryFolder());
  const monitorOf = (name: string) => loopMonitor(join(folder, `${name}.json`));

  async function ours(name: string, verification = 'issuer', store?: RedisStore) {
    const monitor = monitorOf(name);
    const started = startCountersign(
      ({ tokenIssuer: issuer }) => ({
        ...SETTINGS,
        privateTokens: { issuer, verification },
      }),
      { authzFlags: monitor.flags, ...(store && { store }) },
    );
    const servers = stack.use(await started);
    return { pair: servers.pair, target: await targetOf(name, servers, monitor) };
  }

  const sqlite = await ours('ours, SQLite');
  const tls = tlsOf(sqlite.pair);

  async function theirs(name: string, arithmetic: Arithmetic): Promise<TokenTarget> {
    const monitor = monitorOf(name);
    const keys = [await GENERATE[VOPRF](systemRandom), await GENERATE[BLIND_RSA](systemRandom)];
    const digest = (type: TokenType) => digestOf(type, 'issuer.example', 'origin.example');
    const told = keys.map(({ type, publicKey, privateKey }) => ({
      type,
      publicKey: publicKey.toString('base64url'),
      privateKey: privateKey.toString('base64url'),
      challengeDigest: digest(type).toString('base64url'),
    }));
    const options = { tls, keys: told, body: BODY };
    const place = { folder, flags: monitor.flags };
    const { issuer, origin } = await startBarePrivacyPass(arithmetic, options, place);
    stack.use(origin);
    const ca = await readFile(tls.cert);
    return {
      name,
      keys,
      issuer: { server: { ...issuer, ca }, path: '/', credentials: {}, monitor },
      origin: { server: origin, path: (type) => `/${type}`, digest },
    };
  }

  return {
    sjcl: await theirs('privacypass-ts', 'sjcl'),
    noble: await theirs('privacypass-ts, noble', 'noble'),
    sqlite: sqlite.target,
    redis: (await ours('ours, Redis', 'issuer', await startRedisStore(stack))).target,
    itself: (await ours('ours, SQLite, verifies itself', 'store')).target,
  };
}

const PATH = '/tokens/';
const SETTINGS: Settings = {
  resource: ORIGIN,
  spaces: [{ url: ORIGIN + PATH, realm: 'tokens', schemes: ['PrivateToken'], serves: 'identity' }],
};

type Servers = Awaited<ReturnType<typeof startCountersign>>;

async function targetOf(
  name: string,
  { pair, authz, resource }: Servers,
  monitor: LoopMonitor,
): Promise<TokenTarget> {
  const path = '/private-token/request';
  const client = await pair.addClient(REQUEST_SCOPE);
  const grant = { issuer: authz.url, client, scope: REQUEST_SCOPE };
  const [token = ''] = await mintTokens({ ...grant, resource: pair.tokenIssuer + path }, 1);
  const issuerName = serverNameOf(pair.tokenIssuer);
  return {
    name,
    keys: await issuingKeys(pair),
    issuer: {
      server: { ...authz, url: pair.tokenIssuer, ca: await readFile(tlsOf(pair).cert) },
      path,
      credentials: bearer(token),
      monitor,
    },
    origin: {
      // It may ask the issuer.
      server: { ...resource, pids: [...resource.pids, ...authz.pids] },
      path: () => PATH,
      digest: (type) => digestOf(type, issuerName, serverNameOf(ORIGIN)),
    },
  };
}
