import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { multipartRanges } from './multipart-ranges.ts';
import type { Range } from './range.ts';

const WHOLE = Buffer.from('abcdefghij');
const RANGES = [
  { first: 8, last: 9 },
  { first: 0, last: 2 },
];

/** The parts of `WHOLE`, as a stream or at once. */
const multipart = (content: (range?: Range) => Promise<Buffer | Readable | undefined>) =>
  multipartRanges({ type: 'a/b', length: WHOLE.length, content }, RANGES, 'B');

const part = ({ first, last }: Range = { first: 0, last: 9 }) => WHOLE.subarray(first, last + 1);

async function bodyOf(content: (range?: Range) => Promise<Buffer | Readable | undefined>) {
  const body = await multipart(content).content();
  if (!(body instanceof Readable)) throw new Error('no stream');
  return body;
}

test('RFC 9110 section 14.6: the parts with their fields, and the length of it all', async () => {
  const { type, length } = multipart(async () => undefined);
  expect(type).toBe('multipart/byteranges; boundary=B');
  const expected =
    '\r\n--B\r\nContent-Type: a/b\r\nContent-Range: bytes 8-9/10\r\n\r\nij' +
    '\r\n--B\r\nContent-Type: a/b\r\nContent-Range: bytes 0-2/10\r\n\r\nabc' +
    '\r\n--B--\r\n';
  expect(length).toBe(expected.length);
  expect(await text(await bodyOf(async (range) => part(range)))).toBe(expected);
  const streams = await bodyOf(async (range) => Readable.from([part(range)]));
  expect(await text(streams)).toBe(expected);
});

test('content that is gone at first is undefined; later it breaks the answer off', async () => {
  expect(await multipart(async () => undefined).content()).toBeUndefined();
  const body = await bodyOf(async (range) => (range?.first === 8 ? part(range) : undefined));
  await expect(text(body)).rejects.toThrow('went between');
});

test('one part is open at a time, and none when the client leaves, before or after the first byte', async () => {
  for (const pieces of [0, 1, 2, 4]) {
    const opened: Readable[] = [];
    const body = await bodyOf(async (range) => {
      expect(opened.every((stream) => stream.destroyed)).toBe(true);
      const stream = Readable.from([part(range), Buffer.from('more')]);
      opened.push(stream);
      return stream;
    });
    const reading = body[Symbol.asyncIterator]();
    for (let count = 0; count < pieces; count += 1) await reading.next();
    body.destroy();
    await new Promise((closed) => body.once('close', closed));
    while (!opened.every((stream) => stream.destroyed)) {
      await new Promise((next) => setImmediate(next));
    }
    expect(opened.length).toBeGreaterThan(0);
  }
});
