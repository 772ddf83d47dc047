/** The pair, and a server of MCP with sessions twice: behind the guard, and behind the gateway. */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installResource } from '../../clients/guard/install.ts';
import { type Flow, startFlow } from '../../flows/flow.ts';
import { freePort } from '../../parts/free-port.ts';
import { NODE, type RunningProcess, startProcess } from '../../parts/process.ts';
import { temporaryFolder } from '../../parts/temporary-folder.ts';

const PACKAGES = ['@modelcontextprotocol', 'express', 'jose', 'zod'];
const OWN = ['server-sessions.mjs', 'callers.mjs', 'event-log.mjs'];
const STATEMENTS = new URL('../gateway-identity/verify-statement.mjs', import.meta.url);

export const WAYS = ['guard', 'gateway'] as const;
export type Way = (typeof WAYS)[number];

/** The origin of the page that may call the servers. */
export const PAGE = 'https://host.example';

export interface SessionSite extends AsyncDisposable {
  readonly flow: Flow;
  /** The URL that clients know of each, which is its resource. */
  readonly urls: Readonly<Record<Way, string>>;
  readonly servers: Readonly<Record<Way, RunningProcess>>;
}

export async function startSessionSite(): Promise<SessionSite> {
  await using parts = new AsyncDisposableStack();
  const { path: folder } = parts.use(await temporaryFolder());
  await installResource(folder, PACKAGES);
  for (const name of OWN) await copyFile(new URL(name, import.meta.url), join(folder, name));
  await copyFile(STATEMENTS, join(folder, 'verify-statement.mjs'));
  const ports = { guard: await freePort(), gateway: await freePort() };
  const local = (way: Way) => `http://127.0.0.1:${ports[way]}/mcp`;
  const scopes = {
    safe: ['notes:read'],
    unsafe: ['notes:read'],
    'tool:add_note': ['notes:write'],
  };
  const flow = parts.use(
    await startFlow({
      settings: ({ resource }) => ({
        // On a busy machine a follower may be late.
        revocations: { lease: 5 },
        spaces: [
          {
            url: local('guard'),
            realm: 'guarded notes',
            schemes: ['Bearer'],
            serves: 'verify',
            scopes,
          },
          {
            url: `${resource}/mcp`,
            realm: 'notes',
            schemes: ['Bearer'],
            serves: 'upstream',
            upstream: { url: local('gateway'), name: 'notes' },
            methods: ['GET', 'POST', 'DELETE'],
            scopes,
            cors: { origins: [PAGE] },
          },
        ],
      }),
    }),
  );
  const { pair } = flow;
  const follower = await pair.addClient('revocations:follow');
  const urls = { guard: local('guard'), gateway: `${pair.resource}/mcp` };
  const start = async (way: Way) =>
    parts.use(
      await startProcess(process.execPath, [join(folder, 'server-sessions.mjs')], {
        cwd: folder,
        env: {
          ...NODE,
          BEHIND: way,
          ISSUER: pair.issuer,
          RESOURCE: urls[way],
          CLIENT: follower.id,
          SECRET: follower.secret,
          ORIGIN: PAGE,
          PORT: `${ports[way]}`,
        },
        ready: (output) => output.includes('listening'),
      }),
    );
  const servers = { guard: await start('guard'), gateway: await start('gateway') };
  const owned = parts.move();
  return { flow, urls, servers, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
