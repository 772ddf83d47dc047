import type { Random } from '#shared/base/random.ts';
import type { VerifierRow } from '#shared/stores/people/people.ts';
import {
  keptRealm,
  type KeptKind,
  type RealmNeeds,
  type Secret,
  type VerifierKind,
} from './verifier-kind.ts';

/** The row of this kind with its value; `realm`: that of the row. */
export function verifierRow(
  { kind, handle }: KeptKind,
  { name, realm }: Pick<Secret, 'name' | 'realm'>,
  value: string,
): VerifierRow {
  return { kind, realm, value, ...(handle && { handle: handle(name, realm) }) };
}

/**
 * What the schemes of these realms check a password with, and no more than they need: what is good in all
 * realms is derived once, however many there are.
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

/** What the realms need and is not kept of a person: there only a new password helps. */
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

/** Of the row. */
const keyOf = (kind: VerifierKind, realm: string) =>
  JSON.stringify([kind.kind, keptRealm(kind, realm)]);
