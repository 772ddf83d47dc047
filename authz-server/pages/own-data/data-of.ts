import type { Listed } from '#shared/audit/list.ts';
import { listEvents } from '#shared/audit/list.ts';
import { ownTrees } from '#shared/operations/people/own-trees.ts';
import { listConsents } from '#shared/people/access/consents.ts';
import { listAccess } from '#shared/people/access/grants.ts';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { createAddressLinks } from '#shared/people/address-links.ts';
import type { PagesServer } from '../../base/server.ts';
import { findRights } from '../../gnap/rights.ts';

/** The number of events that are read at once. */
const PAGE = 200;

type Read = (server: PagesServer, id: string) => Promise<unknown>;

/**
 * The members of the file besides the events, in its order. No member has a secret: no hash or verifier of a password,
 * no secret of a second factor, and no URL that lets its holder in.
 */
const MEMBERS: Readonly<Record<string, Read>> = {
  person: personOf,
  verifiers: async ({ stores }, id) =>
    ((await stores.people.getWhole(id))?.verifiers ?? []).map(({ kind, realm }) => ({
      kind,
      realm,
    })),
  generation: ({ stores }, id) => stores.revocations.generation('person', id),
  passkeys: async ({ stores }, id) => (await stores.passkeys.of(id)).map(own),
  second_factor: secondFactorOf,
  address_to_confirm: addressOf,
  public_keys: async ({ stores }, id) =>
    (await stores.publicKeys.of({ kind: 'person', id })).map(own),
  sign_ins: async (server, id) => (await listSignIns(server, id)).map(own),
  grants: grantsOf,
  consents: async (server, id) => (await listConsents(server, id)).map(own),
  push_subscriptions: async ({ stores }, id) =>
    (await stores.push.subscriptionsOf(id)).map(({ created_at, key, maker }) => ({
      created_at,
      client_id: maker.client_id,
      key,
    })),
  messages: async ({ stores }, id) => (await stores.outbox.of(id)).map(own),
  applications_to_tell: ({ stores }, id) => stores.logouts.waiting(id),
  documents: documentsOf,
};

/** The names of the members of the file. */
export const DATA_MEMBERS: readonly string[] = [...Object.keys(MEMBERS), 'events'];

/**
 * Reads what the server keeps about a person, as the text of one JSON object in parts. The first part has every member
 * with a bounded number of rows. Each other part is a page of events, which is read when the part before was taken.
 */
export async function dataOf(server: PagesServer, id: string): Promise<AsyncIterable<string>> {
  const values = Object.entries(MEMBERS).map(async ([name, read]): Promise<[string, unknown]> => [
    name,
    await read(server, id),
  ]);
  const about = {
    issuer: server.config.issuer,
    at: new Date(server.clock.now()).toISOString(),
    ...Object.fromEntries(await Promise.all(values)),
  };
  return partsOf(JSON.stringify(about, null, 2), eventPages(server, id));
}

async function* partsOf(about: string, pages: AsyncIterable<readonly object[]>) {
  yield `${about.slice(0, -2)},\n  "events": [`;
  let separator = '\n';
  for await (const page of pages) {
    for (const event of page) {
      yield `${separator}    ${JSON.stringify(event)}`;
      separator = ',\n';
    }
  }
  yield '\n  ]\n}\n';
}

/** A record of the person, without the identifier of the person. */
const own = (record: object) => without(record, 'accountId', 'owner');

const without = (record: object, ...names: readonly string[]) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));

async function personOf({ stores }: PagesServer, id: string) {
  const record = await stores.people.get(id);
  if (record === undefined) return undefined;
  const has_password = record.password_hash !== undefined;
  const hidden = ['password_hash', 'verifier_set', 'aliases', 'search_keys'];
  return { ...without(record, ...hidden), has_password };
}

async function secondFactorOf({ stores }: PagesServer, id: string) {
  const factor = await stores.secondFactors.get(id);
  if (factor === undefined) return undefined;
  const { created_at, used_at, recovery } = factor;
  return {
    created_at,
    ...(used_at !== undefined && { used_at }),
    recovery_codes_left: recovery.length,
  };
}

/** Returns the grants, each with the rights that the person allowed by GNAP. */
async function grantsOf(server: PagesServer, id: string) {
  const grants = (await listAccess(server, id)).map(async (grant) => {
    const { rights } = await findRights(server, grant.grantId);
    return Object.assign(own(grant), rights.length > 0 && { rights });
  });
  return Promise.all(grants);
}

/** Returns the new address for which the person has a link that waits, if any. */
async function addressOf(server: PagesServer, id: string) {
  return (await createAddressLinks(server).waiting(id))?.address;
}

/** Returns the addresses of the spaces in which the person has documents that belong only to them. */
async function documentsOf({ stores, config }: PagesServer, id: string) {
  const trees = ownTrees(config.spaces, id).map(async ({ url, tree }) => {
    const { members = [] } = (await stores.trees.list(tree, '', '', 1)) ?? {};
    return members.length > 0 ? [url] : [];
  });
  return (await Promise.all(trees)).flat();
}

async function* eventPages(
  { stores }: PagesServer,
  person: string,
): AsyncGenerator<readonly object[]> {
  let after: number | undefined;
  do {
    const page = await listEvents(stores.audit, { person }, { after, limit: PAGE });
    yield page.events.map((event) => without(shown(event, person), 'seq'));
    after = page.next;
  } while (after !== undefined);
}

/**
 * An event as the person may read it: what they did to another person without the other members, and what another
 * person did to them without the identifier and the address of that person.
 */
function shown(event: Listed, person: string): object {
  const { time, kind, who, how, from } = event;
  if (!('person' in event) || event.person !== person) {
    return isOwn(event, person)
      ? { time, kind, who, how, from, ...clientOf(event) }
      : { time, kind };
  }
  if (typeof who === 'string' || 'client' in who || who.person === person) return event;
  return { ...event, who: 'administrator', from: undefined };
}

const isOwn = ({ who }: Pick<Listed, 'who'>, person: string) =>
  typeof who === 'object' && 'person' in who && who.person === person;

const clientOf = (event: object) => ('client' in event ? { client: event.client } : {});
