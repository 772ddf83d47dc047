import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RawRequest, Serve } from './raw-upstream.ts';

/** The content of every valid answer. */
export const CONTENT = 'what was asked for';
const TEXT = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n';
const RIGHT = `${TEXT}Content-Length: ${CONTENT.length}\r\n\r\n${CONTENT}`;
/** The content of an answer without a request. A client that gets it got a wrong answer. */
export const UNASKED = 'for somebody else';
const BEHIND = `${TEXT}Content-Length: ${UNASKED.length}\r\n\r\n${UNASKED}`;
const MEGABYTE = 1_048_576;

const says =
  (...octets: readonly string[]): Serve =>
  ({ socket }) => {
    for (const some of octets) socket.write(some, 'latin1');
  };

/** Sends the text and closes properly. */
const ends =
  (octets: string): Serve =>
  ({ socket }) =>
    socket.end(octets, 'latin1');

/** Sends the text, then resets the connection. */
const resets =
  (octets: string): Serve =>
  async ({ socket }) => {
    await new Promise((resolve) => socket.write(octets, 'latin1', resolve));
    socket.resetAndDestroy();
  };

const withFields = (fields: string, content = CONTENT) =>
  says(`${TEXT}${fields}Content-Length: ${content.length}\r\n\r\n${content}`);

/** Sends the first text, then repeats the second until the connection is closed. */
const endlessly =
  (first: string, again: string): Serve =>
  async ({ socket }) => {
    socket.write(first, 'latin1');
    while (!socket.destroyed && !socket.closed) {
      if (socket.write(again, 'latin1')) await sleep(0);
      else await writable(socket);
    }
  };

async function writable(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  socket.once('drain', resolve).once('close', resolve);
  await promise;
  socket.off('drain', resolve).off('close', resolve);
}

/** Sends octet by octet. */
async function drips(socket: Socket, octets: string, milliseconds: number): Promise<void> {
  for (const octet of octets) {
    if (socket.destroyed) return;
    socket.write(octet, 'latin1');
    await sleep(milliseconds);
  }
}

const chunked = (...pieces: readonly string[]) =>
  `${TEXT}Transfer-Encoding: chunked\r\n\r\n${pieces.join('')}`;
const CHUNK = `${CONTENT.length.toString(16)}\r\n${CONTENT}\r\n`;

/** Faults and rare behaviours of an upstream, by name. */
export const FAULTS = {
  // invalid heads
  'no HTTP at all': ends('SSH-2.0-OpenSSH_9.2\r\n\r\n'),
  'a line and nothing': ends('HTTP/1.1 200 OK\r\n'),
  'the answer of HTTP/2': ends('\0\0\0\u0004\0\0\0\0\0'),
  'a version that is none': says(RIGHT.replace('1.1', '7.1')),
  'a status of two digits': says(RIGHT.replace('200', '20')),
  'a status of four digits': says(RIGHT.replace('200', '2000')),
  'status 099': says(RIGHT.replace('200', '099')),
  'status 600': says(RIGHT.replace('200', '600')),
  'status 999': says(RIGHT.replace('200', '999')),
  '101 unasked': says(
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
  ),
  'a line without a colon': says(RIGHT.replace('Content-Type:', 'Content-Type')),
  'a name that is empty': withFields(': x\r\n'),
  'a name with a blank': withFields('X Y: x\r\n'),
  'NUL in a value': withFields('X-Field: a\0b\r\n'),
  'NUL in a name': withFields('X-\0Field: a\r\n'),
  'a bare CR in a value': withFields('X-Field: a\rSet-Cookie: stolen=1\r\n'),
  // contradictory lengths
  'two lengths': withFields('Content-Length: 3\r\n'),
  'a list of lengths': says(`${TEXT}Content-Length: 18, 3\r\n\r\n${CONTENT}`),
  'a negative length': says(`${TEXT}Content-Length: -1\r\n\r\n${CONTENT}`),
  'a length with a sign': says(`${TEXT}Content-Length: +18\r\n\r\n${CONTENT}`),
  'a length in hexadecimals': says(`${TEXT}Content-Length: 0x12\r\n\r\n${CONTENT}`),
  'a length beyond numbers': says(`${TEXT}Content-Length: ${'9'.repeat(30)}\r\n\r\n${CONTENT}`),
  'a length beside chunks': says(
    `${TEXT}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n${CHUNK}0\r\n\r\n`,
  ),
  'a coding that nobody has': says(`${TEXT}Transfer-Encoding: gzip\r\n\r\n${CHUNK}0\r\n\r\n`),
  'a coding behind chunked': says(
    `${TEXT}Transfer-Encoding: chunked, gzip\r\n\r\n${CHUNK}0\r\n\r\n`,
  ),
  // too long
  'a field of 128 KiB': withFields(`X-Field: ${'a'.repeat(131_072)}\r\n`),
  '2,000 fields': withFields('X-F: a\r\n'.repeat(2000)),
  '20,000 fields': withFields('X-F: a\r\n'.repeat(20_000)),
  'a head without end': endlessly('HTTP/1.1 200 OK\r\n', `X-Field: ${'a'.repeat(1000)}\r\n`),
  'a reason without end': endlessly('HTTP/1.1 200 ', 'OK '.repeat(1000)),
  'interim answers without end': endlessly('', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'),
  '100 without end': endlessly('', 'HTTP/1.1 100 Continue\r\n\r\n'),
  // too late
  'no answer': () => {},
  'half a head': says(TEXT),
  'interim answers and no other': says('HTTP/1.1 103 Early Hints\r\n\r\n'),
  'a head drop by drop': ({ socket }) =>
    drips(socket, `${TEXT}X-Field: ${'a'.repeat(10_000)}`, 100),
  // invalid ends
  'closed at once': ({ socket }) => socket.end(),
  'reset at once': ({ socket }) => socket.resetAndDestroy(),
  'closed in mid-content': ends(`${TEXT}Content-Length: 1000\r\n\r\n${CONTENT}`),
  'reset in mid-content': resets(`${TEXT}Content-Length: 1000\r\n\r\n${CONTENT}`),
  'closed one octet early': ends(`${TEXT}Content-Length: 19\r\n\r\n${CONTENT}`),
  'closed between chunks': ends(chunked(CHUNK)),
  'closed within a chunk': ends(chunked(CHUNK.slice(0, -4))),
  'closed before the last line': ends(chunked(CHUNK, '0\r\n')),
  'closed within trailers': ends(chunked(CHUNK, '0\r\nX-Trailer: a\r\n')),
  'reset between chunks': resets(chunked(CHUNK)),
  'reset without a length': resets(`${TEXT}\r\n${CONTENT}`),
  'closed in mid-content, as announced': ends(
    `${TEXT}Connection: close\r\nContent-Length: 1000\r\n\r\n${CONTENT}`,
  ),
  'closed between chunks, as announced': ends(
    chunked(CHUNK).replace('\r\n', '\r\nConnection: close\r\n'),
  ),
  'reset in mid-content, as announced': resets(
    `${TEXT}Connection: close\r\nContent-Length: 1000\r\n\r\n${CONTENT}`,
  ),
  'reset between chunks, as announced': resets(
    chunked(CHUNK).replace('\r\n', '\r\nConnection: close\r\n'),
  ),
  'content that stops': says(`${TEXT}Content-Length: 1000\r\n\r\n${CONTENT}`),
  'chunks that stop': says(chunked(CHUNK)),
  // invalid chunks
  'a chunk of x octets': says(chunked(CHUNK, 'x\r\n')),
  'a chunk of less than none': says(chunked(CHUNK, '-1\r\n')),
  'a chunk beyond numbers': says(chunked(CHUNK, `${'f'.repeat(20)}\r\n`)),
  'a chunk that is longer than it says': says(chunked('3\r\nabcdef\r\n0\r\n\r\n')),
  'an extension without end': endlessly(chunked(CHUNK, '1;'), 'a'.repeat(16_384)),
  'extensions of megabytes': says(
    chunked(
      `${CONTENT.length.toString(16)};${'a'.repeat(8 * MEGABYTE)}\r\n${CONTENT}\r\n`,
      '0\r\n\r\n',
    ),
  ),
  'trailers without end': endlessly(chunked(CHUNK, '0\r\n'), `X-Trailer: ${'a'.repeat(1000)}\r\n`),
  // more than requested
  'longer than it says': says(`${TEXT}Content-Length: 4\r\n\r\n${CONTENT}`),
  'a second answer': says(`${RIGHT}${BEHIND}`),
  'a second answer behind chunks': says(`${chunked(CHUNK, '0\r\n\r\n')}${BEHIND}`),
  'a second answer behind 204': says(`HTTP/1.1 204 No Content\r\n\r\n${BEHIND}`),
  'a second answer behind 304': says(`HTTP/1.1 304 Not Modified\r\n\r\n${BEHIND}`),
  '204 with content': says(`HTTP/1.1 204 No Content\r\nContent-Length: 18\r\n\r\n${CONTENT}`),
  // rare but valid
  'the right answer': says(RIGHT),
  'the end of the connection': ends(`${TEXT}\r\n${CONTENT}`),
  'closed behind it': ends(RIGHT),
  'drop by drop': ({ socket }) => drips(socket, RIGHT, 10),
  'chunks of one octet': says(
    chunked(...Array.from(CONTENT, (octet) => `1\r\n${octet}\r\n`), '0\r\n\r\n'),
  ),
  'a chunk with an extension': says(chunked(CHUNK.replace('\r\n', ';a="b"\r\n'), '0\r\n\r\n')),
  'the same length twice': withFields(`Content-Length: ${CONTENT.length}\r\n`),
  'no reason phrase': says(RIGHT.replace('200 OK', '200 ')),
  'ten interim answers': says('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(10), RIGHT),
  'an empty content by chunks': says(chunked('0\r\n\r\n')),
  'HTTP/1.0': ends(`HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\n${CONTENT}`),
  // lenient readers differ
  'bare line feeds': says(RIGHT.replaceAll('\r\n', '\n')),
  'a folded line': withFields('X-Field: a\r\n b\r\n'),
  'a blank before the colon': withFields('X-Field : a\r\n'),
} as const satisfies Readonly<Record<string, Serve>>;

export type Fault = keyof typeof FAULTS;

/** The last segment of the path names the fault. Any other path gets the right answer. */
export async function serveFaults(request: RawRequest): Promise<void> {
  const name = decodeURIComponent(/[^/?]*$/.exec(request.target.split('?')[0] ?? '')?.[0] ?? '');
  const serve: Serve = FAULTS[name as Fault] ?? FAULTS['the right answer'];
  await request.content();
  await serve(request);
}
