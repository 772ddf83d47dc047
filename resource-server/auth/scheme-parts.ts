import { createAttempts } from '#shared/auth/credentials/attempts.ts';
import type { SchemeParts } from '#shared/auth/schemes/parts/scheme-entry.ts';
import { admittedBy } from '#shared/config/production.ts';
import { localDirectory } from '#shared/people/local.ts';
import { localVerifiers } from '#shared/people/local-verifiers.ts';
import { createPasswords } from '#shared/people/password.ts';
import { passwordAlone } from '#shared/people/second-factor/password-alone.ts';
import type { Parts } from '#shared/server/process.ts';

/**
 * The parts with which every scheme is opened, for the built-in directory. By its passwords, verifiers and keys people
 * are admitted even if they need a second factor.
 */
export function schemeParts({
  config,
  stores,
  ...parts
}: Parts & Pick<SchemeParts, 'oauth' | 'tokens' | 'gss' | 'issuers' | 'brand'>): SchemeParts {
  const { credentials: account, signIn: address, redemptions, exchanges } = config.limits;
  const admitted = admittedBy(config);
  return {
    ...parts,
    issuer: config.issuer,
    mtls: config.gnap?.mtls === true,
    stores,
    admitted,
    secondFactor: 'off',
    redemptions,
    exchanges,
    attempts: createAttempts({ limits: stores.limits, account, address }),
    directory: localDirectory({ ...stores, passwords: createPasswords(), admitted }),
    verifiers: localVerifiers({ people: stores.people, admitted }),
  };
}

/** Returns parts with which a password alone or an old key does not admit people who need a second factor. */
export const withSecondFactor = (
  parts: SchemeParts,
  { config, stores, log }: Pick<Parts, 'config' | 'stores' | 'log'>,
): SchemeParts => ({
  ...parts,
  secondFactor: config.people.secondFactor,
  ...passwordAlone(parts, config.people.secondFactor, stores.secondFactors, log),
});
