import { once } from 'node:events';
import * as z from 'zod';
import { until } from '../../parts/process.ts';
import { type CpuProfile, cpuProfile, type HeapProfile, heapProfile } from './fold.ts';

/** The address where Node listens for a debugger after SIGUSR1. */
const LIST = 'http://127.0.0.1:9229/json/list';

/** Milliseconds of waiting while another process is profiled. */
const PATIENCE = 180_000;

const listed = z.tuple([z.object({ webSocketDebuggerUrl: z.string() })]).rest(z.unknown());
const answer = z.object({
  id: z.int(),
  error: z.object({ message: z.string() }).optional(),
  result: z.record(z.string(), z.unknown()).optional(),
});

type Work = () => Promise<unknown>;
type Members = Readonly<Record<string, unknown>>;
type Ask = (method: string, params?: Members) => Promise<Members>;

/** Profiles a Node process by wall-clock time, so that blocking calls are visible. */
export const profiled = (pid: number, work: Work): Promise<CpuProfile> =>
  inspected(pid, async (ask) => {
    await ask('Profiler.enable');
    await ask('Profiler.start');
    await work();
    const { profile } = await ask('Profiler.stop');
    return cpuProfile.parse(profile);
  });

/** Octets between two samples. */
const EACH = 2048;

/**
 * Samples the objects that a Node process made during the work and that survived young garbage collections.
 */
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

/**
 * Uses the inspector of a Node process. If another process on this machine uses the port, waits for some
 * minutes at most.
 */
async function inspected<T>(pid: number, use: (ask: Ask) => Promise<T>): Promise<T> {
  await using stack = new AsyncDisposableStack();
  let asked: Ask | undefined;
  await until(async () => {
    asked = await inspectorOf(pid, stack);
    return asked !== undefined;
  }, PATIENCE);
  if (asked === undefined) throw new Error(`process ${pid} has no inspector`);
  return await use(asked);
}

/** Undefined if another process's inspector answers. */
async function inspectorOf(pid: number, stack: AsyncDisposableStack): Promise<Ask | undefined> {
  process.kill(pid, 'SIGUSR1');
  const [{ webSocketDebuggerUrl }] = listed.parse(await (await fetch(LIST)).json());
  const socket = new WebSocket(webSocketDebuggerUrl);
  stack.defer(() => socket.close());
  await once(socket, 'open');
  const ask = asking(socket);
  const { result } = await ask('Runtime.evaluate', { expression: 'process.pid' });
  const { value } = z.object({ value: z.int() }).parse(result);
  if (value === pid) return ask;
  socket.close();
  return undefined;
}

const OVER = 'the process is over';

/** Sends commands of the Chrome DevTools Protocol. Events are ignored. */
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
