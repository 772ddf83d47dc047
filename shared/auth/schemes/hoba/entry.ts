import { derivedKey } from '#shared/base/derived-key.ts';
import { languageOf } from '#shared/pages/language.ts';
import type { SchemeEntry, SchemeParts, SchemePlace, SchemeRealm } from '../parts/scheme-entry.ts';
import { type HobaSettings, hobaSettings } from './settings.ts';

/** Opens the parts that the scheme and its endpoints share. */
async function openParts(parts: SchemeParts) {
  const { stores, master, attempts, directory, secondFactor, clock, random } = parts;
  const { createChallenges } = await import('./challenges.ts');
  const { createSignatures } = await import('./signatures.ts');
  const { proofs, publicKeys, secondFactors } = stores;
  const secret = derivedKey(master, 'hoba-challenge');
  const challenges = createChallenges({ secret, clock, random });
  const signatures = createSignatures({ challenges, proofs, attempts, clock, random });
  const people = { publicKeys, directory, secondFactor, secondFactors };
  return { challenges, signatures, ...people, clock };
}

/** RFC 7486. */
export const hobaEntry = {
  name: 'HOBA',
  forPeople: false,
  overTls: true,
  originBound: true,
  settings: { hoba: hobaSettings },
  trial: { path: 'hoba' },
  async open(parts: SchemeParts) {
    const { hoba } = await import('./hoba.ts');
    const shared = await openParts(parts);
    return ({ realm, hoba: { maxAge } }: SchemeRealm & { readonly hoba: HobaSettings }) =>
      hoba({ ...shared, realm, maxAge });
  },
  async endpoints(parts: SchemeParts, places: readonly SchemePlace[]) {
    const { hobaEndpoints } = await import('./endpoints.ts');
    const { createInvitations } = await import('./invitations.ts');
    const { keyPage } = await import('./key-page.ts');
    const invitations = createInvitations(parts);
    const { stores, brand } = parts;
    return hobaEndpoints({
      ...(await openParts(parts)),
      stores,
      invitations,
      page: (origin, acceptLanguage) =>
        keyPage(
          { brand, language: languageOf(acceptLanguage) },
          { origin, spaces: places.filter((one) => one.origin === origin).map(({ url }) => url) },
        ),
    });
  },
} as const satisfies SchemeEntry;
