import { basicCredentials } from '#shared/auth/schemes/basic/client.ts';
import { documentChecks } from '../checks/documents.ts';
import type { Exchange, Performing } from '../exchange.ts';
import { fieldOf, type FieldLine, type ReadAnswer } from '../http1-message.ts';
import { PASSWORD, PERSON } from '../person.ts';
import { BASIC_NOTES } from '#shared/explain/notes/basic.ts';
import { userPassInClear } from './basic.ts';

/** The members that exchanges with documents share. Nobody else reaches their spaces, or strangers could fill them. */
export const OF_DOCUMENTS = {
  document: 'reference/documents.md',
  inside: true,
  space: { schemes: ['Basic'], serves: 'documents' },
  parameters: BASIC_NOTES,
  decoded: userPassInClear,
  checks: documentChecks,
} as const satisfies Partial<Exchange>;

const AUTHORIZATION: FieldLine = ['Authorization', basicCredentials(PERSON.name, PASSWORD)];

/** A request for the document of an exchange, without what they all have. */
interface Asked {
  readonly method: string;
  /** Default: the document. */
  readonly target?: string;
  readonly fields?: readonly FieldLine[];
  readonly content?: string;
}

export type Ask = (title: string, asked: Asked) => Promise<ReadAnswer>;

/** How many names of documents there are: whatever ends an exchange early, no more than these are left. */
const NAMES = 256;

/**
 * Returns a function that asks for one document with the right credentials, and one that removes it. Few exchanges take
 * place at a time, so they have different names, as a rule.
 */
export function documentOf(
  { send, target, random }: Performing,
  extension: string,
): {
  readonly path: string;
  readonly ask: Ask;
  remove(fields?: readonly FieldLine[]): Promise<unknown>;
} {
  const path = `${target}note-${(random(1)[0] ?? 0) % NAMES}.${extension}`;
  const ask: Ask = (title, { fields = [], ...asked }) =>
    send(title, { target: path, ...asked, fields: [AUTHORIZATION, ...fields] });
  return {
    path,
    ask,
    remove: (fields) =>
      ask('The client removes the document', { method: 'DELETE', ...(fields && { fields }) }),
  };
}

export const etagOf = (answer: ReadAnswer): string => fieldOf(answer, 'ETag');
