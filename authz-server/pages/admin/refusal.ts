import { KeyRefusal } from '#shared/keys/key-refusal.ts';
import { Conflict, InputError, Missing, type Operation } from '#shared/operations/operation.ts';
import { NoSuchPerson, PeopleError, Unacceptable } from '#shared/people/people.ts';
import { withoutOptions } from '#shared/operations/texts.ts';
import { Refused } from '#shared/refusals/operations.ts';
import type { Language } from '#shared/pages/language.ts';
import { refusalWords } from '../texts/admin/messages.ts';
import { fieldWord } from '../texts/admin/words.ts';
import { textsOf } from '../texts/index.ts';
import type { AdminOperationProps } from '../frame/admin-view.ts';

/** A mistake in a member, in the language of the page. */
export interface Wrong {
  readonly path: readonly string[];
  readonly message: string;
}

/** A refusal as a page shows it: `wrong` is said beside its field. */
type Refusal = Pick<AdminOperationProps, 'problem' | 'status'> & { readonly wrong?: Wrong };

/** Returns how a page says that an operation was not done; throws what is no refusal of it. */
export function refusal({ input }: Operation, thrown: unknown, language: Language): Refusal {
  const error =
    thrown instanceof Unacceptable ? new InputError([thrown.member], thrown.words) : thrown;
  if (!(error instanceof Refused)) throw error;
  const message = withoutOptions(refusalWords(language, error.words), input, (member) =>
    textsOf(language).admin.quoted(fieldWord(language, member) ?? member),
  );
  if (error instanceof InputError) {
    const { path } = error;
    if (Object.hasOwn(input.shape, path[0] ?? '')) {
      return { wrong: { path, message }, status: 422 };
    }
    return { problem: { kind: 'refused', text: [...path, message].join(' ') }, status: 422 };
  }
  const status = STATUSES.find(([kind]) => error instanceof kind)?.[1];
  if (status === undefined) throw error;
  return { problem: { kind: 'refused', text: sentenceOf(message) }, status };
}

/** Words with which messages begin that are no names of somebody or something. */
const BEGINNING = /^(?:client|no|person|the|there|this)(?= )/;

/** A message as a sentence of its own. */
const sentenceOf = (message: string) =>
  `${message.replace(BEGINNING, (word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)}${
    /[.!?]$/.test(message) ? '' : '.'
  }`;

const STATUSES = [
  [Missing, 404],
  [NoSuchPerson, 404],
  [Conflict, 409],
  [PeopleError, 409],
  [KeyRefusal, 409],
] as const;
