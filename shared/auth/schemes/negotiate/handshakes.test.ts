import { expect, test } from '@jest/globals';
import { ManualClock } from '#shared/base/clock.ts';
import { type Handshake, Handshakes } from './handshakes.ts';

const acceptor = { step: () => Promise.reject(new Error('unused')) };
const clock = new ManualClock();
const lasting = (seconds: number): Handshake => ({
  acceptor,
  until: clock.now() + seconds * 1000,
});

test('RFC 4559 section 6: a handshake belongs to one connection', () => {
  const handshakes = new Handshakes(clock, 10);
  const [mine, other] = [{}, {}];
  const handshake = lasting(30);
  handshakes.put(mine, handshake);
  expect(handshakes.take(other)).toBeUndefined();
  expect(handshakes.take(mine)).toBe(handshake);
});

test('one of two messages at the same time finds the handshake', () => {
  const handshakes = new Handshakes(clock, 10);
  const connection = {};
  handshakes.put(connection, lasting(30));
  const found = [handshakes.take(connection), handshakes.take(connection)];
  expect(found.filter((one) => one !== undefined)).toHaveLength(1);
});

test('a handshake is forgotten at the end of its time', () => {
  const handshakes = new Handshakes(clock, 10);
  const connection = {};
  handshakes.put(connection, lasting(30));
  clock.advance(30);
  expect(handshakes.take(connection)).toBeUndefined();
});

test('at the capacity, the oldest handshakes are removed first', () => {
  const handshakes = new Handshakes(clock, 3);
  const connections = Array.from({ length: 10 }, () => ({}));
  for (const connection of connections) handshakes.put(connection, lasting(30));
  const kept = connections.map((connection) => handshakes.take(connection) !== undefined);
  expect(kept).toEqual([...Array<boolean>(7).fill(false), true, true, true]);
});

test('a handshake that waits for another message becomes the newest', () => {
  const handshakes = new Handshakes(clock, 2);
  const [first, second, third] = [{}, {}, {}];
  handshakes.put(first, lasting(30));
  handshakes.put(second, lasting(30));
  handshakes.put(first, handshakes.take(first) ?? lasting(0));
  handshakes.put(third, lasting(30));
  expect(handshakes.take(second)).toBeUndefined();
  expect(handshakes.take(first)).toBeDefined();
});
