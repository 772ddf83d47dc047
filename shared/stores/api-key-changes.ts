import type { ApiKeyRecord } from './api-keys.ts';

/** Milliseconds: how exactly the last use is kept, so that not each use is a write. */
const PRECISION = 60_000;

/** The key as it is after `expire`; the same object when it ends before. */
export function ended(key: ApiKeyRecord, at: number): ApiKeyRecord {
  return key.expires_at !== undefined && key.expires_at <= at ? key : { ...key, expires_at: at };
}

/** The key as it is after `touch`; the same object when that use need not be noted. */
export function used(key: ApiKeyRecord, at: number): ApiKeyRecord {
  const noted = key.used_at !== undefined && at < key.used_at + PRECISION;
  return noted ? key : { ...key, used_at: at };
}

/** The order of `list`. */
export function byApplicationThenAge(a: ApiKeyRecord, b: ApiKeyRecord): number {
  if (a.application !== b.application) return a.application < b.application ? -1 : 1;
  return a.created_at - b.created_at;
}
