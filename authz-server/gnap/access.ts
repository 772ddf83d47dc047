import { isDeepStrictEqual } from 'node:util';
import type { SpaceConfig } from '#shared/config/schema.ts';
import { parseScope } from '#shared/jose/scope.ts';
import type { ScopeItem } from '#shared/people/access/consents.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { spaceScopes } from '../resources/resource-indicators.ts';
import { GnapError } from './gnap-error.ts';
import type { AccessObject, AskedAccess } from './grant-request.ts';

/** A right of a client, with the scopes that each action or the whole reference needs. */
interface Right {
  readonly asked: AskedAccess;
  readonly needs: ReadonlyMap<string, readonly string[]>;
}

/** The rights of one token, which are all in one space: a token has one audience. */
export interface Access {
  readonly space: SpaceConfig;
  readonly rights: readonly Right[];
}

/** The access that was granted. */
export interface GrantedAccess {
  readonly access: readonly AskedAccess[];
  readonly scopes: readonly string[];
}

type GnapClient = Pick<ClientRecord, 'scope' | 'resources'>;

/** The key for the scopes that a reference as a whole needs. */
const WHOLE = '';

/**
 * Finds the first space in which a client may have all the access that it asks for in one token. Throws `GnapError` if
 * there is none.
 */
export function resolveAccess(
  spaces: readonly SpaceConfig[],
  client: GnapClient,
  asked: readonly AskedAccess[],
): Access {
  const open = spaces.filter(({ url }) => client.resources?.includes(url) ?? true);
  const refusals: string[] = [];
  for (const space of open) {
    const rights = asked.map((one) => rightIn(space, client, one));
    const refusal = rights.find((right) => typeof right === 'string');
    if (refusal === undefined) return { space, rights: rights as Right[] };
    refusals.push(`at ${space.url} ${refusal}`);
  }
  const why = refusals.slice(0, NAMED).join('; ') || 'this client may have access to nothing';
  throw new GnapError('invalid_request', `access: a token is for one space: ${why}`);
}

/** The most spaces whose refusal the client is told. */
const NAMED = 3;

/** Returns the right, or the reason why the client cannot have it in this space. */
function rightIn(space: SpaceConfig, { scope }: GnapClient, asked: AskedAccess): Right | string {
  const needs = typeof asked === 'string' ? needsOfReference(space, asked) : needsOf(space, asked);
  if (typeof needs === 'string') return needs;
  const all = [...needs.values()].flat();
  const known = spaceScopes(space);
  const unknown = all.find((one) => !known.has(one));
  if (unknown !== undefined) return `there is no scope ${unknown}`;
  const allowed = parseScope(scope);
  const refused = all.find((one) => !allowed.has(one));
  return refused === undefined ? { asked, needs } : `this client may not ask for ${refused}`;
}

/** A reference consists of scopes, separated by spaces; the URL of the space may come first (RFC 9635 section 9.1). */
function needsOfReference({ url }: SpaceConfig, reference: string): Right['needs'] | string {
  const parts = reference.split(' ').filter((part) => part !== '');
  if (parts[0] === url) parts.shift();
  if (parts.length === 0) return 'a reference names a scope';
  return new Map([[WHOLE, parts]]);
}

/** Members of access that only the application of a space can enforce. */
const MEMBERS = ['locations', 'datatypes', 'identifier', 'privileges'] as const;

/**
 * Returns the members that restrict a right to a part of its scopes. The space itself as the location is no
 * restriction.
 */
function restrictionsOf(asked: AskedAccess, url: string): readonly (typeof MEMBERS)[number][] {
  if (typeof asked === 'string') return [];
  const { locations } = asked;
  const isWhole = locations?.length === 1 && locations[0] === url;
  return MEMBERS.filter((name) => asked[name] !== undefined && !(name === 'locations' && isWhole));
}

/** Whether the rights consist of scopes only, so that a decision about the scopes also decides about the rights. */
export const isPlain = ({ space, rights }: Access): boolean =>
  rights.every(({ asked }) => isFree(asked, space.url));

function needsOf(space: SpaceConfig, asked: AccessObject): Right['needs'] | string {
  const { type, actions } = asked;
  const { url, gnap } = space;
  const unenforced = restrictionsOf(asked, url).find((name) => !gnap.enforces.includes(name));
  if (unenforced !== undefined) return `nobody enforces ${unenforced}`;
  const known = new Map(Object.entries(gnap.access[type] ?? {}));
  const needs = new Map<string, readonly string[]>();
  for (const action of actions) {
    const scopes = type === url ? [action] : known.get(action);
    if (scopes === undefined) return `the type ${type} with the action ${action} is not known`;
    needs.set(action, scopes);
  }
  return needs;
}

/** Returns the items that a person is asked to allow. */
export function itemsOf({ space, rights }: Access): readonly ScopeItem[] {
  const scopes = new Set(rights.flatMap(({ needs }) => [...needs.values()].flat()));
  return [...scopes].map((scope) => ({ scope, resource: space.url }));
}

/** A right that a person has allowed. */
export interface AllowedRight {
  readonly url: string;
  readonly access: AskedAccess;
  readonly scopes: readonly string[];
}

/** Returns the rights of a person who allows these scopes. */
export const allowedRights = (
  { space: { url }, rights }: Access,
  allowed: ReadonlySet<string>,
): readonly AllowedRight[] =>
  rights.flatMap((right) =>
    keptOf(right, url, (scopes) => scopes.every((one) => allowed.has(one))),
  );

/** The person's decisions about a client up to now. */
export interface Allowed {
  readonly scopes: ReadonlySet<string>;
  readonly rights: readonly AllowedRight[];
}

/**
 * Returns the part of the access that a person has allowed: its scopes without a restriction, or actions with the same
 * restriction.
 */
export function grantedOf({ space: { url }, rights }: Access, { scopes, rights: all }: Allowed) {
  const here = all.filter((one) => one.url === url);
  const free = new Set(
    here.filter(({ access }) => isFree(access, url)).flatMap((one) => one.scopes),
  );
  const kept = rights.flatMap((right) => {
    const same = here.filter(({ access }) => isAlike(access, right.asked));
    return keptOf(
      right,
      url,
      (needed, action) =>
        needed.every((scope) => scopes.has(scope)) &&
        (needed.every((scope) => free.has(scope)) ||
          same.some(({ access }) => typeof access === 'object' && access.actions.includes(action))),
    );
  });
  return {
    access: kept.map(({ access }) => access),
    scopes: [...new Set(kept.flatMap((one) => one.scopes))],
  } satisfies GrantedAccess;
}

/** Returns the whole access, for a client that acts for itself. */
export const wholeOf = (access: Access): GrantedAccess => {
  const scopes = new Set(itemsOf(access).map(({ scope }) => scope));
  const rights = allowedRights(access, scopes);
  return grantedOf(access, { scopes, rights });
};

/** Returns the right with only the actions, or the scopes of a reference, that pass. */
function keptOf(
  { asked, needs }: Right,
  url: string,
  passes: (scopes: readonly string[], action: string) => boolean,
): readonly AllowedRight[] {
  if (typeof asked === 'string') {
    const all = needs.get(WHOLE) ?? [];
    const scopes = all.filter((scope) => passes([scope], WHOLE));
    const prefix = asked.split(' ', 1)[0] === url ? [url] : [];
    const access = scopes.length === all.length ? asked : [...prefix, ...scopes].join(' ');
    return scopes.length === 0 ? [] : [{ url, access, scopes }];
  }
  const actions = asked.actions.filter((action) => passes(needs.get(action) ?? [], action));
  const scopes = actions.flatMap((action) => needs.get(action) ?? []);
  return actions.length === 0 ? [] : [{ url, access: { ...asked, actions }, scopes }];
}

const isFree = (access: AskedAccess, url: string) => restrictionsOf(access, url).length === 0;

/** Whether two objects are equal except for their actions. */
function isAlike(granted: AskedAccess, asked: AskedAccess): boolean {
  if (typeof granted === 'string' || typeof asked === 'string') return false;
  const { actions: _some, ...restrictions } = granted;
  const { actions: _others, ...others } = asked;
  return isDeepStrictEqual(restrictions, others);
}
