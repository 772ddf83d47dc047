import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { ManualClock } from '#shared/clock.ts';
import { createNonces } from './nonces.ts';

const secret = Buffer.alloc(32, 7);
function setup() {
  const clock = new ManualClock();
  return { clock, nonces: createNonces({ secret, clock }) };
}

describe('RFC 9449 section 9: nonces', () => {
  test('section 8.1: a nonce is made of NQCHAR', () => {
    expect(setup().nonces.issue('realm')).toMatch(/^[\x21\x23-\x5b\x5d-\x7e]+$/);
  });

  test('fresh for at least two minutes, stale for good once the lifetime is over', () => {
    const { clock, nonces } = setup();
    const nonce = nonces.issue('realm');
    clock.advance(120);
    expect(nonces.check(nonce, 'realm')).toBe('fresh');
    clock.advance(nonces.lifetime - 120);
    expect(nonces.check(nonce, 'realm')).toBe('stale');
    clock.advance(86_400);
    expect(nonces.check(nonce, 'realm')).toBe('stale');
  });

  test('rotates with the clock', () => {
    const { clock, nonces } = setup();
    const first = nonces.issue('realm');
    clock.advance(60);
    expect(nonces.issue('realm')).not.toBe(first);
  });

  test('another process with the same secret agrees, even if its clock is behind', () => {
    const { clock, nonces } = setup();
    const other = createNonces({ secret, clock: new ManualClock(clock.now() - 30_000) });
    expect(other.check(nonces.issue('realm'), 'realm')).toBe('fresh');
  });

  test('one from the far future is not fresh', () => {
    const { clock, nonces } = setup();
    clock.advance(600);
    const later = nonces.issue('realm');
    clock.advance(-600);
    expect(nonces.check(later, 'realm')).toBe('stale');
  });

  test('for another context or by another secret it is unknown', () => {
    const { clock, nonces } = setup();
    expect(nonces.check(nonces.issue('one'), 'two')).toBe('unknown');
    const other = createNonces({ secret: Buffer.alloc(32, 8), clock });
    expect(nonces.check(other.issue('realm'), 'realm')).toBe('unknown');
  });

  test('the step cannot be moved, the MAC not be cut', () => {
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
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => nonces.check(text, 'r') === 'unknown'),
    );
    for (const text of ['', 'NaN.', 'Infinity.x', '1e999.x', '-1.x']) {
      expect(nonces.check(text, 'r')).toBe('unknown');
    }
  });
});
