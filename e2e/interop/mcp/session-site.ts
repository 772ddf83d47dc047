/** The pair and two MCP servers with sessions: one behind the guard, one behind the gateway. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../bundle.ts';
import { installResource, linkPackages } from '../../clients/guard/install.ts';
import { type Flow, startFlow } from '../../flows/flow.ts';
import { examples } from '../../pair/examples.ts';
import { freePort } from '../../parts/free-port.ts';
import { NODE, type RunningProcess, startProcess } from '../../parts/process.ts';
import { temporaryFolder } from '../../parts/temporary-folder.ts';

const run = promisify(execFile);
const PAGE_OF_IT = 'docs/how-to/mcp-example.md';

export const WAYS = ['guard', 'gateway'] as const;
export type Way = (typeof WAYS)[number];

/** The origin of the page that may call the servers. */
export const PAGE = 'https://host.example';

export interface SessionSite extends AsyncDisposable {
  readonly flow: Flow;
  /** The public URL of each server, which is its resource. */
  readonly urls: Readonly<Record<Way, string>>;
  readonly servers: Readonly<Record<Way, RunningProcess>>;
}

/** `blocks`: the code blocks of the page, with which each server's folder is filled. */
export async function startSessionSite(
  blocks: Readonly<Record<Way, readonly string[]>>,
): Promise<SessionSite> {
  await using parts = new AsyncDisposableStack();
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
        // On a busy machine a follower may be slow.
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
            schemes: ['DPoP', 'Bearer'],
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
  const start = async (way: Way) => {
    const folder = parts.use(await temporaryFolder()).path;
    await install(way, folder, blocks[way]);
    return parts.use(
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
  };
  const servers = { guard: await start('guard'), gateway: await start('gateway') };
  const owned = parts.move();
  return { flow, urls, servers, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** Fills the folder as the page says, with the packages that `npm ci` has installed. */
async function install(way: Way, folder: string, infos: readonly string[]): Promise<void> {
  const blocks = await Promise.all(infos.map((info) => examples(PAGE_OF_IT, info)));
  const lines = blocks.flat().join('').split('\n');
  const [, named = ''] = /^npm install (.*)$/m.exec(lines.join('\n')) ?? [];
  const packages = named.split(' ').map((name) => name.replace(/@\d+$/, ''));
  await (way === 'guard' ? installResource : linkPackages)(folder, packages);
  const copies = lines.filter((line) => line.startsWith('cp ')).join('\n');
  await run('bash', ['-euc', copies], { cwd: folder, env: { ...NODE, REPOSITORY: ROOT } });
}
