import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ManualClock } from '#shared/base/clock.ts';
import { type Config, configSchema } from '#shared/config/schema.ts';
import { GENERATE, publicJwk, signJws } from '#shared/jose/jws.fixture.ts';
import { jsonLog } from '#shared/base/log.ts';
import { systemRandom } from '#shared/base/random.ts';
import { listen } from '#shared/server/listen/listen.ts';
import { ask, type Call } from '#shared/server/wire/ask.fixture.ts';
import { keptContent } from '#shared/stores/sqlite/trees/kept-content.fixture.ts';
import { storeFolder } from '#shared/stores/sqlite/folder.fixture.ts';
import { openSqlite } from '#shared/stores/sqlite/open.ts';
import type { Stores } from '#shared/stores/stores.ts';
import { openSend } from '#shared/client/send.ts';
import { composeResourceServer } from '../compose.ts';
import { AuthzLog } from '../playground/authorization-server.ts';
import { openPlayground, type PlaygroundParts } from '../playground/open-playground.ts';
import { systemNetwork } from '../proxy/network.ts';

export const ISSUER = 'https://as.example';
export const RESOURCE = 'https://rs.example';
/** The origin whose pages may read answers of `/documents/`. */
export const PAGES = 'https://pages.example';

const SPACES = [
  {
    url: `${RESOURCE}/documents/`,
    realm: 'documents',
    schemes: ['Bearer', 'DPoP'],
    scopes: { safe: ['documents:read'], unsafe: ['documents:write'] },
    cors: { origins: [PAGES] },
  },
  {
    url: `${RESOURCE}/hidden/`,
    realm: 'hidden',
    schemes: ['Bearer', 'DPoP'],
    scopes: { safe: ['hidden:read'], unsafe: ['hidden:write'] },
    hide: 'forbidden',
    nonce: true,
  },
  {
    url: `${RESOURCE}/dav/`,
    realm: 'dav',
    schemes: ['Digest', 'Basic', 'API-Key', 'Bearer'],
    tree: 'own',
  },
  {
    url: 'https://app.example/',
    realm: 'app',
    schemes: ['Bearer', 'DPoP'],
    scopes: { safe: ['app:read'], unsafe: ['app:write'] },
    serves: 'verify',
  },
];

/** Starts a resource server on a real port, with a real store in its own folder, and an issuer that signs for it. */
export async function startResourceServer(
  changes: object = {},
  wrap: (stores: Stores) => Stores = (stores) => stores,
) {
  const clock = new ManualClock();
  const data = await storeFolder();
  const config: Config = configSchema.parse({
    issuer: ISSUER,
    resource: RESOURCE,
    data,
    trustedProxies: ['127.0.0.0/8'],
    documents: { maxBytes: 100_000 },
    spaces: SPACES,
    ...changes,
  });
  const stores = await openSqlite({ folder: data, clock, random: systemRandom });
  const epoch = await stores.revocations.epoch(true);
  const feed = await stores.revocations.feed();
  const key = GENERATE.ES256();
  const master = Buffer.alloc(32, 7);
  const lines: string[] = [];
  const log = jsonLog((line) => lines.push(line), clock, 'resource');
  const ending = new AbortController();
  const server = await composeResourceServer(
    {
      config,
      stores: wrap(stores),
      feed,
      master,
      clock,
      random: systemRandom,
      log,
      ready: () => wrap(stores).ping(),
      ending: ending.signal,
    },
    {
      fetch: async () => ({ keys: [{ ...publicJwk(key.publicKey), kid: 'k1' }] }),
      openSend,
      gss: undefined,
      network: systemNetwork,
      // The playground as in its own process.
      ...(config.playground && {
        openPlayground: (own: Omit<PlaygroundParts, 'visited' | 'visitedJwks' | 'authzLog'>) =>
          openPlayground({
            ...own,
            visited: config,
            visitedJwks: own.jwks,
            authzLog: new AuthzLog(),
          }),
      }),
    },
  );
  const { handler, http2, webSockets = false, refusalAt } = server;
  const listening = await listen({
    host: '127.0.0.1',
    port: 0,
    handler,
    webSockets,
    refusalAt,
    ...(webSockets && http2 && { http2: { handler: http2 } }),
    log,
  });
  const now = () => Math.floor(clock.now() / 1000);
  let issued = 0;

  const token = (scope: string, claims: object = {}, header: object = {}): string => {
    const [name] = scope.split(':');
    issued += 1;
    return signJws(
      { alg: 'ES256', typ: 'at+jwt', kid: 'k1', ...header },
      {
        iss: ISSUER,
        aud: name === 'app' ? 'https://app.example/' : `${RESOURCE}/${name}/`,
        sub: 'machine',
        client_id: 'machine',
        jti: `token-${issued}`,
        iat: now(),
        exp: now() + 600,
        scope,
        client_gen: 0,
        epoch,
        ...claims,
      },
      key.privateKey,
    );
  };
  const both = token('documents:read documents:write');
  const folder = join(data, 'content', '%2Fdocuments');
  /** The names of the content files of `/documents/`. The first file creates their folder. */
  const files = () =>
    readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });

  return {
    clock,
    now,
    config,
    stores,
    feed,
    master,
    listening,
    server,
    /** The log lines. */
    lines,
    token,
    ask: (method: string, path: string, call?: Call) => ask(listening.port, method, path, call),
    /** Sends a request as a client with the scopes to read and write `/documents/`. */
    as(method: string, path: string, { headers, body }: Call = {}) {
      const authorized = { Authorization: `Bearer ${both}`, ...headers };
      const call = { headers: authorized, ...(body !== undefined && { body }) };
      return ask(listening.port, method, path, call);
    },
    folder,
    files,
    /** The names of all content of `/documents/`, in the store and in files. */
    contents: async () =>
      [...(await files()), ...keptContent(data, '/documents').keys()].toSorted(),
    /** The names of the content that documents of `/documents/` refer to. */
    async named() {
      const entries = await stores.trees.below('/documents', '', 100_000);
      return new Set(entries.flatMap((entry) => (entry.kind === 'document' ? entry.file : [])));
    },
    async [Symbol.asyncDispose]() {
      await listening.close(0);
      await server.holds?.[Symbol.asyncDispose]();
      await feed[Symbol.asyncDispose]();
      await stores[Symbol.asyncDispose]();
    },
  };
}

export type TestResourceServer = Awaited<ReturnType<typeof startResourceServer>>;
