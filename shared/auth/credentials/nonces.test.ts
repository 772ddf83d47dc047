import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { anyText } from '#shared/base/any-text.fixture.ts';
import { ManualClock } from '#shared/base/clock.ts';
import { systemRandom } from '#shared/base/random.ts';
import { createNonces } from './nonces.ts';

const secret = Buffer.alloc(32, 7);
function setup() {
  const clock = new ManualClock();
  return { clock, nonces: createNonces({ secret, clock }) };
}
function setupSalted() {
  const clock = new ManualClock();
  return { clock, nonces: createNonces({ secret, clock, random: systemRandom }) };
}

describe('RFC 9449 section 9: nonces', () => {
  test('section 8.1: a nonce is made of NQCHAR', () => {
    expect(setup().nonces.issue('realm')).toMatch(/^[\x21\x23-\x5b\x5d-\x7e]+$/);
  });

  test('a nonce is fresh for at least two minutes, and stale after its lifetime', () => {
    const { clock, nonces } = setup();
    const nonce = nonces.issue('realm');
    clock.advance(120);
    expect(nonces.check(nonce, 'realm')).toBe('fresh');
    clock.advance(nonces.lifetime - 120);
    expect(nonces.check(nonce, 'realm')).toBe('stale');
    clock.advance(86_400);
    expect(nonces.check(nonce, 'realm')).toBe('stale');
  });

  test('the nonce changes with the clock', () => {
    const { clock, nonces } = setup();
    const first = nonces.issue('realm');
    clock.advance(60);
    expect(nonces.issue('realm')).not.toBe(first);
  });

  test('another process with the same secret accepts a nonce, even if its clock is behind', () => {
    const { clock, nonces } = setup();
    const other = createNonces({ secret, clock: new ManualClock(clock.now() - 30_000) });
    expect(other.check(nonces.issue('realm'), 'realm')).toBe('fresh');
  });

  test('a nonce from the far future is not fresh', () => {
    const { clock, nonces } = setup();
    clock.advance(600);
    const later = nonces.issue('realm');
    clock.advance(-600);
    expect(nonces.check(later, 'realm')).toBe('stale');
  });

  test('a nonce is unknown with another context or another secret', () => {
    const { clock, nonces } = setup();
    expect(nonces.check(nonces.issue('one'), 'two')).toBe('unknown');
    const other = createNonces({ secret: Buffer.alloc(32, 8), clock });
    expect(nonces.check(other.issue('realm'), 'realm')).toBe('unknown');
  });

  test('a nonce with a changed time step or a shortened MAC is unknown', () => {
    const { clock, nonces } = setup();
    const [step, mac] = nonces.issue('realm').split('.');
    clock.advance(600);
    expect(nonces.check(`${Number(step) + 10}.${mac}`, 'realm')).toBe('unknown');
    expect(nonces.check(`${step}.`, 'realm')).toBe('unknown');
    expect(nonces.check(`0${step}.${mac}`, 'realm')).toBe('unknown');
    expect(nonces.check(`${step}.${mac}=`, 'realm')).toBe('unknown');
  });

  test('any text that we did not issue is unknown', () => {
    const { nonces } = setup();
    fc.assert(fc.property(anyText(), (text) => nonces.check(text, 'r') === 'unknown'));
    for (const text of ['', 'NaN.', 'Infinity.x', '1e999.x', '-1.x']) {
      expect(nonces.check(text, 'r')).toBe('unknown');
    }
  });
});

describe('RFC 7616 section 3.3: nonces that differ for each challenge', () => {
  test('two nonces of the same moment differ, and both are fresh', () => {
    const { nonces } = setupSalted();
    const issued = Array.from({ length: 100 }, () => nonces.issue('realm'));
    expect(new Set(issued).size).toBe(100);
    expect(issued.every((nonce) => nonces.check(nonce, 'realm') === 'fresh')).toBe(true);
  });

  test('a nonce becomes stale, and is unknown in another context', () => {
    const { clock, nonces } = setupSalted();
    const nonce = nonces.issue('realm');
    expect(nonces.check(nonce, 'another')).toBe('unknown');
    clock.advance(nonces.lifetime);
    expect(nonces.check(nonce, 'realm')).toBe('stale');
  });

  test('another process accepts nonces, although its random values differ', () => {
    const { clock, nonces } = setupSalted();
    const other = createNonces({ secret, clock, random: systemRandom });
    expect(other.check(nonces.issue('realm'), 'realm')).toBe('fresh');
  });

  test('the time step and salt of a nonce cannot be changed, omitted or added', () => {
    const { clock, nonces } = setupSalted();
    const [step, salt, mac] = nonces.issue('realm').split('.');
    const [, otherSalt] = nonces.issue('realm').split('.');
    const [, plainMac] = createNonces({ secret, clock }).issue('realm').split('.');
    for (const forged of [
      `${step}.${otherSalt}.${mac}`,
      `${Number(step) + 1}.${salt}.${mac}`,
      `${step}.${mac}`,
      `${step}.${salt}.${plainMac}`,
      `${step}.${salt}.${salt}.${mac}`,
      `${step}..${mac}`,
      `${step}${salt}.${mac}`,
      `.${salt}.${mac}`,
    ]) {
      expect(nonces.check(forged, 'realm')).toBe('unknown');
    }
  });

  test('octets of the context cannot be moved into the salt of a nonce', () => {
    const { nonces } = setupSalted();
    const [step, salt, mac] = nonces.issue('b').split('.');
    expect(nonces.check(`${step}.${mac}`, `${salt} b`)).toBe('unknown');
  });

  test('any text that we did not issue is unknown', () => {
    const { nonces } = setupSalted();
    fc.assert(fc.property(fc.string(), (text) => nonces.check(text, 'r') === 'unknown'));
  });
});

test('RFC 7616 section 3.5: a nonce that is fresh for less than a minute is reported as ending', () => {
  const { clock, nonces } = setup();
  const nonce = nonces.issue('realm');
  let minutes = 0;
  while (!nonces.ending(nonce)) {
    expect(nonces.check(nonce, 'realm')).toBe('fresh');
    clock.advance(60);
    minutes += 1;
  }
  expect(minutes).toBe(2);
  expect(nonces.check(nonce, 'realm')).toBe('fresh');
  clock.advance(60);
  expect(nonces.check(nonce, 'realm')).toBe('stale');
});
