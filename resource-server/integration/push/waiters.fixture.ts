import { once } from 'node:events';
import http from 'node:http';
import http2 from 'node:http2';

/** An event as it was received. */
export interface Event {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Reads a stream of events over HTTP/1.1 as they arrive. */
export async function eventsAt(port: number, path: string, headers: http.OutgoingHttpHeaders = {}) {
  const request = http.get({
    host: '127.0.0.1',
    port,
    path,
    headers: { accept: 'text/event-stream', ...headers },
    agent: false,
  });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  let text = '';
  const ended = new Promise<void>((resolve) => {
    response.on('data', (piece: Buffer) => (text += piece.toString()));
    response.on('close', resolve).on('error', () => {});
  });
  const events = (): Event[] =>
    text
      .split('\n\n')
      .slice(0, -1)
      .filter((block) => !block.startsWith(':'))
      .map((block) => {
        const [, event = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(block) ?? [];
        return { event, data: JSON.parse(data) };
      });
  return {
    response,
    events,
    ended,
    comments: () => text.split('\n\n').filter((block) => block === ':').length,
    leave: () => request.destroy(),
  };
}

/** A pushed answer. */
export interface Pushed {
  readonly path: string;
  readonly status: number;
  readonly headers: http2.IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Waits over HTTP/2 and records pushed answers. */
export function pushesAt(
  port: number,
  path: string,
  headers: http2.OutgoingHttpHeaders = {},
  settings: http2.Settings = {},
) {
  const session = http2.connect(`http://127.0.0.1:${port}`, { settings });
  session.on('error', () => {});
  const pushed: Pushed[] = [];
  session.on('stream', (stream: http2.ClientHttp2Stream, asked) => {
    stream.on('push', (answer) => {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('end', () =>
        pushed.push({
          path: String(asked[':path']),
          status: Number(answer[':status']),
          headers: answer,
          body: Buffer.concat(pieces),
        }),
      );
    });
  });
  const stream = session.request({ ':path': path, ...headers });
  stream.on('error', () => {});
  const status = once(stream, 'response').then(([answer]) => Number(answer[':status']));
  stream.resume();
  return { session, stream, pushed, status, leave: () => session.destroy() };
}

/** Waits until a condition holds, or fails after ten seconds. */
export async function until(holds: () => boolean): Promise<void> {
  const last = performance.now() + 10_000;
  while (!holds()) {
    if (performance.now() > last) throw new Error('it did not happen');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
