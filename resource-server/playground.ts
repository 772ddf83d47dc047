/**
 * The playground as a separate process. Its arguments: the folder of its store, and the file of the authorization
 * server.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { SchemeParts } from '#shared/auth/schemes/parts/scheme-entry.ts';
import { createJwks, type Jwks } from '#shared/auth/tokens/jwks.ts';
import { derivedKey } from '#shared/base/derived-key.ts';
import { silentLog } from '#shared/base/log.ts';
import { openSend } from '#shared/client/send.ts';
import { loadConfig } from '#shared/config/load.ts';
import { configSchema } from '#shared/config/schema.ts';
import { readMasterSecret } from '#shared/config/secret.ts';
import { runProcess } from '#shared/server/process.ts';
import { fetchJson } from './auth/fetch-json.ts';
import { composeResourceServer } from './compose.ts';
import { systemNetwork } from './proxy/network.ts';
import { AuthzLog } from './playground/authorization-server.ts';
import { openPlayground } from './playground/open-playground.ts';
import { authzMembers } from './playground/pair.ts';

const [, , folder = '', authz = ''] = process.argv;

const visited = await loadConfig(process.env);
const secret = derivedKey(await readMasterSecret(visited, process.env), 'countersign playground');
/**
 * The environment without the operator's settings, since the playground must not touch the operator's store and keys.
 */
const env = {
  ...Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('COUNTERSIGN_')),
  ),
  COUNTERSIGN_SECRET: secret.toString('base64'),
};

const authzServer = await startAuthz();

await runProcess(
  {
    name: 'resource',
    ofPlayground: true,
    keys: 'gatewayKeys',
    makesEpoch: false,
    async load() {
      const members = {
        ...authzMembers(visited, folder),
        listen: { resource: { host: '127.0.0.1', port: 0 } },
        jwks: { url: `http://127.0.0.1:${await authzServer.port}/jwks` },
        playground: true,
        spaces: [],
      };
      return { ...configSchema.parse(members), brand: visited.brand };
    },
    origin: ({ resource }) => resource,
    async create(parts) {
      // The workers terminate TLS and pass requests on in clear text, so the playground's process does not listen for
      // TLS.
      const config = { ...parts.config, tls: visited.tls };
      const server = await composeResourceServer(
        { ...parts, config },
        {
          fetch: fetchJson,
          openSend,
          gss: undefined,
          network: systemNetwork,
          openPlayground: (own) =>
            openPlayground({
              ...own,
              visited,
              visitedJwks: keysForVisitors(own.schemes),
              authzLog: authzServer.log,
            }),
        },
      );
      return { ...server, beside: [] };
    },
  },
  env,
);
await authzServer.end();
// The parent removes the folder, too, unless the parent was killed.
await rm(folder, { recursive: true, force: true });

/** The keys of the operator's authorization server, for the page that explains tokens. */
function keysForVisitors({ clock }: SchemeParts): Jwks {
  const { issuer, jwks } = visited;
  const { url = `${issuer}/jwks`, maxAge, cooldown } = jwks;
  const fetch = async (at: string) => fetchJson(at);
  return createJwks({ url, fetch, clock, maxAge, cooldown, log: silentLog });
}

/** Starts the authorization server. If the authorization server ends by itself, this process ends, too. */
async function startAuthz() {
  const file = join(folder, 'authz.json');
  await writeFile(file, JSON.stringify(authzMembers(visited, folder)));
  const child = fork(authz, [], {
    env: { ...env, COUNTERSIGN_CONFIG: file },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  const log = new AuthzLog();
  if (child.stderr !== null) {
    createInterface(child.stderr).on('line', (line) => {
      if (log.take(line)) process.stderr.write(`${line}\n`);
    });
  }
  const exit = once(child, 'exit');
  const port = new Promise<number>((resolve, reject) => {
    child.on('message', (content) => {
      const { ready, port: own, failed } = Object(content) as Record<string, unknown>;
      if (ready === true) resolve(Number(own));
      if (typeof failed === 'string') reject(new Error(failed));
    });
    void exit.then(() => {
      reject(new Error('the authorization server has ended'));
      process.kill(process.pid, 'SIGTERM');
    });
  });
  return {
    port,
    log,
    async end() {
      child.kill('SIGTERM');
      await exit;
    },
  };
}
