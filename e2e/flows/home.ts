import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { entryFile } from '../parts/entry.ts';
import { freePort } from '../parts/free-port.ts';
import { NODE, type RunningProcess, startProcess } from '../parts/process.ts';
import { temporaryFolder } from '../parts/temporary-folder.ts';

const run = promisify(execFile);
export const START = entryFile('shared/start/main.js');

/**
 * An empty data folder of a new operator, with a configuration that differs from the tour's in its ports
 * only.
 */
export async function home(more: object | ((resource: string, secure: string) => object) = {}) {
  const folder = await temporaryFolder();
  const data = join(folder.path, 'data');
  const file = join(folder.path, 'countersign.json');
  const ports = await Promise.all(Array.from({ length: 5 }, freePort));
  const [authz = 0, authzTls = 0, resource = 0, resourceTls = 0, proxy = 0] = ports;
  const config = {
    issuer: `http://localhost:${authz}`,
    resource: `http://localhost:${resource}`,
    listen: {
      authz: { port: authz },
      authzTls: { port: authzTls },
      resource: { port: resource },
      resourceTls: { port: resourceTls },
      proxy: { port: proxy },
    },
    ...(typeof more === 'function'
      ? more(`http://localhost:${resource}`, `https://localhost:${resourceTls}`)
      : more),
  };
  await writeFile(file, JSON.stringify(config));
  const env: NodeJS.ProcessEnv = {
    ...NODE,
    COUNTERSIGN_CONFIG: file,
    COUNTERSIGN_DATA: data,
  };
  return {
    ...config,
    config,
    file,
    ports: { authz, resource, proxy },
    data,
    env,
    firstStart: join(data, 'first-start.txt'),
    start: (extra: NodeJS.ProcessEnv = {}, ...args: readonly string[]) =>
      startProcess(process.execPath, [START, ...args], {
        env: { ...env, ...extra },
        ready: (output) => output.includes('ready.'),
      }),
    /** Starts a server that must refuse to start; returns its exit code and standard error. */
    async refused(extra: NodeJS.ProcessEnv = {}): Promise<{ code: unknown; said: string }> {
      const starting = run(process.execPath, [START], { env: { ...env, ...extra } });
      const error = (await starting.then(
        () => undefined,
        (reason: unknown) => reason,
      )) as { code: unknown; stderr: string } | undefined;
      return { code: error?.code, said: error?.stderr ?? '' };
    },
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

export type Home = Awaited<ReturnType<typeof home>>;

/** The processes of one server, in the order of their pids. */
export async function workersOf(pair: RunningProcess, folder: string): Promise<readonly number[]> {
  const { stdout } = await run('ps', ['-o', 'pid=,args=', '--ppid', String(pair.pid)]);
  const main = entryFile(`${folder}/main.ts`);
  const lines = stdout.split('\n').filter((line) => line.includes(main));
  return lines.map((line) => Number.parseInt(line, 10));
}
