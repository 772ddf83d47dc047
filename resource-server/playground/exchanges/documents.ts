import { basicCredentials } from '#shared/auth/schemes/basic/client.ts';
import { answered, by, CREDENTIALS_STEP, told, type ToldStep } from '../checks/told.ts';
import type { Exchange, Performing } from '../exchange.ts';
import { fieldOf, type FieldLine, type ReadAnswer } from '../http1-message.ts';
import { PASSWORD, PERSON } from '../person.ts';
import type { Recorded } from '../recorded.ts';
import { BASIC_NOTES } from '#shared/explain/notes/basic.ts';
import { userPassInClear } from './basic.ts';

const comes =
  (name: string) =>
  ({ asked }: Recorded): boolean =>
    asked.lines(name).length > 0;
const isWhole = answered('200');
const WHOLE = 'so the server sends the whole document';

/**
 * The checks of a server of documents in their order: of the request, the content, the preconditions and the ranges.
 */
const STEPS: readonly ToldStep[] = [
  {
    check: 'The server knows the method. Upper and lower case are different.',
    section: 'RFC 9110 section 9.1',
    refuses: answered('501'),
  },
  CREDENTIALS_STEP,
  {
    check: 'This address has this method.',
    section: 'RFC 9110 section 15.5.6',
    refuses: answered('404', '405'),
  },
  {
    check: 'The content is a whole document, is not compressed, and has a media type.',
    section: 'RFC 9110 section 9.3.4',
    applies: by('PUT'),
    refuses: answered('400', '413', '415'),
  },
  {
    check: 'The patch has a media type that the server accepts.',
    section: 'RFC 5789 section 2.2',
    applies: by('PATCH'),
    refuses: answered('415'),
  },
  {
    check: 'The patch is well-formed.',
    section: 'RFC 5789 section 2.2',
    applies: by('PATCH'),
    refuses: answered('400', '422'),
  },
  {
    check: 'The question names its language, and the server knows this language.',
    section: 'RFC 10008 section 2.1',
    applies: by('QUERY'),
    refuses: answered('400', '415'),
  },
  {
    check: 'The question is well-formed.',
    section: 'RFC 9535 section 2.1',
    applies: by('QUERY'),
    refuses: answered('422'),
  },
  {
    check: 'The content asks for an exclusive or shared write lock, in XML.',
    section: 'RFC 4918 section 9.10.1',
    applies: by('LOCK'),
    refuses: answered('400', '415', '422'),
  },
  {
    check: 'No lock of another client conflicts with the new lock.',
    section: 'RFC 4918 section 9.10.5',
    applies: by('LOCK'),
    refuses: answered('423'),
  },
  {
    check: 'All conditions of one list in If are true.',
    section: 'RFC 4918 section 10.4.3',
    applies: comes('if'),
    refuses: answered('412'),
  },
  {
    check: 'If-Match names the current version, by a strong comparison.',
    section: 'RFC 9110 section 13.1.1',
    applies: comes('if-match'),
    refuses: answered('412'),
  },
  {
    check: 'If-None-Match does not name the current version.',
    section: 'RFC 9110 section 13.1.2',
    applies: comes('if-none-match'),
    refuses: answered('412'),
    passesOver: (recorded) =>
      answered('304')(recorded)
        ? 'the version is the same, so the answer is 304 without content'
        : undefined,
  },
  {
    check: 'The document is not locked, or the field If has the token of the lock.',
    section: 'RFC 4918 section 7.5',
    applies: by('PUT', 'PATCH', 'DELETE'),
    refuses: answered('423'),
  },
  {
    check: 'Lock-Token names a lock of this document.',
    section: 'RFC 4918 section 9.11.1',
    applies: by('UNLOCK'),
    refuses: answered('409'),
  },
  {
    check: 'All operations of the patch can be performed, and all its tests succeed.',
    section: 'RFC 6902 section 5',
    applies: (recorded) =>
      by('PATCH')(recorded) &&
      /^application\/json-patch\+json/i.test(recorded.asked.lines('content-type')[0] ?? ''),
    refuses: answered('409'),
  },
  {
    check: 'If-Range names the current version, by a strong comparison.',
    section: 'RFC 9110 section 13.1.5',
    applies: comes('if-range'),
    passesOver: (recorded) =>
      isWhole(recorded) ? `the document has another version, ${WHOLE}` : undefined,
  },
  {
    check: 'Range is well-formed.',
    section: 'RFC 9110 section 14.2',
    applies: comes('range'),
    passesOver: (recorded) =>
      isWhole(recorded) && !comes('if-range')(recorded)
        ? `the range is malformed, ${WHOLE}`
        : undefined,
  },
  {
    check: 'At least one octet of the range is in the document.',
    section: 'RFC 9110 section 15.5.17',
    applies: comes('range'),
    refuses: answered('416'),
  },
];

/**
 * The members that exchanges with documents share. Only the playground reaches their spaces, since strangers could fill
 * them.
 */
export const OF_DOCUMENTS = {
  document: 'reference/documents.md',
  inside: true,
  space: { schemes: ['Basic'], serves: 'documents' },
  parameters: BASIC_NOTES,
  decoded: userPassInClear,
  checks: told(STEPS),
} as const satisfies Partial<Exchange>;

const AUTHORIZATION: FieldLine = ['Authorization', basicCredentials(PERSON.name, PASSWORD)];

/** A request for the document of an exchange, without the parts that are the same for all. */
interface Asked {
  readonly method: string;
  /** Default: the document. */
  readonly target?: string;
  readonly fields?: readonly FieldLine[];
  readonly content?: string;
}

export type Ask = (title: string, asked: Asked) => Promise<ReadAnswer>;

/** The number of names of documents. If exchanges end early, at most this many documents are left. */
const NAMES = 256;

/**
 * Returns a function that requests one document with the right credentials, and a function that removes it. Few
 * exchanges run at a time, so they rarely share a name.
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
