import { expect, test } from '@jest/globals';
import { type Parser, PARSERS, type Shape } from './parsers.fixture.ts';

/** The short input has an eighth of the characters of the longest header section that is taken. */
const PARTS = 8;
const LONG = 79_872;
const SHORT = LONG / PARTS;
/**
 * The long input is compared with eight times as many calls of the short one, so that both allocate as much and cause
 * as many collections of garbage. If the time grows with the characters, the quotient is at most 1.6, since a short
 * input stays in the processor's caches. If the time is quadratic, it is 8.
 */
const MOST = 3;

function inputOf([unit, before = '', after = '']: Shape, length: number): string {
  const room = length - before.length - after.length;
  return before + unit.repeat(Math.floor(room / unit.length)) + after;
}

/** Microseconds of the processor for as many calls. */
function cpuOf(parse: Parser['parse'], text: string, calls: number): number {
  const before = process.cpuUsage();
  for (let call = 0; call < calls; call += 1) {
    try {
      parse(text);
    } catch {
      // Refused.
    }
  }
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** Shorter times count as nothing. */
function read(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum += text.charCodeAt(at);
  return sum;
}

/**
 * The least processor's time of the long input in interleaved rounds, divided by the least of the short ones: whatever
 * else the machine does can only add to a time, by waiting or by emptying the caches.
 */
function growth(parse: Parser['parse'], shape: Shape, rounds: number): number {
  const [long, short] = [inputOf(shape, LONG), inputOf(shape, SHORT)];
  let calls = 1;
  while (cpuOf(parse, short, PARTS * calls) < 250 && calls < 128) calls *= 2;
  const shorts = PARTS * calls;
  let [ofLong, ofShort] = [Infinity, Infinity];
  for (let round = 0; round < rounds; round += 1) {
    ofLong = Math.min(ofLong, cpuOf(parse, long, calls));
    const least = Math.max(cpuOf(parse, short, shorts), cpuOf(read, short, shorts));
    ofShort = Math.min(ofShort, least);
  }
  return ofLong / ofShort;
}

test.each(Object.entries(PARSERS))(
  'the time of parsing grows only linearly with the input: %s',
  (_name, { parse, shapes }) => {
    // Inputs that seem to grow faster are measured again, since a collection of garbage may have come between.
    const faster = shapes.filter((shape) =>
      [1, 9, 15, 31].every((rounds) => growth(parse, shape, rounds) > MOST),
    );
    expect(faster).toEqual([]);
  },
);
