import { expect, test } from '@jest/globals';
import { type Parser, PARSERS, type Shape } from './parsers.fixture.ts';

/** The short input has an eighth of the characters of the longest accepted header section. */
const PARTS = 8;
const LONG = 79_872;
const SHORT = LONG / PARTS;
/**
 * The highest accepted quotient of the times.
 * The long input is compared with eight times as many calls of the short input, so that both allocate as much and cause
 * as many garbage collections. If the time grows linearly, the quotient is at most 1.6, since a short input stays in
 * the CPU caches. If the time is quadratic, the quotient is 8.
 */
const MOST = 3;

function inputOf([unit, before = '', after = '']: Shape, length: number): string {
  const room = length - before.length - after.length;
  return before + unit.repeat(Math.floor(room / unit.length)) + after;
}

/** Microseconds of CPU time for `calls` calls. */
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

/** Shorter times are treated as zero. */
function read(text: string): number {
  let sum = 0;
  for (let at = 0; at < text.length; at += 1) sum += text.charCodeAt(at);
  return sum;
}

/**
 * The least CPU time of the long input in interleaved rounds, divided by the least of the short input. Other work of
 * the machine can only increase a time.
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
    // Inputs that seem to grow faster are measured again, since a garbage collection may have disturbed the
    // measurement.
    const faster = shapes.filter((shape) =>
      [1, 9, 15, 31].every((rounds) => growth(parse, shape, rounds) > MOST),
    );
    expect(faster).toEqual([]);
  },
);
