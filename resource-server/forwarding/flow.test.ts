import { afterEach, expect, test } from '@jest/globals';
import type { AnyRequest } from '#shared/server/message/message.ts';
import { Flow } from './flow.ts';
import type { Sink } from './sink.ts';

const before = globalThis.gc;
afterEach(() => {
  globalThis.gc = before;
});

const MIB = 1024 ** 2;

test('young garbage is collected after 12 MiB of answers of all exchanges together', () => {
  const asked: unknown[] = [];
  globalThis.gc = ((options: unknown) => void asked.push(options)) as typeof globalThis.gc;
  const sink = { write: () => true } as unknown as Sink;
  const tap = { pause() {}, resume() {} };
  const piece = Buffer.alloc(MIB);
  for (let answer = 0; answer < 5; answer += 1) {
    const flow = new Flow({} as AnyRequest, false);
    for (let n = 0; n < 10; n += 1) flow.pass(piece, sink, tap);
  }
  expect(asked).toEqual(Array.from({ length: 4 }, () => ({ type: 'minor' })));
});
