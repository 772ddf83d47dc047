import type { PasskeyRecord, PasskeyUse } from './passkeys.ts';

/** The passkey as it is after a use, and whether that is refused; an older use moves no time backwards. */
export function afterUse(
  passkey: PasskeyRecord,
  { at, ...use }: PasskeyUse,
): { readonly outcome: 'used' | 'refused'; readonly passkey: PasskeyRecord } {
  // WebAuthn section 7.2, step 22.
  const counts = use.counter !== 0 || passkey.counter !== 0;
  if (counts && use.counter <= passkey.counter) {
    const refused_at = Math.max(at, passkey.refused_at ?? at);
    return { outcome: 'refused', passkey: { ...passkey, refused_at } };
  }
  const used_at = Math.max(at, passkey.used_at ?? at);
  return { outcome: 'used', passkey: { ...passkey, ...use, used_at } };
}
