import type { ApiKeyRecord } from './api-keys.ts';

/** The key as it is after `expire`; the same object when it ends before. */
export function ended(key: ApiKeyRecord, at: number): ApiKeyRecord {
  return key.expires_at !== undefined && key.expires_at <= at ? key : { ...key, expires_at: at };
}

/** The order of `list`. */
export function byApplicationThenAge(a: ApiKeyRecord, b: ApiKeyRecord): number {
  if (a.application !== b.application) return a.application < b.application ? -1 : 1;
  return a.created_at - b.created_at;
}
