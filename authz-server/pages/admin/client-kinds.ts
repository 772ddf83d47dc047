import type { Config } from '#shared/config/schema.ts';
import {
  ADMIN_READ_SCOPE,
  ADMIN_SCOPE,
  SCOPES_OF_MACHINES,
  type TokenSpace,
  tokenSpaces,
} from '#shared/config/token-spaces.ts';
import { scopesOfSpaces } from '#shared/operations/clients/client-scopes.ts';
import type { Operation } from '#shared/operations/operation.ts';
import type { Texts } from '#shared/operations/texts.ts';
import type { Language } from '#shared/pages/language.ts';
import { CLAIMS_OF_SCOPES } from '#shared/people/claims.ts';
import type { AdminField, AdminLink, AdminOperationProps } from '../frame/admin-view.ts';
import { textsOf } from '../texts/index.ts';
import { pageOf } from './addresses.ts';
import { type Item, textIn } from './tell.ts';

/** The form of a new client by its kind, and what its developer pastes. */
interface ClientKind {
  /** Members that the kind determines, as the form sends them: several values are several lines. */
  readonly preset: Readonly<Record<string, string>>;
  /** The fields that the form shows. */
  readonly asks: readonly string[];
  /** The value of a field at first. */
  readonly proposes?: Readonly<Record<string, string>>;
  /** Lines for the developer, with the values of the new client. */
  lines(client: Registered): string;
}

interface Registered {
  readonly issuer: string;
  readonly id: string;
  readonly secret: string;
  readonly redirect: string;
  readonly scope: string;
  /** The address of a space that accepts tokens with one of the scopes, and its scopes among them. */
  readonly space: string;
  readonly spaceScope: string;
}

const CODE = 'authorization_code\nrefresh_token';
const OF_PEOPLE = ['client_name', 'redirect_uris', 'scope'];
/** Fields that most clients leave empty. */
const UNUSUAL = ['start_url', 'post_logout_redirect_uris', 'backchannel_logout_uri'];

/** A value in a shell, between single quotes. */
const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

export const CLIENT_KINDS = {
  web: {
    preset: { grant_types: CODE },
    asks: [...OF_PEOPLE, ...UNUSUAL],
    lines: ({ issuer, id, secret, redirect, scope }) =>
      `ISSUER_BASE_URL=${issuer}
BASE_URL=${URL.parse(redirect)?.origin ?? redirect}
CLIENT_ID=${id}
CLIENT_SECRET=${secret}
REDIRECT_URI=${redirect}
SCOPE="${scope}"`,
  },
  browser: {
    preset: { grant_types: CODE, public: 'true' },
    asks: [...OF_PEOPLE, 'start_url', 'post_logout_redirect_uris'],
    lines: ({ issuer, id, redirect, scope }) =>
      `import { UserManager } from 'oidc-client-ts';

export const people = new UserManager(${inLines({
        authority: issuer,
        client_id: id,
        redirect_uri: redirect,
        scope,
        // Core section 11: without the consent of this request there is no access beyond the session.
        ...(scope.split(' ').includes('offline_access') && { prompt: 'consent' }),
      })});`,
  },
  native: {
    preset: { grant_types: CODE, public: 'true', native: 'true' },
    asks: OF_PEOPLE,
    lines: ({ issuer, id, redirect, scope }) =>
      inLines({ issuer, clientId: id, redirectUrl: redirect, scopes: scope.split(' ') }),
  },
  machine: {
    preset: { grant_types: 'client_credentials' },
    asks: ['client_name', 'scope'],
    lines: ({ issuer, id, secret, space, spaceScope }) =>
      `curl ${quoted(`${issuer}/token`)} -u ${quoted(`${id}:${secret}`)} \\
  -d grant_type=client_credentials --data-urlencode ${quoted(`resource=${space}`)} \\
  --data-urlencode ${quoted(`scope=${spaceScope}`)}`,
  },
  device: {
    preset: { grant_types: 'device_code\nrefresh_token', public: 'true' },
    asks: ['client_name', 'scope'],
    lines: ({ issuer, id, scope }) =>
      `curl ${quoted(`${issuer}/device/auth`)} -d client_id=${id} \\
  --data-urlencode ${quoted(`scope=${scope}`)}`,
  },
  mcp: {
    preset: { grant_types: CODE, public: 'true', native: 'true' },
    asks: OF_PEOPLE,
    proposes: { redirect_uris: 'http://localhost:3334/oauth/callback' },
    lines: ({ id, space, redirect }) =>
      `npx mcp-remote ${quoted(space)} ${URL.parse(redirect)?.port ?? ''} \\
  --static-oauth-client-info ${quoted(JSON.stringify({ client_id: id }))}`,
  },
} as const satisfies Readonly<Record<string, ClientKind>>;

const inLines = (value: object) => JSON.stringify(value, null, 2);

export type ClientKindName = keyof typeof CLIENT_KINDS;

/**
 * Takes the kind of a new client out of a form or query, where it is beside the members of the operation, and joins the
 * scopes that the form of a kind sends one by one. Undefined: the form of all members.
 */
export function takeKind(
  { name }: Pick<Operation, 'name'>,
  given: URLSearchParams,
): ClientKindName | undefined {
  if (name !== 'client add') return undefined;
  const kind = given.get('kind') ?? '';
  given.delete('kind');
  if (!Object.hasOwn(CLIENT_KINDS, kind)) return undefined;
  const scope = given.getAll('scope').join(' ');
  if (scope !== '') given.set('scope', scope);
  return kind as ClientKindName;
}

/** Returns the links to the form of each kind. */
export const linksToKinds = (language: Language): readonly AdminLink[] => {
  const texts = textsOf(language).admin.kinds;
  return (Object.keys(CLIENT_KINDS) as ClientKindName[]).map((kind) => ({
    href: pageOf({ name: 'client add' }, { kind }),
    text: texts[kind].title,
    does: texts[kind].text,
  }));
};

/** Returns the form of a kind: its fields, where scopes are boxes to tick, and what it sends besides them. */
export function formOfKind(
  kind: ClientKindName,
  fields: readonly AdminField[],
  config: Config,
): Pick<AdminOperationProps, 'fields' | 'hidden'> {
  const { asks, preset, proposes = {} }: ClientKind = CLIENT_KINDS[kind];
  const shown = asks
    .flatMap((name) => fields.find((field) => field.name === name) ?? [])
    .map((field) => {
      if (field.name === 'scope') return scopeBoxes(field, preset, config);
      const proposed = field.values.length === 0 ? proposes[field.name] : undefined;
      return Object.assign(
        {},
        field,
        !UNUSUAL.includes(field.name) && { isUsual: true as const },
        proposed !== undefined && { values: [proposed] },
      );
    });
  return { fields: shown, hidden: { ...preset, kind } };
}

/** Returns the field of scopes, which offers those of spaces, and for people those of OpenID Connect. */
function scopeBoxes(
  field: AdminField,
  { grant_types = '' }: ClientKind['preset'],
  config: Config,
): AdminField {
  const isMachine = grant_types === 'client_credentials';
  const ofPeople = ['openid', ...Object.keys(CLAIMS_OF_SCOPES), 'offline_access'];
  const ofSpaces = scopesOfSpaces(config).filter(
    (scope) =>
      ![ADMIN_SCOPE, ADMIN_READ_SCOPE].includes(scope) &&
      (isMachine || !SCOPES_OF_MACHINES.has(scope)),
  );
  const known = [...new Set([...(isMachine ? [] : ofPeople), ...ofSpaces])];
  const given = field.values.flatMap((value) => value.split(' '));
  const { hint: _, ...rest } = field;
  return {
    ...rest,
    kind: 'choices',
    values: given.length === 0 && !isMachine ? ['openid'] : given,
    options: known.map((value) => ({ value, label: value })),
  };
}

/** Returns what the developer of a new client pastes. `told`: the result of the operation. */
export function linesOfKind(
  kind: ClientKindName,
  told: Item,
  texts: Texts,
  config: Config,
): string {
  const given = (name: string) => texts.get(name)?.[0] ?? '';
  const scopes = new Set(given('scope').split(' '));
  const knownAt = (one: TokenSpace) =>
    scopes.intersection(new Set(Object.values(one.scopes).flat()));
  const space = tokenSpaces(config).find((one) => knownAt(one).size > 0);
  return CLIENT_KINDS[kind].lines({
    issuer: config.issuer,
    id: textIn(told, 'client_id'),
    secret: textIn(told, 'client_secret'),
    redirect: given('redirect_uris'),
    scope: given('scope'),
    space: space?.url ?? config.resource,
    spaceScope: space ? [...knownAt(space)].join(' ') : '',
  });
}
