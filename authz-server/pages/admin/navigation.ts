import type { Operation } from '#shared/operations/operation.ts';
import { OPERATIONS } from '#shared/operations/operations.ts';
import type { Language } from '#shared/pages/language.ts';
import type { AdminNav } from '../frame/admin-view.ts';
import { groupWords } from '../texts/admin/words.ts';
import { textsOf } from '../texts/index.ts';
import { groupOf, pageOf } from './addresses.ts';
import { ADMIN_PATH } from './admission.ts';

/** The sections, with their groups of operations. The last one has what administrators need rarely. */
export const SECTIONS = {
  people: ['user'],
  applications: ['client'],
  access: ['realm', 'key', 'token'],
  activity: ['audit'],
  servers: ['server'],
  advanced: ['signing-keys', 'private-token', 'revocation', 'cache'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export const SEARCH_PATH = `${ADMIN_PATH}/search`;

/** The page on which a group begins: the first operation that reads without being asked for one thing. */
export function entryOf(group: string): Operation | undefined {
  const operations = OPERATIONS.filter((operation) => groupOf(operation) === group);
  return (
    operations.find(({ effect, operands }) => effect === 'reads' && operands.length === 0) ??
    operations[0]
  );
}

/** Returns the navigation as a page shows it. `shown`: the operation of the page. */
export function navigation(language: Language, shown?: Operation, searched?: string): AdminNav {
  const here = shown && groupOf(shown);
  const linkTo = (text: string, groups: readonly string[]) => {
    const entry = entryOf(groups[0] ?? '');
    const isHere = here !== undefined && groups.includes(here);
    return {
      href: entry === undefined ? ADMIN_PATH : pageOf(entry),
      text,
      ...(isHere && { isHere: shown === entry ? ('page' as const) : ('true' as const) }),
    };
  };
  const entries = Object.entries(SECTIONS) as [keyof typeof SECTIONS, readonly string[]][];
  const [, within = []] = entries.find(([, groups]) => groups.includes(here ?? '')) ?? [];
  const titles = textsOf(language).admin.nav;
  return {
    sections: entries.map(([name, groups]) => linkTo(titles[name], groups)),
    groups:
      within.length > 1
        ? within.map((group) => linkTo(groupWords(language, group)?.title ?? group, [group]))
        : [],
    search: SEARCH_PATH,
    ...(searched !== undefined && { searched }),
  };
}
