import type { Operation } from '#shared/operations/operation.ts';
import { OPERATIONS } from '#shared/operations/operations.ts';
import type { Texts } from '#shared/operations/texts.ts';
import type { Language } from '#shared/pages/language.ts';
import type { AdminOperationProps } from '../frame/admin-view.ts';
import { groupWords, namedTitle, operationWords, partWords } from '../texts/admin/words.ts';
import { groupOf, pageOf } from './addresses.ts';
import { endsWith } from './ends-with.ts';
import { takes, titleOf } from './links.ts';
import { type Part, partIn } from './part.ts';
import { refusal, type Wrong } from './refusal.ts';
import { type Subject, subjectOf } from './subject.ts';
import type { Tell } from './tell.ts';

/** How a page says what its operation would do, and with whom. */
export interface Asked extends Pick<
  AdminOperationProps,
  'title' | 'text' | 'isEnglish' | 'path' | 'hidden' | 'submit' | 'danger' | 'warning' | 'problem'
> {
  readonly subject: Subject | undefined;
  readonly part: Part | undefined;
  /** Said once it is done. */
  readonly done: string | undefined;
  /** There is no such part: nothing is asked, and nothing done. */
  readonly status?: number;
}

/** Returns what the page of an operation asks. Nothing that says on what it works can be changed on a page that names it. */
export async function asking(
  operation: Operation,
  texts: Texts,
  tell: Tell,
  language: Language,
): Promise<Asked> {
  const { name } = operation;
  const words = operationWords(language, name);
  const hasNames = namedTitle(language, name, '') !== undefined;
  const subject = hasNames ? await subjectOf(operation, texts, tell, language) : undefined;
  const title = titleOf(operation, language, subject?.page.text);
  const about = {
    title,
    ...(words ? { text: words.text } : { text: operation.summary, isEnglish: true as const }),
    path: pathTo(operation, subject, title, language),
    done: words?.done,
    subject,
    part: undefined,
  };
  try {
    const part = await partIn(operation, texts, tell, language);
    const own = part && partWords(language, part.words);
    if (part === undefined || own === undefined) {
      const warning = subject && (await endsWith(name, subject, tell, language));
      return {
        ...about,
        ...(operation.effect === 'changes' && subject && { hidden: subject.members }),
        ...(takes(operation) && { danger: true as const }),
        ...(warning !== undefined && { warning }),
      };
    }
    const given = [...texts].map(([member, [value = '']]) => [member, value]);
    return {
      ...about,
      title: own.title(part.name, subject?.name ?? ''),
      text: own.text,
      path: pathTo(operation, subject, own.submit, language),
      hidden: Object.fromEntries(given) as Readonly<Record<string, string>>,
      submit: own.submit,
      danger: true,
      done: own.done,
      part,
    };
  } catch (error) {
    const { wrong, ...refused } = refusal(operation, error, language);
    return { ...about, ...(wrong && { problem: problemIn(wrong) }), status: 422, ...refused };
  }
}

/** A mistake in a member that no field shows. */
export const problemIn = ({ path, message }: Wrong) =>
  ({ kind: 'refused', text: [...path, message].join(' ') }) as const;

/** The way from the first page to this one. */
function pathTo(
  operation: Operation,
  subject: Subject | undefined,
  title: string,
  language: Language,
): AdminOperationProps['path'] {
  const group = groupOf(operation);
  const list = { name: `${group} list` };
  const isListed = OPERATIONS.some(({ name }) => name === list.name);
  const text = groupWords(language, group)?.title ?? group;
  return [
    ...(text === title ? [] : [{ text, ...(isListed && { href: pageOf(list) }) }]),
    ...(subject && operation.name !== `${group} show` ? [subject.page] : []),
    { text: title },
  ];
}
