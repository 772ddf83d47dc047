import type { VerifierKind } from '#shared/people/verifier-kind.ts';
import { SCRAM_HASHES, SCRAM_ITERATIONS, SCRAM_SALT_BYTES, type ScramHash } from './hashes.ts';

/** RFC 5802 section 3. */
export interface ScramKeys {
  readonly salt: Buffer;
  readonly iterations: number;
  readonly storedKey: Buffer;
  readonly serverKey: Buffer;
}

/** RFC 5803 section 2. */
const VALUE = /^SCRAM-(SHA-\d+)\$(\d{4,7}):([^$:]+)\$([^$:]+):([^$:]+)$/;

/** Parses the text of keys; returns undefined unless `formatScramKeys` writes keys of that hash so. */
export function parseScramKeys(hash: ScramHash, value: string): ScramKeys | undefined {
  const [, named, count, ...encoded] = VALUE.exec(value) ?? [];
  const iterations = Number(count);
  const [salt, storedKey, serverKey] = encoded.map((text) => Buffer.from(text, 'base64'));
  if (salt === undefined || storedKey === undefined || serverKey === undefined) return undefined;
  const keys = { salt, iterations, storedKey, serverKey };
  const { size } = SCRAM_HASHES[hash];
  const fits =
    named === hash &&
    value === formatScramKeys(hash, keys) &&
    salt.length === SCRAM_SALT_BYTES &&
    storedKey.length === size &&
    serverKey.length === size &&
    iterations >= 4096 &&
    iterations <= 1_000_000;
  return fits ? keys : undefined;
}

/** Writes keys as the text of RFC 5803 section 2. */
export function formatScramKeys(hash: ScramHash, keys: ScramKeys): string {
  const [salt, storedKey, serverKey] = [keys.salt, keys.storedKey, keys.serverKey].map((bytes) =>
    bytes.toString('base64'),
  );
  return `SCRAM-${hash}$${keys.iterations}:${salt}$${storedKey}:${serverKey}`;
}

/** The verifier of each hash: a salt and the keys (RFC 5802 section 3). They do not depend on the realm. */
export const SCRAM_KINDS: Readonly<Record<ScramHash, VerifierKind>> = {
  'SHA-1': kindOf('SHA-1'),
  'SHA-256': kindOf('SHA-256'),
};

function kindOf(hash: ScramHash): VerifierKind {
  return {
    kind: `scram ${hash}`,
    title: `SCRAM-${hash}`,
    keeps: `keys of SCRAM-${hash}`,
    everywhere: true,
    async derive({ password }, random) {
      const { scramKeys } = await import('./keys.ts');
      const [salt, iterations] = [random(SCRAM_SALT_BYTES), SCRAM_ITERATIONS];
      const keys = await scramKeys(hash, password, salt, iterations);
      return keys && formatScramKeys(hash, { salt, iterations, ...keys });
    },
    isValue: (text) => parseScramKeys(hash, text) !== undefined,
  };
}
