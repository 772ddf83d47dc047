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
  const keep = (line: string) => {
    const [, name = '', value = ''] = /^([^=]*)=([^;]*)/.exec(line) ?? [];
    jar.set(name, value);
  };
  const begin = (path = '/notes/a?b', space = SPACE) => {
    const { visit, line } = visits.begin(space, path, shown());
    keep(line);
    return visit;
  };
  const found = (state: string, cookies = shown(), space = SPACE) =>
    visits.find(space, state, cookies);
  return { clock, visits, jar, shown, keep, begin, found, master };
}

describe('a sign-in in progress', () => {
  test('is found for ten minutes by its state, in the browser that began it; then its tab begins anew', () => {
    const { found, begin, clock } = setup();
    const visit = begin();
    expect(found(visit.state)).toEqual({ visit });
    clock.advance(VISIT - 1);
    expect(found(visit.state)).toEqual({ visit });
    clock.advance(1);
    expect(found(visit.state)).toEqual({ lost: { path: '/notes/a?b', turn: 0 } });
  });

  test('may have begun at a server whose clock is ahead, and has expired when the clock was set back', () => {
    const { found, begin, clock } = setup();
    const { state } = begin();
    clock.set(-5);
    expect(found(state)).toHaveProperty('visit');
    clock.set(-1);
    expect(found(state)).toHaveProperty('lost');
  });

  test('hides its path and its verifier from the browser and from the authorization server', () => {
    const { jar, begin } = setup();
    const { verifier, nonce, state } = begin('/notes/secret');
    const kept = [...jar, state].join();
    for (const secret of [verifier, nonce, Buffer.from('secret').toString('base64url')]) {
      expect(kept).not.toContain(secret);
    }
    expect([...jar].join()).not.toContain(state);
  });

  test('does not go on in another browser, or with two secrets; one of another space or of nobody has not begun', () => {
    const { found, begin, shown, jar } = setup();
    const { state } = begin('/notes/1');
    const lost = { lost: { path: '/notes/1', turn: 0 } };
    expect(found(state, [])).toEqual(lost);
    expect(found(state, setup().shown())).toEqual(lost);
    const [[name, secret] = ['', '']] = [...jar];
    expect(found(state, parseCookies([`${name}=${secret}; ${name}=${secret}`]))).toEqual(lost);
    expect(found(state, parseCookies([`${name}=x`]))).toEqual(lost);
    expect(found('A'.repeat(43))).toBeUndefined();
    expect(found('')).toBeUndefined();
    expect(found(state, shown(), 'https://app.example/')).toBeUndefined();
  });

  test('has not begun after any modification of its state, or with another master secret', () => {
    const { found, begin, shown, clock } = setup();
    const { state } = begin();
    for (let at = 0; at < state.length; at += 1) {
      const changed = state.slice(0, at) + (state[at] === 'A' ? 'B' : 'A') + state.slice(at + 1);
      expect(found(changed)).toBeUndefined();
    }
    const others = createVisits({
      master: Buffer.alloc(32, 8),
      clock,
      random: systemRandom,
      skew: 5,
    });
    expect(others.find(SPACE, state, shown())).toBeUndefined();
  });

  test.each([10, 30])(
    'a browser that opens %d tabs again at once: each gets where it wanted, and there is one cookie',
    (count) => {
      const { visits, jar, shown, keep, found } = setup();
      // No tab has the cookie of another; the browser keeps the last.
      const tabs = Array.from({ length: count }, (_, n) => visits.begin(SPACE, `/notes/${n}`, []));
      for (const { line } of tabs) keep(line);
      const ends = tabs.map(({ visit }) => {
        const first = found(visit.state);
        if (first === undefined || 'visit' in first) return first?.visit;
        const { path, turn } = first.lost;
        const anew = visits.begin(SPACE, path, shown(), turn + 1);
        keep(anew.line);
        const second = found(anew.visit.state);
        return second && 'visit' in second ? second.visit : undefined;
      });
      expect(ends.map((visit) => visit?.path)).toEqual(tabs.map((_, n) => `/notes/${n}`));
      expect(new Set(ends.map((visit) => visit?.verifier)).size).toBe(count);
      expect(jar.size).toBe(1);
    },
  );

  test('a browser that keeps no cookies begins anew five times, and then is told', () => {
    const { visits } = setup();
    let turns = 0;
    let state = visits.begin(SPACE, '/notes/a', []).visit.state;
    for (;;) {
      const end = visits.find(SPACE, state, []);
      if (end === undefined) break;
      if (!('lost' in end)) throw new Error('it has no cookie');
      turns += 1;
      state = visits.begin(SPACE, end.lost.path, [], end.lost.turn + 1).visit.state;
    }
    expect(turns).toBe(5);
  });

  test('leads to the start of the application if its path is too long', () => {
    const { begin } = setup();
    expect(begin(`/notes/${'a'.repeat(1017)}`).path).toHaveLength(1024);
    expect(begin(`/notes/${'a'.repeat(1018)}`).path).toBe('/notes/');
  });

  test("fits into nginx's 4 KiB for the fields of the longest answer", () => {
    const { visits } = setup();
    const { visit, line } = visits.begin(SPACE, `/${'a'.repeat(1023)}`, []);
    // Beside them the answer has its status, other fields, and the rest of Location: some 800 octets.
    expect(`Set-Cookie: ${line}\r\n${visit.state}`.length).toBeLessThan(2500);
  });
});
