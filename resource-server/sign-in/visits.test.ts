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
  /** A browser that keeps the cookies that it gets. */
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
  test('a sign-in in progress is found for ten minutes by its state in its browser, and then starts again', () => {
    const { found, begin, clock } = setup();
    const visit = begin();
    expect(found(visit.state)).toEqual({ visit });
    clock.advance(VISIT - 1);
    expect(found(visit.state)).toEqual({ visit });
    clock.advance(1);
    expect(found(visit.state)).toEqual({ lost: { path: '/notes/a?b', turn: 0 } });
  });

  test('a sign-in may have begun at a server whose clock is ahead, and expires if the clock is set back', () => {
    const { found, begin, clock } = setup();
    const { state } = begin();
    clock.set(-5);
    expect(found(state)).toHaveProperty('visit');
    clock.set(-1);
    expect(found(state)).toHaveProperty('lost');
  });

  test('a sign-in hides its path and its verifier from the browser and from the authorization server', () => {
    const { jar, begin } = setup();
    const { verifier, nonce, state } = begin('/notes/secret');
    const kept = [...jar, state].join();
    for (const secret of [verifier, nonce, Buffer.from('secret').toString('base64url')]) {
      expect(kept).not.toContain(secret);
    }
    expect([...jar].join()).not.toContain(state);
  });

  test('a sign-in does not continue in another browser, with two secrets, or in another space', () => {
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

  test('a sign-in does not continue with a modified state or another master secret', () => {
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
    '%d tabs that a browser reopens at once each get to their paths, with a single cookie',
    (count) => {
      const { visits, jar, shown, keep, found } = setup();
      // Each tab starts without a cookie, and the browser keeps the last.
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

  test('a browser that keeps no cookies starts again five times, and then gets an explanation', () => {
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

  test('a sign-in for a path that is too long leads to the start of the application', () => {
    const { begin } = setup();
    expect(begin(`/notes/${'a'.repeat(1017)}`).path).toHaveLength(1024);
    expect(begin(`/notes/${'a'.repeat(1018)}`).path).toBe('/notes/');
  });

  test("the longest answer that starts a sign-in fits into nginx's 4 KiB for header fields", () => {
    const { visits } = setup();
    const { visit, line } = visits.begin(SPACE, `/${'a'.repeat(1023)}`, []);
    // The answer also has its status, other fields, and the rest of Location: some 800 octets.
    expect(`Set-Cookie: ${line}\r\n${visit.state}`.length).toBeLessThan(2500);
  });
});
