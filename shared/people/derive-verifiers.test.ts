import { describe, expect, test } from '@jest/globals';
import { systemRandom } from '#shared/base/random.ts';
import { ALL_REALMS } from '#shared/stores/people/people.ts';
import { deriveVerifiers, lackingVerifiers } from './derive-verifiers.ts';
import type { RealmNeeds, VerifierKind } from './verifier-kind.ts';
import { OTHER_PROOF, OTHER_SEAL, PROOF, SEAL } from './verifier-kind.fixture.ts';

const derive = (realms: readonly RealmNeeds[], password = 'swordfish') =>
  deriveVerifiers(realms, { name: 'alice', password }, systemRandom);

const all = (realm: string): RealmNeeds => ({
  realm,
  kinds: [PROOF, OTHER_PROOF, SEAL, OTHER_SEAL],
});

describe('deriveVerifiers', () => {
  test('deriveVerifiers stores no verifier that no realm needs', async () => {
    const secret = { name: 'alice', realm: 'one', password: 'swordfish' };
    const needs = [
      { realm: 'one', kinds: [PROOF] },
      { realm: 'two', kinds: [SEAL] },
    ];
    expect(await derive(needs)).toEqual([
      {
        kind: 'proof one',
        realm: 'one',
        value: await PROOF.derive(secret, systemRandom),
        handle: PROOF.handle?.('alice', 'one'),
      },
      { kind: 'seal one', realm: ALL_REALMS, value: expect.any(String) },
    ]);
    expect(await derive([])).toEqual([]);
  });

  test('a verifier for all realms is derived once for a thousand realms, and a verifier for one realm a thousand times', async () => {
    const derived: string[] = [];
    const watched = (kind: VerifierKind): VerifierKind => ({
      ...kind,
      derive: (...args) => (derived.push(kind.kind), kind.derive(...args)),
    });
    const kinds = [PROOF, SEAL, OTHER_SEAL].map(watched);
    const realms = Array.from({ length: 1000 }, (_, n) => ({
      realm: `realm ${n}`,
      kinds,
    }));
    const rows = await derive(realms);
    expect(derived.filter((kind) => kind !== 'proof one').toSorted()).toEqual([
      'seal one',
      'seal two',
    ]);
    expect(rows).toHaveLength(1002);
    expect(lackingVerifiers(rows, realms)).toEqual([]);
  });

  test('a password that one scheme cannot use gets the verifiers of the other schemes', async () => {
    const rows = await derive([all('r')], '\u00bd of the password');
    expect(rows.map(({ kind }) => kind)).toEqual(['proof one', 'proof two']);
  });
});

describe('lackingVerifiers', () => {
  test('a person with verifiers for the same realms lacks none', async () => {
    const realms = [all('one'), all('two')];
    expect(lackingVerifiers(await derive(realms), realms)).toEqual([]);
    expect(lackingVerifiers([], [])).toEqual([]);
  });

  test('lackingVerifiers names only a realm or a kind that was added later', async () => {
    const before = { realm: 'one', kinds: [PROOF, SEAL] };
    const rows = await derive([before]);
    expect(lackingVerifiers(rows, [all('one'), before])).toEqual([
      { realm: 'one', kinds: [OTHER_PROOF, OTHER_SEAL] },
    ]);
    const later = all('later');
    expect(lackingVerifiers([], [later])).toEqual([later]);
    // The person has the verifier for all realms.
    expect(lackingVerifiers(rows, [before, later])).toEqual([
      { realm: 'later', kinds: [PROOF, OTHER_PROOF, OTHER_SEAL] },
    ]);
  });

  test('realms may have names of JavaScript members', () => {
    for (const realm of ['__proto__', 'constructor']) {
      expect(lackingVerifiers([], [all(realm)])).toEqual([all(realm)]);
    }
  });
});
