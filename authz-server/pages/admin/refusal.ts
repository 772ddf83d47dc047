import { InputError, type Operation } from '#shared/operations/operation.ts';
import { refusedOperation } from '#shared/operations/refusal-status.ts';
import { withoutOptions } from '#shared/operations/texts.ts';
import { Unacceptable } from '#shared/people/people.ts';
import type { Language } from '#shared/pages/language.ts';
import { refusalSentence, refusalWords } from '../texts/admin/messages.ts';
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
  const { error, status } = refusedOperation(thrown);
  const inFields = (text: string) =>
    withoutOptions(text, input, (member) =>
      textsOf(language).admin.quoted(fieldWord(language, member) ?? member),
    );
  const path =
    error instanceof InputError ? error.path : error instanceof Unacceptable ? [error.member] : [];
  if (path.length === 0) {
    return {
      problem: { kind: 'refused', text: inFields(refusalSentence(language, error.words)) },
      status,
    };
  }
  const message = inFields(refusalWords(language, error.words));
  if (Object.hasOwn(input.shape, path[0] ?? '')) return { wrong: { path, message }, status };
  return { problem: { kind: 'refused', text: [...path, message].join(' ') }, status };
}
