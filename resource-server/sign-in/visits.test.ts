import { describe, expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { parseCookies } from '#shared/http/cookies.ts';
import { createVisits, VISIT } from './visits.ts';

const SPACE = 'https://app.example/notes/';

function setup() {
  const clock = new ManualClock();
  const master = Buffer.alloc(32, 7);
  const visits = createVisits({ master, clock, random: systemRandom, skew: 5 });
  /** A browser: what it is told to keep, it keeps. */
  const jar = new Map<string, string>();
  const shown = () => parseCookies([[...jar].map((pair) => pair.join('=')).join('; ')]);
  const keep = (lines: readonly string[]) => {
    for (const line of lines) {
      const [, name = '', value = ''] = /^([^=]*)=([^;]*)/.exec(line) ?? [];
      if (line.endsWith('Max-Age=0')) jar.delete(name);
      else jar.set(name, value);
    }
  };
  const begin = (path = '/notes/a?b', space = SPACE) => {
    const { visit, lines } = visits.begin(space, path, shown());
    keep(lines);
    return visit;
  };
  return { clock, visits, jar, shown, begin, master };
}

describe('a sign-in in progress', () => {
  test('is found for ten minutes by its state, in the browser that began it', () => {
    const { visits, shown, begin, clock } = setup();
    const visit = begin();
    expect(visits.find(SPACE, visit.state, shown())?.visit).toEqual(visit);
    clock.advance(VISIT - 1);
    expect(visits.find(SPACE, visit.state, shown())).toBeDefined();
    clock.advance(1);
    expect(visits.find(SPACE, visit.state, shown())).toBeUndefined();
  });

  test('may have begun at a server whose clock is ahead, and has expired when the clock was set back', () => {
    const { visits, shown, begin, clock } = setup();
    const { state } = begin();
    clock.set(-5);
    expect(visits.find(SPACE, state, shown())).toBeDefined();
    clock.set(-1);
    expect(visits.find(SPACE, state, shown())).toBeUndefined();
  });

  test('hides its path and its verifier from the browser', () => {
    const { jar, begin } = setup();
    const { verifier, nonce, state } = begin('/notes/secret');
    const kept = [...jar].join();
    for (const secret of [verifier, nonce, state, Buffer.from('secret').toString('base64url')]) {
      expect(kept).not.toContain(secret);
    }
  });

  test('is not found for another browser, state, space or tab', () => {
    const { visits, shown, begin, jar } = setup();
    const [one, other] = [begin('/notes/1'), begin('/notes/2')];
    expect(visits.find(SPACE, one.state, [])).toBeUndefined();
    expect(visits.find(SPACE, 'A'.repeat(43), shown())).toBeUndefined();
    expect(visits.find(SPACE, '', shown())).toBeUndefined();
    expect(visits.find('https://app.example/', one.state, shown())).toBeUndefined();
    const [[first, value] = ['', ''], [second] = ['']] = [...jar];
    jar.set(second, value);
    expect(visits.find(SPACE, other.state, shown())).toBeUndefined();
    const twice = parseCookies([`${first}=${value}; ${first}=${value}`]);
    expect(visits.find(SPACE, one.state, twice)).toBeUndefined();
  });

  test('is not found after any modification of its cookie', () => {
    const { visits, shown, begin, jar } = setup();
    const { state } = begin();
    const [[name, value] = ['', '']] = [...jar];
    for (let at = 0; at < value.length; at += 7) {
      jar.set(name, value.slice(0, at) + (value[at] === 'A' ? 'B' : 'A') + value.slice(at + 1));
      expect(visits.find(SPACE, state, shown())).toBeUndefined();
    }
    jar.set(name, value.slice(0, -4));
    expect(visits.find(SPACE, state, shown())).toBeUndefined();
  });

  test('cannot be opened with another master secret', () => {
    const { shown, begin, clock } = setup();
    const { state } = begin();
    const others = createVisits({
      master: Buffer.alloc(32, 8),
      clock,
      random: systemRandom,
      skew: 5,
    });
    expect(others.find(SPACE, state, shown())).toBeUndefined();
  });

  test('is limited to five tabs; the oldest goes', () => {
    const { visits, shown, begin, clock, jar } = setup();
    const begun = Array.from({ length: 7 }, (_, n) => {
      clock.advance(1);
      return begin(`/notes/${n}`);
    });
    expect(jar.size).toBe(5);
    const found = begun.map(({ state }) => visits.find(SPACE, state, shown())?.visit.path);
    expect(found).toEqual([undefined, undefined, ...[2, 3, 4, 5, 6].map((n) => `/notes/${n}`)]);
  });

  test('leaves those of another application on the host alone', () => {
    const { begin, visits, shown } = setup();
    const others = Array.from({ length: 5 }, () => begin('/', 'https://app.example/'));
    for (let n = 0; n < 6; n += 1) begin();
    for (const { state } of others) {
      expect(visits.find('https://app.example/', state, shown())).toBeDefined();
    }
  });

  test('leads to the start of the application if its path is too long', () => {
    const { begin } = setup();
    expect(begin(`/notes/${'a'.repeat(1017)}`).path).toHaveLength(1024);
    expect(begin(`/notes/${'a'.repeat(1018)}`).path).toBe('/notes/');
  });

  test("fits into nginx's 4 KiB for the fields of the longest answer", () => {
    const { visits } = setup();
    const name = /^[^=]*/.exec(visits.begin(SPACE, '/', []).lines[0] ?? '')?.[0] ?? '';
    const planted = Array.from({ length: 50 }, (_, n) =>
      name.replace(/visit-[\w-]{12}/, `visit-${String(n).padStart(12, '0')}`),
    );
    const shown = parseCookies([planted.map((one) => `${one}=x`).join('; ')]);
    const { lines } = visits.begin(SPACE, `/${'a'.repeat(1023)}`, shown);
    // Beside them the answer has its status and some thousand octets, most of them in Location.
    expect(lines.map((line) => `Set-Cookie: ${line}\r\n`).join('').length).toBeLessThan(3000);
  });

  test("leaves room in nginx's 8 KiB for a line: the oldest go", () => {
    const { visits, shown, begin, clock, jar } = setup();
    const begun = Array.from({ length: 7 }, () => {
      clock.advance(1);
      return begin(`/${'a'.repeat(1023)}`);
    });
    expect([...jar].join('; ').length).toBeLessThan(6 * 1024);
    const found = begun.map(({ state }) => visits.find(SPACE, state, shown()) !== undefined);
    expect(found).toEqual([...Array<boolean>(4).fill(false), true, true, true]);
  });

  test('removes at most ten planted cookies at a time', () => {
    const { visits, jar, begin } = setup();
    begin();
    const [[name] = ['']] = [...jar];
    const planted = Array.from({ length: 900 }, (_, n) =>
      name.replace(/visit-[\w-]{12}/, `visit-${String(n).padStart(12, '0')}`),
    );
    const cookies = parseCookies([planted.map((one) => `${one}=x`).join('; ')]);
    const { lines } = visits.begin(SPACE, '/notes/', cookies);
    expect(lines).toHaveLength(11);
  });
});
