import type { KeyOwner, PublicKeyRecord } from './public-keys.ts';

/** The key as it is after `signOut`; the same object when it was signed out later. */
export function signedOut(key: PublicKeyRecord, at: number): PublicKeyRecord {
  const later = key.signed_out_at !== undefined && key.signed_out_at >= at;
  return later ? key : { ...key, signed_out_at: at };
}

/** Returns the text that names an owner in an index of keys. No such text is the beginning of another. */
export const ownerText = ({ kind, id }: KeyOwner): string => JSON.stringify([kind, id]);

/** All texts of applications are from the first of these on, and before the second. */
export const APPLICATIONS = { from: '["application",', before: '["application"-' } as const;
