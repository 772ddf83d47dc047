import { expect, test } from '@jest/globals';
import { type Parser, PARSERS, type Shape } from './parsers.fixture.ts';

/** Characters of the longest header section that is taken, and an eighth of them. */
const [LONG, SHORT] = [79_872, 9984];
/** If the time grows with the characters, the quotient is 8. If it is quadratic, it is 64. */
const MOST = 12;

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

/** How many times the processor's time of the short input the long one takes: the median of interleaved rounds. */
function growth(parse: Parser['parse'], shape: Shape, rounds: number): number {
  const [long, short] = [inputOf(shape, LONG), inputOf(shape, SHORT)];
  let calls = 1;
  while (cpuOf(parse, short, calls) < 250 && calls < 1024) calls *= 2;
  const quotients = Array.from(
    { length: rounds },
    () =>
      cpuOf(parse, long, calls) / Math.max(cpuOf(parse, short, calls), cpuOf(read, short, calls)),
  );
  return quotients.toSorted((one, other) => one - other)[Math.floor(rounds / 2)] ?? 0;
}

test.each(Object.entries(PARSERS))(
  'time grows with the octets and no faster: %s',
  (_name, { parse, shapes }) => {
    // Inputs that seem to grow faster are measured again, since a collection of garbage may have come between.
    const faster = shapes.filter((shape) =>
      [1, 9, 15, 31].every((rounds) => growth(parse, shape, rounds) > MOST),
    );
    expect(faster).toEqual([]);
  },
);
