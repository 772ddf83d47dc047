import type { SchemeRealm, SchemeEntry, SchemeParts } from '../parts/scheme-entry.ts';

export const basicEntry = {
  name: 'Basic',
  forPeople: true,
  passwordAlone: true,
  settings: {},
  trial: { path: 'basic' },
  async open({ directory, feed, attempts, clock, random }: SchemeParts) {
    const { basic } = await import('./basic.ts');
    const { createVerifiedPasswords } = await import('../../credentials/verified-passwords.ts');
    const passwords = createVerifiedPasswords({ directory, feed, clock, random });
    return ({ realm }: SchemeRealm) => basic({ realm, passwords, attempts });
  },
} as const satisfies SchemeEntry;
