import type { Language } from '#shared/pages/language.ts';
import { textsOf } from '../texts/index.ts';
import type { Subject } from './subject.ts';
import { itemsOf, type Tell } from './tell.ts';

/** Grants of a client that are counted. */
const MOST = 100;

type Count = (subject: Subject, tell: Tell, language: Language) => Promise<string>;

const people: Count = async ({ members }, tell, language) => {
  const { items, next } = await tell.one('client access', { ...members, limit: MOST });
  const givers = new Set(itemsOf(items).map(({ person }) => person));
  const more = next === undefined ? '' : '+';
  return textsOf(language).admin.endsWith.people(`${givers.size}${more}`);
};

const access: Count = async ({ told: { sign_ins, grants } }, _, language) =>
  textsOf(language).admin.endsWith.access(String(sign_ins), String(grants));

/** The operations that end everything of a person or client. */
const COUNTS: Readonly<Record<string, Count>> = {
  'client end': people,
  'client remove': people,
  'user end': access,
  'user disable': access,
  'user passwd': access,
  'user remove': access,
  'user second-factor-remove': access,
};

/** Says how much ends with an operation on the whole of somebody. Undefined: nothing does. */
export async function endsWith(
  operation: string,
  subject: Subject,
  tell: Tell,
  language: Language,
): Promise<string | undefined> {
  const count = Object.hasOwn(COUNTS, operation) ? COUNTS[operation] : undefined;
  return count?.(subject, tell, language);
}
