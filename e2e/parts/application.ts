import { freePort } from './free-port.ts';
import { NODE, type RunningProcess, startProcess } from './process.ts';

const FILES = {
  express: './applications/express.ts',
  koa: './applications/koa.ts',
  nephele: './applications/nephele.ts',
  ws: './applications/ws.ts',
} as const;

export type ApplicationName = keyof typeof FILES;

export interface Application {
  /** The URL below which the application serves. */
  readonly url: string;
  readonly process: RunningProcess;
}

/** Starts an application on third-party libraries as a process; the stack ends it. */
export async function startApplication(
  stack: AsyncDisposableStack,
  name: ApplicationName,
  ...args: readonly string[]
): Promise<Application> {
  const port = await freePort();
  const file = new URL(FILES[name], import.meta.url).pathname;
  const started = await startProcess(process.execPath, [file, `${port}`, ...args], {
    env: NODE,
    ready: (output) => output.includes('listening'),
  });
  return { url: `http://127.0.0.1:${port}/base/`, process: stack.use(started) };
}
