import { issueWords } from '#shared/base/issue-words.ts';
import type { Mistake } from '#shared/base/mistake.ts';
import { issueMistakes } from '#shared/config/issue-mistakes.ts';
import { knownMembers } from '#shared/config/known-members.ts';
import { isObject } from '#shared/jose/compact-jws.ts';
import { type DeclaredFile, declaredFile } from './file-schema.ts';
import { plainSecrets } from './plain-secrets.ts';

/** The lists that a file has. */
const PARTS = ['realms', 'people', 'clients', 'api_keys', 'public_keys'] as const;
export type Part = (typeof PARTS)[number];

/** The entries of a file that have no mistake so far, and the mistakes in the others. */
export interface GoodEntries {
  readonly file: DeclaredFile;
  readonly mistakes: readonly Mistake[];
  /** Returns the path in the whole file of an entry in `file`. */
  at(part: Part, index: number): string;
}

/** Leaves out entries with plain secrets or schema mistakes, so that the remaining entries can be checked, too. */
export function goodEntries(content: unknown): GoodEntries {
  const known = (at: readonly PropertyKey[]) => knownMembers(declaredFile, at);
  const { error } = declaredFile.safeParse(content, { error: issueWords });
  const secrets = plainSecrets(content);
  const ofSchema = (error?.issues ?? []).flatMap((issue) => issueMistakes(issue, known));
  const mistakes = [
    ...secrets,
    ...ofSchema.filter(({ path }) => !secrets.some((secret) => secret.path === path)),
  ];
  const faulty = new Set(mistakes.map(({ path }) => path.split('.', 2).join('.')));
  const places = new Map<Part, readonly number[]>();
  const kept: Partial<Record<Part, unknown[]>> = {};
  for (const part of PARTS) {
    const value = isObject(content) ? content[part] : undefined;
    const entries: readonly unknown[] = Array.isArray(value) ? value : [];
    const good = [...entries.keys()].filter((place) => !faulty.has(`${part}.${place}`));
    places.set(part, good);
    kept[part] = good.map((place) => entries[place]);
  }
  return {
    file: declaredFile.parse(kept),
    mistakes,
    at: (part, index) => `${part}.${places.get(part)?.[index]}`,
  };
}
