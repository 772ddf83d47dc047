import { once } from 'node:events';
import type { ServerProcess } from '../pair/pair.ts';
import { until } from '../parts/process.ts';

/** The address of Node's inspector after SIGUSR1. */
const INSPECTOR = 'http://127.0.0.1:9229/json';

interface Reply {
  readonly id?: number;
  readonly result?: { readonly result?: { readonly value?: unknown } };
}

/** Bytes of the live heap of a process, after a garbage collection. */
export async function liveHeap(server: ServerProcess): Promise<number> {
  server.signal('SIGUSR1');
  await until(async () => (await fetch(INSPECTOR)).ok);
  const [target] = (await (await fetch(INSPECTOR)).json()) as { webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '');
  await once(socket, 'open');
  let id = 0;

  async function ask(method: string, params: object = {}): Promise<unknown> {
    const asked = (id += 1);
    socket.send(JSON.stringify({ id: asked, method, params }));
    for (;;) {
      const [{ data }] = (await once(socket, 'message')) as [{ data: string }];
      const reply = JSON.parse(data) as Reply;
      if (reply.id === asked) return reply.result?.result?.value;
    }
  }

  await ask('HeapProfiler.collectGarbage');
  const bytes = await ask('Runtime.evaluate', { expression: 'process.memoryUsage().heapUsed' });
  // The inspector closes after this client has disconnected.
  const end = `setTimeout(() => process.getBuiltinModule('node:inspector').close())`;
  await ask('Runtime.evaluate', { expression: end });
  socket.close();
  await until(() =>
    fetch(INSPECTOR).then(
      () => false,
      () => true,
    ),
  );
  return Number(bytes);
}
