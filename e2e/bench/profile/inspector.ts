import { once } from 'node:events';
import * as z from 'zod';
import { until } from '../../parts/process.ts';
import { type CpuProfile, cpuProfile, type HeapProfile, heapProfile } from './fold.ts';

/** Where Node listens for a debugger once it was sent SIGUSR1. */
const LIST = 'http://127.0.0.1:9229/json/list';

const listed = z.tuple([z.object({ webSocketDebuggerUrl: z.string() })]).rest(z.unknown());
const answer = z.object({
  id: z.int(),
  error: z.object({ message: z.string() }).optional(),
  result: z.record(z.string(), z.unknown()).optional(),
});

type Work = () => Promise<unknown>;
type Members = Readonly<Record<string, unknown>>;
type Ask = (method: string, params?: Members) => Promise<Members>;

/** Profiles the CPU time of a Node process during the work. */
export const profiled = (pid: number, work: Work): Promise<CpuProfile> =>
  inspected(pid, async (ask) => {
    await ask('Profiler.enable');
    await ask('Profiler.start');
    await work();
    const { profile } = await ask('Profiler.stop');
    return cpuProfile.parse(profile);
  });

/** Octets from one sample to the next. */
const EACH = 2048;

/** Samples what a Node process made during the work that was not collected as young garbage. */
export const outlived = (pid: number, work: Work): Promise<HeapProfile> =>
  inspected(pid, async (ask) => {
    await ask('HeapProfiler.enable');
    await ask('HeapProfiler.startSampling', {
      samplingInterval: EACH,
      includeObjectsCollectedByMajorGC: true,
      includeObjectsCollectedByMinorGC: false,
    });
    await work();
    const { profile } = await ask('HeapProfiler.stopSampling');
    return heapProfile.parse(profile);
  });

/** Asks the inspector of a Node process. Rejects if another process is debugged on this machine already. */
async function inspected<T>(pid: number, use: (ask: Ask) => Promise<T>): Promise<T> {
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
  return await use(ask);
}

const OVER = 'the process is over';

/** Asks by the Chrome DevTools Protocol; what comes without having been asked for is not heard. */
function asking(socket: WebSocket): Ask {
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
