import { noteOnNames, noteOnPkce } from '#shared/operations/clients/notes.ts';
import { Conflict, type House, Missing } from '#shared/operations/operation.ts';
import { namesOfNobody } from '#shared/people/named-by-client.ts';
import { PeopleError } from '#shared/people/people.ts';
import type { DeclaredThing } from '#shared/stores/declared/declared.ts';
import type { FormerName, PersonRecord } from '#shared/stores/people/people.ts';
import { Failure } from '../arguments/command.ts';
import { firstMistakes } from './first-mistakes.ts';
import { clientItem, formerClientItem } from './client-items.ts';
import { documentItem } from './document-items.ts';
import { formerKeyItem, keyItem } from './key-items.ts';
import { formerPersonItem, personItem } from './people-items.ts';
import { formerPublicKeyItem, publicKeyItem } from './public-key-items.ts';
import type { Wanted } from './wanted.ts';
import type { Change, Item, Step } from './step.ts';

export interface ApplyOptions {
  /** Report what would be changed, and change nothing. */
  readonly dryRun: boolean;
  /** Remove what an earlier `apply` made and the file no longer has. */
  readonly prune: boolean;
  readonly former: FormerName;
  /** Allow a result without any administrator. */
  readonly noAdministrator: boolean;
  /** Called with the number of changes so far, as long as more follow. */
  readonly tell?: (changes: number) => void;
}

/** The most attempts for an entry that another user changes at the same time. */
const ATTEMPTS = 3;

const FORMER: Readonly<Record<DeclaredThing['kind'], (id: string) => Item>> = {
  client: formerClientItem,
  'api-key': formerKeyItem,
  'public-key': formerPublicKeyItem,
  person: formerPersonItem,
};

/**
 * The most changes in one transaction. During a transaction no other process can write: servers wait for two seconds
 * and then answer 503. With 10,000 people on a busy machine, servers waited for 1.4 s with slices of 1000, and for 4.5
 * s without.
 */
const SLICE = 500;

/**
 * Brings the store into the state that a file declares; resolves to the changes. All entries are checked before the
 * first change, so that an impossible entry changes nothing. Each slice of changes is one transaction, if the store has
 * transactions. After an interruption another run makes the remaining changes. Throws `Failure`, `PeopleError`,
 * `Conflict`, `Missing` and `InputError`.
 */
export async function applyDeclared(
  house: House,
  wanted: Wanted,
  options: ApplyOptions,
): Promise<readonly Change[]> {
  const planned = await plan(house, await itemsOf(house, wanted, options), options);
  if (options.dryRun) return changesOf(planned.map(({ step }) => step));
  const done: Step[] = [];
  for (const slice of slicesOf(planned)) {
    if (done.length > 0) options.tell?.(done.length);
    done.push(
      ...(await house.stores.together(async (stores) => {
        const held = { ...house, stores, recorder: house.recorder.of(stores) };
        const steps: Step[] = [];
        for (const { item, step } of await plan(held, slice, options)) {
          steps.push(...(await settle(held, item, step)));
        }
        if (!options.noAdministrator) await demandAdministratorAfter(held, steps);
        return steps;
      })),
    );
  }
  for (const { afterwards } of done) await afterwards?.(house);
  return changesOf(done);
}

/**
 * Groups changes into slices. If there are several slices, new administrators come first, so that no slice leaves the
 * store without an administrator.
 */
function slicesOf(planned: readonly Planned[]): readonly (readonly Item[])[] {
  const isAdministrator = ({ step: { administrator } }: Planned) => administrator?.after === true;
  const ordered =
    planned.length <= SLICE
      ? planned
      : [...planned.filter(isAdministrator), ...planned.filter((one) => !isAdministrator(one))];
  return Array.from({ length: Math.ceil(ordered.length / SLICE) }, (_, n) =>
    ordered.slice(n * SLICE, (n + 1) * SLICE).map(({ item }) => item),
  );
}

interface Planned {
  readonly item: Item;
  readonly step: Step;
}

async function plan(
  house: House,
  items: readonly Item[],
  options: ApplyOptions,
): Promise<Planned[]> {
  const planned = await planItems(house, items);
  if (!options.noAdministrator) await demandAdministrator(house, planned);
  return planned;
}

/** Plans every item. If items are impossible, it throws only after the last item, with all reasons. */
async function planItems(house: House, items: readonly Item[]): Promise<Planned[]> {
  const planned: Planned[] = [];
  const refused: Error[] = [];
  for (const item of items) {
    try {
      const step = await item.plan(house);
      if (step !== undefined) planned.push({ item, step });
    } catch (error) {
      if (!REFUSALS.some((kind) => error instanceof kind)) throw error;
      refused.push(error as Error);
    }
  }
  if (refused.length > 1) {
    throw new Failure(...firstMistakes(refused.map(({ message }) => message)));
  }
  if (refused[0]) throw refused[0];
  return planned;
}

/** Errors that may also mean that another user changed the same entry first. */
const RACES = [Conflict, PeopleError, Missing];
const REFUSALS = [Failure, ...RACES];

/** Resolves to the entries of the file in their order, and then to the former entries that the file no longer has. */
async function itemsOf(
  { stores }: House,
  wanted: Wanted,
  { prune, former }: ApplyOptions,
): Promise<readonly Item[]> {
  const { people, clients, documents, keys, publicKeys } = wanted;
  const brought = new Set(
    people.flatMap(({ id, name }) => [`name ${name}`, ...(id === undefined ? [] : [`id ${id}`])]),
  );
  const items = [
    ...people.map((person) => personItem(person, former)),
    ...clients.map(clientItem),
    ...documents.map(documentItem),
    ...keys.map(keyItem),
    ...publicKeys.map((key) => publicKeyItem(key, brought)),
  ];
  return prune ? [...items, ...(await goneItems(stores, wanted))] : items;
}

/** Resolves to the removals that `prune` would make: of entries that `apply` made and the file no longer has. */
export async function leftOver(house: House, wanted: Wanted): Promise<readonly Change[]> {
  const planned = await planItems(house, await goneItems(house.stores, wanted));
  return changesOf(planned.map(({ step }) => step));
}

/** Resolves to the names of people in the file who are disabled in the store, though the file does not disable them. */
export async function keptOut({ stores }: House, { people }: Wanted): Promise<readonly string[]> {
  const names: string[] = [];
  for (const { name, disabled } of people) {
    if (disabled !== undefined) continue;
    if ((await stores.people.getByName(name))?.disabled) names.push(name);
  }
  return names;
}

/**
 * Resolves to notes on clients of the file: on missing PKCE, and on rules for people who are neither in the file nor in the
 * store.
 */
export async function notesOfClients({ stores }: House, { people, clients }: Wanted) {
  const declared = new Set(people.map(({ name }) => name));
  const found: { readonly client: string; readonly note: string }[] = [];
  for (const client of clients) {
    const missing = await namesOfNobody(client, stores.people);
    // A dry run adds no person.
    const names = missing.filter((name) => !declared.has(name));
    const notes = [...noteOnPkce(client), ...(names.length > 0 ? [noteOnNames(names)] : [])];
    found.push(...notes.map((note) => ({ client: client.client_id, note })));
  }
  return found;
}

async function goneItems(
  stores: House['stores'],
  { people, clients, documents, keys, publicKeys }: Wanted,
): Promise<readonly Item[]> {
  const here = new Set<string>();
  for (const { name, id: declared } of people) {
    const id = (await stores.people.getByName(name))?.id ?? declared;
    if (id !== undefined) here.add(`person ${id}`);
  }
  for (const { client_id: id } of clients) here.add(`client ${id}`);
  for (const url of documents) here.add(`client ${url}`);
  for (const { id } of keys) here.add(`api-key ${id}`);
  for (const { id } of publicKeys) here.add(`public-key ${id}`);
  const gone = (await stores.declared.list()).filter(({ kind, id }) => !here.has(`${kind} ${id}`));
  return gone.map(({ kind, id }) => FORMER[kind](id));
}

/** Does the step of an item. If another user changes the same entry meanwhile, the step is planned again. */
async function settle(house: House, item: Item, first: Step): Promise<readonly Step[]> {
  let step: Step | undefined = first;
  for (let attempt = 1; step !== undefined; attempt += 1) {
    try {
      await step.run(house);
      return [step];
    } catch (error) {
      const isRace = RACES.some((kind) => error instanceof kind);
      if (!isRace || attempt === ATTEMPTS) throw error;
    }
    step = await item.plan(house);
  }
  return [];
}

/** Throws `Failure` if the changes would remove the last administrator. */
async function demandAdministrator(
  { stores: { people } }: House,
  planned: readonly Planned[],
): Promise<void> {
  const after = new Map(
    planned.flatMap(({ step: { administrator: one } }) => (one ? [[one.id, one.after]] : [])),
  );
  if (![...after.values()].includes(false) || [...after.values()].includes(true)) return;
  for await (const slice of people.list()) {
    if (slice.some(({ id, admin, disabled }) => admin && !disabled && !after.has(id))) return;
  }
  throw new Failure(NO_ADMINISTRATOR);
}

/**
 * Throws `Failure` if no administrator is left after the changes, within their transaction. With PostgreSQL another
 * writer may have removed the administrator that `demandAdministrator` found. Changes that make an administrator none
 * wait for one another, so the last of them sees all others.
 */
async function demandAdministratorAfter(house: House, steps: readonly Step[]): Promise<void> {
  if (!steps.some(({ administrator }) => administrator?.after === false)) return;
  const { people } = house.stores;
  let page: readonly PersonRecord[] = [];
  do {
    page = await people.page({ list: { state: 'admin' }, after: page.at(-1)?.name, limit: 100 });
    if (page.some(({ disabled }) => !disabled)) return;
  } while (page.length > 0);
  throw new Failure(NO_ADMINISTRATOR);
}

const NO_ADMINISTRATOR =
  'nobody would be an administrator any more: declare one with "admin": true, or give --no-administrator';

const changesOf = (steps: readonly Step[]): readonly Change[] =>
  steps.flatMap(({ change }) => (change ? [change] : []));
