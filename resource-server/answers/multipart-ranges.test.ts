import { expect, test } from '@jest/globals';
import { inPieces, type Pieces } from './pieces.ts';
import { piecesFrom, textOf } from './pieces.fixture.ts';
import { multipartRanges } from './multipart-ranges.ts';
import type { Range } from './range.ts';

const WHOLE = Buffer.from('abcdefghij');
const RANGES = [
  { first: 8, last: 9 },
  { first: 0, last: 2 },
];

/** Multipart content with parts of `WHOLE`, in pieces or at once. */
const multipart = (content: (range?: Range) => Promise<Buffer | Pieces | undefined>) =>
  multipartRanges({ type: 'a/b', length: WHOLE.length, content }, RANGES, 'B');

const part = ({ first, last }: Range = { first: 0, last: 9 }) => WHOLE.subarray(first, last + 1);

async function bodyOf(content: (range?: Range) => Promise<Buffer | Pieces | undefined>) {
  const body = await multipart(content).content();
  if (!inPieces(body)) throw new Error('no pieces');
  return body;
}

test('RFC 9110 section 14.6: multipart content has the parts with their fields, and its length is known', async () => {
  const { type, length } = multipart(async () => undefined);
  expect(type).toBe('multipart/byteranges; boundary=B');
  const expected =
    '\r\n--B\r\nContent-Type: a/b\r\nContent-Range: bytes 8-9/10\r\n\r\nij' +
    '\r\n--B\r\nContent-Type: a/b\r\nContent-Range: bytes 0-2/10\r\n\r\nabc' +
    '\r\n--B--\r\n';
  expect(length).toBe(expected.length);
  expect(await textOf(await bodyOf(async (range) => part(range)))).toBe(expected);
  const pieces = await bodyOf(async (range) => piecesFrom(() => [part(range)]));
  expect(await textOf(pieces)).toBe(expected);
});

test('content that is removed before the first part gives undefined, and later breaks the answer off', async () => {
  expect(await multipart(async () => undefined).content()).toBeUndefined();
  const body = await bodyOf(async (range) => (range?.first === 8 ? part(range) : undefined));
  await expect(textOf(body)).rejects.toThrow('went between');
});

test('only one part is open at a time, and none after the client leaves', async () => {
  for (const count of [0, 1, 2, 4, 6, 9]) {
    const opened: ReturnType<typeof piecesFrom>[] = [];
    const body = await bodyOf(async (range) => {
      expect(opened.every(({ closed }) => closed())).toBe(true);
      const pieces = piecesFrom(() => [part(range), Buffer.from('more')]);
      opened.push(pieces);
      return pieces;
    });
    const reading = body.each(Infinity)[Symbol.asyncIterator]();
    for (let times = 0; times < count; times += 1) await reading.next();
    await reading.return?.();
    await body[Symbol.asyncDispose]();
    expect(opened.every(({ closed }) => closed())).toBe(true);
    expect(opened.length).toBe(count < 5 ? 1 : 2);
  }
});
