import { expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { Frames } from './frames.ts';

/** A frame with a payload of `length` octets, as a server or a client sends it (RFC 6455 section 5.2). */
function frame(length: number, masked: boolean): Buffer {
  const mask = masked ? 0x80 : 0;
  const rest = Buffer.alloc((masked ? 4 : 0) + length, 0x81); // this octet would begin a frame
  if (length < 126) return Buffer.concat([Buffer.of(0x82, mask | length), rest]);
  const long = length > 0xffff;
  const head = Buffer.alloc(long ? 10 : 4);
  head.writeUInt16BE(0x8200 | mask | (long ? 127 : 126));
  if (long) head.writeBigUInt64BE(BigInt(length), 2);
  else head.writeUInt16BE(length, 2);
  return Buffer.concat([head, rest]);
}

const LENGTHS = [0, 1, 5, 125, 126, 127, 300, 65_535, 65_536, 70_000];
const frames = fc.array(fc.tuple(fc.constantFrom(...LENGTHS), fc.boolean()), {
  minLength: 1,
  maxLength: 6,
});

test('RFC 6455 section 5.2: the ends of frames are found however the octets are split', () => {
  const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 });
  fc.assert(
    fc.property(frames, cuts, (many, places) => {
      const each = many.map(([length, masked]) => frame(length, masked));
      const bytes = Buffer.concat(each);
      const ends = new Set([0]);
      let at = 0;
      for (const { length } of each) ends.add((at += length));
      const seen = new Frames();
      let begin = 0;
      // At the end of each frame, within heads, and at random positions.
      const near = [...ends].flatMap((end) => [end - 1, end, end + 1, end + 3]);
      const anywhere = places.map((place) => Math.floor(place * bytes.length));
      const all = [...near, ...anywhere, bytes.length].filter((cut) => cut >= 0 && cut <= at);
      for (const cut of all.toSorted((a, b) => a - b)) {
        seen.read(bytes.subarray(begin, cut));
        begin = cut;
        expect([cut, seen.between]).toEqual([cut, ends.has(cut)]);
      }
    }),
  );
});

test('the ends of frames are found octet by octet, too', () => {
  const bytes = Buffer.concat([frame(300, false), frame(0, true)]);
  const seen = new Frames();
  const ends: number[] = [];
  for (let at = 0; at < bytes.length; at += 1) {
    seen.read(bytes.subarray(at, at + 1));
    if (seen.between) ends.push(at + 1);
  }
  expect(ends).toEqual([304, 310]);
});
