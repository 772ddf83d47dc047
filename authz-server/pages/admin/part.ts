import { Missing, type Operation, readInput } from '#shared/operations/operation.ts';
import { fromTexts, type Texts } from '#shared/operations/texts.ts';
import type { Language } from '#shared/pages/language.ts';
import { textsOf } from '../texts/index.ts';
import { programName } from '../views/program.ts';
import { type Item, itemsOf, type Tell, textIn } from './tell.ts';
import { said } from '#shared/refusals/operations.ts';
import type { Words } from '#shared/refusals/words.ts';

/** Returns what a part is called beside its subject. Undefined: there is no such part. */
type Find = (asked: Item, tell: Tell, language: Language) => Promise<string | undefined>;

const nameOf = (item: Item | undefined, ...members: readonly string[]): string | undefined =>
  item && members.map((member) => textIn(item, member)).find((name) => name !== '');

/** Finds one of the items of a person's access. */
const ofAccess =
  (list: 'sign_ins' | 'grants' | 'consents', by: string, member: string) =>
  async ({ name, ...asked }: Item, tell: Tell): Promise<Item | undefined> => {
    const access = await tell.one('user access', { name });
    return itemsOf(access[list]).find((item) => item[by] === asked[member]);
  };

const FIND: Readonly<Record<string, Find>> = {
  async 'client end grant'({ client_id, grant }, tell) {
    const [found] = await tell.items('client access', { client_id, grant });
    return nameOf(found, 'name', 'person');
  },
  'user end grant': async (asked, tell) =>
    nameOf(await ofAccess('grants', 'id', 'grant')(asked, tell), 'client_name', 'client_id'),
  async 'user end sign_in'(asked, tell, language) {
    const found = await ofAccess('sign_ins', 'id', 'sign_in')(asked, tell);
    return found && (programName(textIn(found, 'agent'), textsOf(language)) || textIn(found, 'id'));
  },
  async 'user end client'(asked, tell) {
    const found =
      (await ofAccess('consents', 'client_id', 'client')(asked, tell)) ??
      (await ofAccess('grants', 'client_id', 'client')(asked, tell));
    return nameOf(found, 'client_name', 'client_id');
  },
  async 'signing-keys rotate kid'({ kid, gateway }, tell) {
    const keys = await tell.items('signing-keys list', { gateway });
    return nameOf(
      keys.find((key) => key['kid'] === kid),
      'kid',
    );
  },
};

const LACKS: Readonly<Record<string, (of: (member: string) => string) => Words>> = {
  'client end grant': (of) =>
    said('no-grant-of-client', { client: of('client_id'), id: of('grant') }),
  'user end grant': (of) => said('no-grant-of-person', { name: of('name'), id: of('grant') }),
  'user end sign_in': (of) => said('no-sign-in-of-person', { name: of('name'), id: of('sign_in') }),
  'user end client': (of) => said('no-client-of-person', { name: of('name'), id: of('client') }),
  'signing-keys rotate kid': (of) => said('no-key', { id: of('kid') }),
};

/** The part that a page is about. */
export interface Part {
  /** The words that are for it. */
  readonly words: string;
  readonly name: string;
}

/**
 * Finds the part that is named, so that its page says what it is. Undefined: none is named, and the operation is on the
 * whole. Throws `InputError` and `Missing`.
 */
export async function partIn(
  operation: Operation,
  texts: Texts,
  tell: Tell,
  language: Language,
): Promise<Part | undefined> {
  const { name, parts = [], input } = operation;
  const member = parts.find((one) => texts.has(one));
  if (member === undefined) return undefined;
  const asked: Item = readInput(operation, fromTexts(input, texts));
  const words = `${name} ${member}`;
  const found = await FIND[words]?.(asked, tell, language);
  if (found === undefined) {
    const lack = LACKS[words]?.((one) => textIn(asked, one));
    throw lack === undefined ? new Error(`no page is for the part ${words}`) : new Missing(lack);
  }
  return { words, name: found };
}
