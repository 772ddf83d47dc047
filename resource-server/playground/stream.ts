import { once } from 'node:events';
import { type ClientHttp2Stream, connect, type OutgoingHttpHeaders } from 'node:http2';
import type { Socket } from 'node:net';
import { type FieldLine, partsOf } from './http1-message.ts';
import { writeList } from './http2-message.ts';
import { patiently, readShown } from './patience.ts';

/** A request of a stream and its answer, as lists of fields with their contents (RFC 9113 section 8.1). */
interface StreamedLeg {
  readonly sent: Buffer;
  readonly received: Buffer;
}

export interface Streamed extends StreamedLeg {
  /** Requests that the server has promised, with their answers (RFC 9113 section 8.4). */
  readonly promised: readonly StreamedLeg[];
}

/**
 * Sends a request over HTTP/2 once the connection is open, and returns the messages of the client's streams. Rejects
 * with `HttpError` 503 if it takes too long. `begin`: returns the request.
 */
export function streamOn(
  socket: Socket,
  begin: (signal: AbortSignal) => Promise<Buffer>,
): Promise<Streamed> {
  return patiently(socket, async (signal) => {
    const { fields, content } = partsOf(await begin(signal));
    const session = connect('https://playground.invalid', { createConnection: () => socket });
    session.on('error', () => {}); // the error also ends its streams
    const promised: Promise<StreamedLeg>[] = [];
    session.on('stream', (stream, _headers, _flags, raw) => {
      const answered = answerOf(stream, 'push', signal);
      const leg = answered.then((received) => ({ sent: writeList(inPairs(raw)), received }));
      leg.catch(() => {}); // if the request itself fails, no caller waits for this promise
      promised.push(leg);
    });
    const stream = session.request(fields.flat(), { endStream: content.length === 0 });
    if (content.length > 0) stream.end(content);
    const received = await answerOf(stream, 'response', signal);
    return {
      sent: writeList(linesOf(stream.sentHeaders), content),
      received,
      promised: await Promise.all(promised),
    };
  });
}

async function answerOf(
  stream: ClientHttp2Stream,
  event: 'response' | 'push',
  signal: AbortSignal,
): Promise<Buffer> {
  stream.on('error', () => {}); // the stream may fail again when the connection closes
  const [, , raw] = (await once(stream, event, { signal })) as [unknown, unknown, string[]];
  return writeList(inPairs(raw), await readShown(stream));
}

/** Pairs the alternating names and values that node:http2 received. */
const inPairs = (raw: readonly string[]): readonly FieldLine[] =>
  raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ''] as const] : []));

const linesOf = (headers: OutgoingHttpHeaders): readonly FieldLine[] =>
  Object.entries(headers).flatMap(([name, values = []]) =>
    [values].flat().map((value) => [name, String(value)] as const),
  );
