import { randomBytes } from 'node:crypto';
import { mkdtemp, open, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Pieces } from '../../answers/pieces.ts';
import { filePieces, readWhole } from './file-pieces.ts';
import { ReadBuffers } from '../../answers/read-buffers.ts';

const KIB = 1024;
const CONTENT = randomBytes(1_500_000);
const ALL = { first: 0, last: CONTENT.length - 1 };
let folder: string;
let path: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-pieces-'));
  path = join(folder, 'file');
  await writeFile(path, CONTENT);
});
afterAll(() => rm(folder, { recursive: true }));

/** Reads all content like a slow client. Each piece must stay unchanged until the client takes it. */
async function readSlowly(pieces: Pieces, most: number) {
  const read: Buffer[] = [];
  const memory = new Set<ArrayBufferLike>();
  for await (const piece of pieces.each(most)) {
    expect(piece.length).toBeLessThanOrEqual(most);
    const before = Buffer.from(piece);
    for (let turn = 0; turn < 3; turn += 1) await setImmediate();
    expect(piece.equals(before)).toBe(true);
    read.push(before);
    memory.add(piece.buffer);
  }
  return { content: Buffer.concat(read), memory: [...memory] };
}

describe('the pieces of a file', () => {
  test.each([
    [Infinity, ALL],
    [64 * KIB, ALL],
    [16 * KIB + 1, ALL],
    [Infinity, { first: 1, last: 1 }],
    [Infinity, { first: 7, last: 256 * KIB + 6 }],
    [Infinity, { first: 7, last: 256 * KIB + 7 }],
    [1000, { first: CONTENT.length - 3001, last: CONTENT.length - 1 }],
  ])(
    'two buffers read all octets of a file in pieces of at most %d bytes (%j)',
    async (most, range) => {
      const buffers = new ReadBuffers();
      await using pieces = filePieces(await open(path), range, buffers);
      const { content, memory } = await readSlowly(pieces, most);
      expect(content.equals(CONTENT.subarray(range.first, range.last + 1))).toBe(true);
      expect(memory.length).toBeLessThanOrEqual(2);
      expect(
        memory.every(
          ({ byteLength }) => byteLength <= Math.min(most, 256 * KIB) || most > 64 * KIB,
        ),
      ).toBe(true);
      expect(buffers.large).toBe(0);
    },
  );

  test('the buffers of a complete answer are reused, and those of an aborted answer are not', async () => {
    const buffers = new ReadBuffers();
    const read = async () => {
      await using pieces = filePieces(await open(path), ALL, buffers);
      return (await readSlowly(pieces, Infinity)).memory;
    };
    const first = await read();
    expect(new Set(await read())).toEqual(new Set(first));
    const broken = [];
    {
      await using pieces = filePieces(await open(path), ALL, buffers);
      for await (const piece of pieces.each(Infinity)) {
        broken.push(piece.buffer);
        break;
      }
    }
    expect(first).toContain(broken[0]);
    expect(buffers.large).toBe(0);
    expect(await read()).not.toContain(broken[0]);
  });

  test('reading a file that is too short throws at the missing piece', async () => {
    const short = join(folder, 'short');
    await writeFile(short, CONTENT);
    await truncate(short, 300 * KIB);
    const buffers = new ReadBuffers();
    await using pieces = filePieces(await open(short), ALL, buffers);
    let length = 0;
    const read = async () => {
      for await (const piece of pieces.each(Infinity)) {
        await setImmediate();
        length += piece.length;
      }
    };
    await expect(read()).rejects.toThrow('no more than 307200 bytes');
    expect(length).toBe(300 * KIB);
    expect(buffers.large).toBe(0);
    await using handle = await open(short);
    await expect(readWhole(handle, ALL)).rejects.toThrow('no more than 307200 bytes');
  });

  test('a hundred stalled clients hold 19 MiB of buffers, and none after they left', async () => {
    const buffers = new ReadBuffers();
    const memory = new Set<ArrayBufferLike>();
    const readers = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const pieces = filePieces(await open(path), ALL, buffers);
        return { pieces, reading: pieces.each(Infinity)[Symbol.asyncIterator]() };
      }),
    );
    for (let times = 0; times < 2; times += 1) {
      for (const { reading } of readers) {
        const { value } = await reading.next();
        memory.add(value.buffer);
      }
    }
    const held = [...memory].reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(memory.size).toBe(200);
    expect(held).toBe((32 * 256 + 168 * 64) * KIB);
    expect(buffers.large).toBe(32);
    for (const { pieces, reading } of readers) {
      await reading.return?.();
      await pieces[Symbol.asyncDispose]();
    }
    expect(buffers.large).toBe(0);
  });
});
