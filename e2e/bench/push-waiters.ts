import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Server } from './cpu.ts';
import type { Subscription } from './push-crowd.ts';
import { type Arrived, eventReader } from './push-events.ts';

/** How user agents wait. */
export interface Way {
  readonly by: 'events' | 'push';
  /** User agents per HTTP/2 connection. Absent: HTTP/1.1, with one connection each. */
  readonly streams?: number;
}

export interface Waiters extends AsyncDisposable {
  /** The number of user agents that no longer wait. */
  lost(): number;
}

/**
 * Milliseconds after which a server has surely begun to wait: a client of server push gets no sign of it.
 */
const BEGINS = 1000;

/** Resolves when a user agent waits at each subscription. Rejects if one may not wait. */
export async function openWaiters(
  { url }: Pick<Server, 'url'>,
  { by, streams }: Way,
  all: readonly Subscription[],
  arrived: Arrived,
): Promise<Waiters> {
  await using ends = new AsyncDisposableStack();
  let lost = 0;
  let leaving = false;
  const over = () => {
    if (!leaving) lost += 1;
  };
  const left = [...all];
  while (left.length > 0) {
    const some = left.splice(0, streams ?? 1);
    if (streams === undefined) {
      for (const to of some) ends.use(await waitAlone(url, to, arrived, over));
      continue;
    }
    const session = http2.connect(url).on('error', () => {}); // each stream reports the failure, too
    ends.defer(() => session.destroy());
    if (by === 'events') {
      await Promise.all(some.map((to) => waitForEvents(session, to, arrived, over)));
    } else {
      takePushes(session, arrived);
      for (const to of some) ask(session, to).resume().once('close', over);
    }
  }
  if (by === 'push') await delay(BEGINS);
  if (lost > 0) throw new Error(`${lost} of ${all.length} cannot wait`);
  ends.defer(() => {
    leaving = true;
  });
  const kept = ends.move();
  return { lost: () => lost, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

type Over = () => void;

const EVENTS = { accept: 'text/event-stream' };

/** Waits over HTTP/1.1. */
async function waitAlone(
  url: string,
  { path, push }: Subscription,
  arrived: Arrived,
  over: Over,
): Promise<Disposable> {
  const request = http.get(new URL(path, url), { headers: EVENTS, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200)
    throw new Error(`a user agent was answered ${response.statusCode}`);
  response.setEncoding('utf8').on('data', eventReader(push, arrived));
  response.on('error', () => {}).once('close', over); // the close reports it
  return { [Symbol.dispose]: () => void request.destroy() };
}

async function waitForEvents(
  session: ClientHttp2Session,
  to: Subscription,
  arrived: Arrived,
  over: Over,
): Promise<void> {
  const stream = ask(session, to, EVENTS);
  stream.setEncoding('utf8').on('data', eventReader(to.push, arrived)).once('close', over);
  const [{ ':status': status }] = await once(stream, 'response');
  if (status !== 200) throw new Error(`a user agent was answered ${status}`);
}

function ask(session: ClientHttp2Session, { path }: Subscription, fields = {}): ClientHttp2Stream {
  return session.request({ ':path': path, ...fields }).on('error', () => {}); // each stream reports the failure, too
}

/** RFC 8030 section 6: each message is the answer to a promised request, and names its push resource. */
function takePushes(session: ClientHttp2Session, arrived: Arrived): void {
  session.on('stream', (stream: ClientHttp2Stream, { ':path': path = '' }) => {
    stream.on('error', () => {});
    stream.once('push', ({ link }) => {
      const push = /^<([^>]*)>/.exec(String(link))?.[1] ?? '';
      void buffer(stream).then(
        (body) => arrived(push, { path, body: body.toString() }),
        () => {}, // the message does not arrive
      );
    });
  });
}
