import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { upstreamSchema } from '#shared/config/upstream-schema.ts';
import { Upstreams } from './upstreams.ts';

function three() {
  const clock = new ManualClock();
  const urls = ['http://127.0.0.1:1/', 'http://127.0.0.1:2/', 'http://127.0.0.1:3/'];
  const upstreams = new Upstreams(upstreamSchema.parse({ urls }), clock);
  const [a, b, c] = upstreams.all;
  if (!a || !b || !c) throw new Error('three were named');
  return { clock, upstreams, a, b, c };
}

test('instances are asked in rotation', () => {
  const { upstreams } = three();
  const ports = Array.from({ length: 6 }, () => upstreams.pick().url.port);
  expect(new Set(ports.slice(0, 3))).toEqual(new Set(['1', '2', '3']));
  expect(ports.slice(3)).toEqual(ports.slice(0, 3));
});

test('the least busy instance is asked', () => {
  const { upstreams, a, b, c } = three();
  a.busy = 2;
  b.busy = 1;
  c.busy = 3;
  for (let time = 0; time < 3; time += 1) expect(upstreams.pick()).toBe(b);
});

test('an instance that failed three times in a row rests, longer each time, and is asked again', () => {
  const { clock, upstreams, a, b, c } = three();
  b.busy = 5;
  c.busy = 5;
  for (let time = 0; time < 2; time += 1) a.failed(clock.now());
  expect(upstreams.pick()).toBe(a);
  a.failed(clock.now());
  expect(a.rest(clock.now())).toBe(1000);
  expect(upstreams.pick()).not.toBe(a);
  clock.advance(1.001);
  expect(upstreams.pick()).toBe(a);
  a.failed(clock.now());
  expect(a.rest(clock.now())).toBe(2000);
  for (let time = 0; time < 50; time += 1) a.failed(clock.now());
  expect(a.rest(clock.now())).toBe(30_000);
  a.worked();
  expect(a.rest(clock.now())).toBe(0);
  a.failed(clock.now());
  expect(a.rest(clock.now())).toBe(0);
});

test('if all instances rest, the one with the shortest rest is asked', () => {
  const { clock, upstreams, a, b, c } = three();
  for (const one of [a, b, c]) for (let time = 0; time < 4; time += 1) one.failed(clock.now());
  clock.advance(0.5);
  for (let time = 0; time < 3; time += 1) a.failed(clock.now());
  b.failed(clock.now());
  expect(upstreams.pick()).toBe(c);
});

test('a clock that is set back makes no instance rest for longer', () => {
  const { clock, a, b } = three();
  for (let time = 0; time < 3; time += 1) a.failed(clock.now());
  b.leaveAlone(60_000, clock.now());
  clock.set(-86_400);
  expect(a.rest(clock.now())).toBeLessThanOrEqual(30_000);
  expect(b.asksRest(clock.now())).toBe(false);
});

test('an instance that asked for a pause is preferred to a failed one; if all asked, they are asked in rotation', () => {
  const { clock, upstreams, a, b, c } = three();
  for (let time = 0; time < 3; time += 1) for (const one of [b, c]) one.failed(clock.now());
  a.leaveAlone(60_000, clock.now());
  expect(upstreams.pick()).toBe(a);
  for (const one of [b, c]) one.worked();
  for (let time = 0; time < 6; time += 1) expect(upstreams.pick()).not.toBe(a);
  b.leaveAlone(10_000, clock.now());
  c.leaveAlone(1000, clock.now());
  const asked = Array.from({ length: 3 }, () => upstreams.pick());
  expect(new Set(asked)).toEqual(new Set([a, b, c]));
  clock.advance(1);
  expect(upstreams.pick()).toBe(c);
});

test('a pool is opened once, at its first use', async () => {
  const { a, b } = three();
  expect([a.pool, b.pool]).toEqual([undefined, undefined]);
  const [first, second] = await Promise.all([a.open(), a.open()]);
  expect([first === second, a.pool === first, b.pool]).toEqual([true, true, undefined]);
});
