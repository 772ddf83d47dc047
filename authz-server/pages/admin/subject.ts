import type { Operation } from '#shared/operations/operation.ts';
import type { Texts } from '#shared/operations/texts.ts';
import type { Language } from '#shared/pages/language.ts';
import type { AdminLink } from '../frame/admin-view.ts';
import { groupOf, pageOf } from './addresses.ts';
import { refusal } from './refusal.ts';
import { type Item, type Tell, textIn } from './tell.ts';

/** The person or client that a page is about. */
export interface Subject {
  /** The member that says which it is, and its value. */
  readonly members: Readonly<Record<string, string>>;
  readonly name: string;
  /** Its name, with its identifier where others may have the name, and the way to its page. */
  readonly page: AdminLink;
  /** Its members as the operation that shows it told them. */
  readonly told: Item;
}

interface Kind {
  readonly member: string;
  readonly name: string;
  /** Its identifier is more than its name. */
  readonly hasId: boolean;
}

const KINDS: Readonly<Record<string, Kind>> = {
  user: { member: 'name', name: 'name', hasId: false },
  client: { member: 'client_id', name: 'client_name', hasId: true },
};

/** Undefined: the page is about none, or there is none by that name. */
export async function subjectOf(
  operation: Operation,
  texts: Texts,
  tell: Tell,
  language: Language,
): Promise<Subject | undefined> {
  const group = groupOf(operation);
  const kind = Object.hasOwn(KINDS, group) ? KINDS[group] : undefined;
  const [value] = (kind && texts.get(kind.member)) ?? [];
  if (kind === undefined || value === undefined) return undefined;
  try {
    const show = { name: `${group} show` };
    const told = await tell.one(show.name, { [kind.member]: value });
    const members = { [kind.member]: textIn(told, kind.member) };
    const name = textIn(told, kind.name) || value;
    const text = kind.hasId ? `${name} (${value})` : name;
    return { members, name, told, page: { href: pageOf(show, members), text } };
  } catch (error) {
    // The operation itself says what is wrong with the name. Anything else is thrown.
    refusal(operation, error, language);
    return undefined;
  }
}
