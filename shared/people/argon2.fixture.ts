import { hash, verify } from '@node-rs/argon2';
import type { Argon2 } from './password.ts';

const made = new Map<string, Promise<unknown>>();

/** Returns the result of `work`, which runs once for all tests of a suite. */
function once<T>(of: readonly unknown[], work: () => Promise<T>): Promise<T> {
  const key = JSON.stringify(of.map(String));
  const known = made.get(key) ?? work();
  made.set(key, known);
  return known as Promise<T>;
}

/** An argon2id that computes each hash only once, so equal passwords have equal hashes. */
export const argon2Once: Argon2 = {
  hash: (password, ...more) => once(['hash', password], () => hash(password, ...more)),
  verify: (hashed, password, ...more) =>
    once(['verify', hashed, password], () => verify(hashed, password, ...more)),
};
