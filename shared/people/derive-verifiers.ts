import { createHash } from 'node:crypto';
import type { Random } from '#shared/base/random.ts';
import type { VerifierRow } from '#shared/stores/people/people.ts';
import {
  keptRealm,
  type KeptKind,
  type RealmNeeds,
  type Secret,
  type VerifierKind,
} from './verifier-kind.ts';

/** Returns the row of a verifier with its value; `realm` is that of the row. */
export function verifierRow(
  { kind, handle }: KeptKind,
  { name, realm }: Pick<Secret, 'name' | 'realm'>,
  value: string,
): VerifierRow {
  return { kind, realm, value, ...(handle && { handle: handle(name, realm) }) };
}

/**
 * Derives the verifiers that the schemes of these realms need, and no others. A verifier that is valid in all realms is
 * derived once.
 */
export async function deriveVerifiers(
  realms: readonly RealmNeeds[],
  { name, password }: Omit<Secret, 'realm'>,
  random: Random,
): Promise<VerifierRow[]> {
  const wanted = new Map(
    realms.flatMap(({ realm, kinds }) =>
      kinds.map((kind) => [keyOf(kind, realm), { kind, realm }] as const),
    ),
  );
  const rows = await Promise.all(
    [...wanted.values()].map(async ({ kind, realm }) => {
      const value = await kind.derive({ name, realm, password }, random);
      const row = { name, realm: keptRealm(kind, realm) };
      return value === undefined ? [] : [verifierRow(kind, row, value)];
    }),
  );
  return rows.flat();
}

/** Returns the verifiers that the realms need but a person lacks; only a new password can create them. */
export function lackingVerifiers(
  verifiers: readonly VerifierRow[],
  realms: readonly RealmNeeds[],
): RealmNeeds[] {
  const kept = new Set(verifiers.map(({ kind, realm }) => JSON.stringify([kind, realm])));
  return realms
    .map(({ realm, kinds }) => ({
      realm,
      kinds: kinds.filter((kind) => !kept.has(keyOf(kind, realm))),
    }))
    .filter(({ kinds }) => kinds.length > 0);
}

/** Returns the key of the row. */
const keyOf = (kind: VerifierKind, realm: string) =>
  JSON.stringify([kind.kind, keptRealm(kind, realm)]);

/** Returns a name for the kinds and realms of these rows, which does not depend on their order. */
export function verifierSet(rows: readonly Pick<VerifierRow, 'kind' | 'realm'>[]): string {
  const members = rows.map(({ kind, realm }) => JSON.stringify([kind, realm])).toSorted();
  return createHash('sha256').update(JSON.stringify(members)).digest('base64url').slice(0, 22);
}
