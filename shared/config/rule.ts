import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { Mistake } from '#shared/base/mistake.ts';
import type { Config, SpaceConfig } from './schema.ts';

/** A rule over several members; it is left out while one of those that it reads is itself wrong. */
export interface Rule {
  readonly reads: readonly (keyof Config)[];
  check(config: Config, env: NodeJS.ProcessEnv): readonly Mistake[];
}

/** A mistake for each space that `wrong` says something about. */
export function eachSpace(
  { spaces }: Pick<Config, 'spaces'>,
  member: string,
  wrong: (space: SpaceConfig) => string | undefined,
): Mistake[] {
  return spaces.flatMap((space, index) => {
    const message = wrong(space);
    return message === undefined ? [] : [{ path: `spaces.${index}.${member}`, message }];
  });
}

/** What to say of a path where there is no file. */
export const missing = (file: string | undefined) =>
  file === undefined || existsSync(file)
    ? undefined
    : `is ${file}, which is not there: correct the path`;

/** What to say of a path where there is no file, or one without a certificate. */
export function noCertificate(file: string | undefined) {
  if (file === undefined || !existsSync(file)) return missing(file);
  try {
    return void new X509Certificate(readFileSync(file));
  } catch {
    return `is ${file}, in which no certificate can be read: name a file with one in PEM`;
  }
}
