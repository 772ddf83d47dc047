import { overHttp2 } from './http2-load.ts';
import { type HttpContender, overWrk } from './http-load.ts';
import { overPool, type PoolContender } from './pool-load.ts';
import { always } from './requests.ts';
import { startBareText } from './targets/bare.ts';
import type { Loaded } from './work.ts';

export const onWrk =
  (contender: HttpContender): Loaded =>
  (atOnce) =>
    overWrk(contender, atOnce);

const CONNECTIONS = 4;

/** HTTP/2 with as many streams, on at most four connections. */
export const onHttp2 =
  (contender: HttpContender): Loaded =>
  (atOnce) =>
    overHttp2(contender, {
      connections: Math.min(CONNECTIONS, atOnce),
      streams: Math.ceil(atOnce / CONNECTIONS),
    });

export const onPool =
  (contender: PoolContender): Loaded =>
  (atOnce) =>
    overPool(contender, atOnce);

/** Starts a bare node:http server that answers with this text. Most goals are multiples of its cost. */
export async function startBareHttp(
  stack: AsyncDisposableStack,
  body: string,
  folder: string,
): Promise<Loaded> {
  const server = stack.use(await startBareText({ body }, folder));
  return onWrk({
    name: 'node:http',
    server,
    load: always({ method: 'GET', path: '/', fields: {} }),
    answer: { status: 200, body: (text) => text === body },
  });
}
