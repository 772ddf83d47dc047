import { describe, expect, test } from '@jest/globals';
import { Follower } from './follower.ts';
import { MOST_FOLLOWERS, Register } from './register.ts';

const LEASE = 2_000;

/** Tells a follower all entries up to `upTo`, in an answer to a request that arrived at `at`. */
function tell(follower: Follower, upTo: number, at: number): void {
  const told = follower.begin(0, at + LEASE, at);
  if (told === undefined) throw new Error('too much');
  told.upTo = upTo;
  told.pending = false;
}

describe('the entry up to which a follower knows everything', () => {
  test('the confirmed entry is the least of those that the follower was told, for a lease from each request', () => {
    const follower = new Follower('app', 'x');
    tell(follower, 5, 0);
    tell(follower, 9, 1_000);
    expect(follower.confirmed(1_000)).toBe(5);
    expect(follower.confirmed(LEASE - 1)).toBe(5);
    expect(follower.confirmed(LEASE)).toBe(9);
    expect(follower.confirmed(1_000 + LEASE)).toBeUndefined();
  });

  test('an acknowledged entry is confirmed at once', () => {
    const follower = new Follower('app', 'x');
    tell(follower, 5, 0);
    follower.acknowledge(9);
    tell(follower, 9, 10);
    expect(follower.confirmed(20)).toBe(9);
    expect(follower.confirmed(LEASE + 10)).toBeUndefined();
  });

  test('an acknowledged entry comes from another process if this process gave no answer with it', () => {
    const follower = new Follower('app', 'x');
    tell(follower, 5, 0);
    expect(follower.acknowledge(5)).toBe(false);
    follower.begin(9, LEASE, 10); // is not answered yet
    expect(follower.acknowledge(9)).toBe(true);
    expect(follower.acknowledge(9)).toBe(false);
  });

  test('the confirmed entry is never less than an entry that was acknowledged once', () => {
    const follower = new Follower('app', 'x');
    follower.acknowledge(9);
    follower.acknowledge(3);
    tell(follower, 4, 0);
    expect(follower.confirmed(1)).toBe(9);
  });

  test('an unfinished answer counts from its beginning, and for as long as it takes', () => {
    const follower = new Follower('app', 'x');
    const told = follower.begin(5, LEASE, 0);
    expect(follower.confirmed(10 * LEASE)).toBe(5);
    if (told) follower.drop(told);
    expect(follower.confirmed(10 * LEASE)).toBeUndefined();
  });

  test('a follower that acknowledges nothing gets no new entries for a while, and then gets them again', () => {
    const follower = new Follower('app', 'x');
    const answers = Array.from({ length: 100 }, () => follower.begin(5, LEASE, 0));
    expect(answers.filter((told) => told !== undefined)).toHaveLength(16);
    for (const told of answers) if (told) told.pending = false;
    expect(follower.begin(5, 2 * LEASE, LEASE)).toBeDefined();
  });

  test('a follower that acknowledges each answer gets as many answers as it asks for', () => {
    const follower = new Follower('app', 'x');
    for (let entry = 1; entry <= 1_000; entry += 1) {
      tell(follower, entry, 0);
      follower.acknowledge(entry);
    }
    expect(follower.confirmed(0)).toBe(1000);
    expect(follower.confirmed(LEASE)).toBeUndefined();
  });
});

describe('the followers of a process', () => {
  test('the confirmed entry of a process is that of its slowest follower', () => {
    const register = new Register();
    register.position = 20;
    for (const [id, upTo] of [
      ['a', 12],
      ['b', 11],
      ['c', 20],
    ] as const) {
      const follower = register.follower('app', id);
      if (follower) tell(follower, upTo, 0);
    }
    expect(register.confirmed(1)).toBe(11);
    expect(register.confirmed(LEASE)).toBe(20);
  });

  test('the followers of one client are limited, and twenty greedy clients leave room for others', () => {
    const register = new Register();
    const begin = (client: string, id: number, now = 0) => {
      const follower = register.follower(client, String(id));
      if (follower) tell(follower, 1, now);
      return follower !== undefined;
    };
    const ids = Array.from({ length: 1_000 }, (_, n) => n);
    expect(ids.filter((id) => begin('greedy', id))).toHaveLength(MOST_FOLLOWERS.client);
    expect(begin('modest', 0)).toBe(true);
    for (let n = 0; n < 20; n += 1) for (const id of ids) begin(`client ${n}`, id);
    expect(register.size).toBeLessThan(MOST_FOLLOWERS.all);
    expect(begin('late', 0)).toBe(true);
    register.prune(LEASE);
    expect(begin('late', 0, LEASE)).toBe(true);
    expect(register.size).toBe(1);
  });

  test('a forgotten follower is unknown', () => {
    const register = new Register();
    const follower = register.follower('app', 'a');
    expect(follower && register.knows(follower)).toBe(true);
    register.clear();
    expect(follower && register.knows(follower)).toBe(false);
  });
});
