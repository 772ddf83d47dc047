import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { Uploads as Shared } from './uploads.ts';

const MEBIBYTE = 1024 * 1024;
const BUSY = { status: 503, fields: { 'Retry-After': '5' } };

interface Upload {
  grow(bytes: number): void;
  end(): void;
}

/** Uploads of a single process, whose methods are synchronous. */
class Uploads extends Shared {
  override begin(...of: Parameters<Shared['begin']>): Upload {
    return super.begin(...of) as Upload;
  }
}

/** Runs `work` and returns the error that it threw. */
function thrown(work: () => void): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('limits of concurrent uploads', () => {
  test('one principal has 256 MiB for all its uploads, and another a quarter of the rest', () => {
    const uploads = new Uploads(64 * MEBIBYTE);
    const [one, two] = [uploads.begin('alice', '1'), uploads.begin('alice', '2')];
    one.grow(200 * MEBIBYTE);
    two.grow(56 * MEBIBYTE);
    const other = uploads.begin('bob', '3');
    other.grow(192 * MEBIBYTE);
    expect(thrown(() => other.grow(1))).toMatchObject(BUSY);
    expect(thrown(() => two.grow(1))).toMatchObject(BUSY);
    one.grow(56 * MEBIBYTE);
    expect(thrown(() => one.grow(1))).toMatchObject(BUSY);
  });

  test('four of sixteen concurrent uploads of 64 MiB succeed, because announced bytes are reserved at once', () => {
    const uploads = new Uploads(64 * MEBIBYTE);
    const begin = (n: number) => uploads.begin('alice', String(n), 64 * MEBIBYTE);
    const begun = [0, 1, 2, 3].map(begin);
    for (let n = 4; n < 16; n += 1) expect(thrown(() => begin(n))).toMatchObject(BUSY);
    expect(uploads.files.size).toBe(4);
    for (let megabyte = 0; megabyte < 64; megabyte += 1) {
      for (const upload of begun) upload.grow(MEBIBYTE);
    }
    expect(thrown(() => begun[0]?.grow(1))).toMatchObject(BUSY);
    begin(16);
  });

  test('some of sixteen unannounced uploads succeed, because a refused upload releases its bytes', () => {
    const uploads = new Uploads(64 * MEBIBYTE);
    const all = Array.from({ length: 16 }, (_, n) => uploads.begin('alice', String(n)));
    const going = new Set(all);
    for (let megabyte = 0; megabyte < 64; megabyte += 1) {
      for (const upload of going) {
        if (thrown(() => upload.grow(MEBIBYTE)) !== undefined) going.delete(upload);
      }
    }
    expect(going.size).toBe(4);
  });

  test('all principals together have 1 GiB for uploads, and ten greedy principals leave some of it', () => {
    const uploads = new Uploads(MEBIBYTE);
    let left = 1024;
    for (let n = 0; n < 10; n += 1) {
      const share = Math.floor(left / 4);
      uploads.begin(`greedy ${n}`, String(n)).grow(share * MEBIBYTE);
      expect(thrown(() => uploads.begin(`greedy ${n}`, 'x').grow(MEBIBYTE))).toMatchObject(BUSY);
      left -= share;
    }
    expect(left).toBe(59);
    uploads.begin('late', 'late').grow(14 * MEBIBYTE);
  });

  test('four of the longest documents always fit', () => {
    const longest = 1024 * MEBIBYTE;
    const uploads = new Uploads(longest);
    for (const file of ['1', '2', '3', '4']) uploads.begin('tree', file).grow(longest);
    expect(thrown(() => uploads.begin('tree', '5').grow(1))).toMatchObject(BUSY);
    expect(thrown(() => uploads.begin('other', '6').grow(1))).toMatchObject(BUSY);
  });

  test('a refused piece of an upload is not counted, and the end releases all bytes', () => {
    const sizes = fc.array(fc.tuple(fc.nat(3), fc.nat(400 * MEBIBYTE)), { maxLength: 20 });
    fc.assert(
      fc.property(sizes, (pieces) => {
        const uploads = new Uploads(1);
        const begun = pieces.map(([tree, bytes], index) => {
          const upload = uploads.begin(String(tree), String(index));
          return { upload, taken: thrown(() => upload.grow(bytes)) === undefined ? bytes : 0 };
        });
        expect(begun.reduce((sum, { taken }) => sum + taken, 0)).toBeLessThanOrEqual(
          1024 * MEBIBYTE,
        );
        expect(uploads.files.size).toBe(pieces.length);
        for (const { upload } of begun) upload.end();
        expect(uploads.files.size).toBe(0);
        for (const tree of ['0', '1', '2', '3']) {
          const upload = uploads.begin(tree, tree);
          upload.grow(256 * MEBIBYTE);
          upload.end();
        }
      }),
    );
  });
});
