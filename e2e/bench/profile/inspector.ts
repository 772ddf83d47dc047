import { once } from 'node:events';
import * as z from 'zod';
import { until } from '../../parts/process.ts';
import { type CpuProfile, cpuProfile } from './fold.ts';

/** Where Node listens for a debugger once it was sent SIGUSR1. */
const LIST = 'http://127.0.0.1:9229/json/list';

const listed = z.tuple([z.object({ webSocketDebuggerUrl: z.string() })]).rest(z.unknown());
const answer = z.object({
  id: z.int(),
  error: z.object({ message: z.string() }).optional(),
  result: z.record(z.string(), z.unknown()).optional(),
});

/**
 * Profiles a Node process by its inspector during the work. Rejects if another process is debugged on this machine
 * already.
 */
export async function profiled(pid: number, work: () => Promise<unknown>): Promise<CpuProfile> {
  await using stack = new AsyncDisposableStack();
  process.kill(pid, 'SIGUSR1');
  await until(async () => (await fetch(LIST)).ok);
  const [{ webSocketDebuggerUrl }] = listed.parse(await (await fetch(LIST)).json());
  const socket = new WebSocket(webSocketDebuggerUrl);
  stack.defer(() => socket.close());
  await once(socket, 'open');
  const ask = asking(socket);
  const { result } = await ask('Runtime.evaluate', { expression: 'process.pid' });
  const { value } = z.object({ value: z.int() }).parse(result);
  if (value !== pid) throw new Error(`${LIST} is that of process ${value}, not of ${pid}`);
  await ask('Profiler.enable');
  await ask('Profiler.start');
  await work();
  const { profile } = await ask('Profiler.stop');
  return cpuProfile.parse(profile);
}

const OVER = 'the process is over';

type Members = Readonly<Record<string, unknown>>;

/** Asks by the Chrome DevTools Protocol; what comes without having been asked for is not heard. */
function asking(socket: WebSocket): (method: string, params?: Members) => Promise<Members> {
  const asked: PromiseWithResolvers<Members>[] = [];
  socket.addEventListener('message', ({ data }) => {
    const said = answer.safeParse(JSON.parse(String(data)));
    if (!said.success) return;
    const { id, error, result = {} } = said.data;
    if (error === undefined) asked[id]?.resolve(result);
    else asked[id]?.reject(new Error(error.message));
  });
  socket.addEventListener('close', () => {
    for (const { reject } of asked) reject(new Error(OVER));
  });
  return (method, params = {}) => {
    const waiting = Promise.withResolvers<Members>();
    const id = asked.push(waiting) - 1;
    if (socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify({ id, method, params }));
    else waiting.reject(new Error(OVER));
    return waiting.promise;
  };
}
