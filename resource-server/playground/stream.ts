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
  /** Requests that the server has promised, with its answers (RFC 9113 section 8.4). */
  readonly promised: readonly StreamedLeg[];
}

/**
 * Sends on a connection the request that `begin` returns when it is there, over HTTP/2, and returns what the client's
 * streams had. Rejects with `HttpError` 503 if it takes too long.
 */
export function streamOn(
  socket: Socket,
  begin: (signal: AbortSignal) => Promise<Buffer>,
): Promise<Streamed> {
  return patiently(socket, async (signal) => {
    const { fields, content } = partsOf(await begin(signal));
    const session = connect('https://playground.invalid', { createConnection: () => socket });
    session.on('error', () => {}); // its streams end with it
    const promised: Promise<StreamedLeg>[] = [];
    session.on('stream', (stream, _headers, _flags, raw) => {
      const answered = answerOf(stream, 'push', signal);
      const leg = answered.then((received) => ({ sent: writeList(inPairs(raw)), received }));
      leg.catch(() => {}); // if the request itself fails, nobody waits for it
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
  stream.on('error', () => {}); // it may fail once more when the connection ends
  const [, , raw] = (await once(stream, event, { signal })) as [unknown, unknown, string[]];
  return writeList(inPairs(raw), await readShown(stream));
}

/** Names and values alternate in what node:http2 has received. */
const inPairs = (raw: readonly string[]): readonly FieldLine[] =>
  raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ''] as const] : []));

const linesOf = (headers: OutgoingHttpHeaders): readonly FieldLine[] =>
  Object.entries(headers).flatMap(([name, values = []]) =>
    [values].flat().map((value) => [name, String(value)] as const),
  );
