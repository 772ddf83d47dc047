import type { Language } from '#shared/pages/language.ts';
import type { AdminField, AdminPart } from '../frame/admin-view.ts';
import { textsOf } from '../texts/index.ts';

type PartName = keyof ReturnType<typeof textsOf>['admin']['parts'];

/** Settings of a client that most clients do not need. */
const OF_CLIENTS = {
  people: [
    'post_logout_redirect_uris',
    'backchannel_logout_uri',
    'start_url',
    'logo_uri',
    'native',
    'id_token_signed_response_alg',
    'pkce',
    'profile',
    'first_party',
    'allow_groups',
    'allow_people',
    'minimum_acr',
  ],
  proof: ['token_endpoint_auth_method', 'jwks'],
  access: ['default_scope', 'resources', 'introspects', 'origins', 'admin', 'claim_rules'],
} as const satisfies Partial<Record<PartName, readonly string[]>>;

/** The parts of long forms, by operation: the fields below a heading that is closed at first. All others come before. */
const PARTS: Readonly<Record<string, Partial<Record<PartName, readonly string[]>>>> = {
  'client add': {
    document: ['document'],
    ...OF_CLIENTS,
    gnap: ['gnap_key', 'gnap_bearer'],
  },
  'client set': { ...OF_CLIENTS, clear: ['without'] },
};

/** Fields that only a client by a document, or by no browser, can do without. */
const USUAL: ReadonlySet<string> = new Set([
  'client add client_name',
  'client add grant_types',
  'client add redirect_uris',
]);

/** Returns the fields that everybody sees, and the others by part. A part is open if somebody has filled in something of it. */
export function inParts(
  name: string,
  fields: readonly AdminField[],
  language: Language,
): { readonly fields: readonly AdminField[]; readonly parts: readonly AdminPart[] } {
  const { parts: titles } = textsOf(language).admin;
  const table = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined;
  const entries = Object.entries(table ?? {}) as [PartName, readonly string[]][];
  const later = new Set(entries.flatMap(([, names]) => names));
  return {
    fields: fields
      .filter((field) => !later.has(field.name))
      .map((field) =>
        Object.assign({}, field, USUAL.has(`${name} ${field.name}`) && { isUsual: true as const }),
      ),
    parts: entries.map(([part, names]) => {
      const own = fields.filter((field) => names.includes(field.name));
      return { title: titles[part], fields: own, isOpen: own.some(isTouched) };
    }),
  };
}

/** Whether something is wrong with it, or says something else than the choice that is there at first. */
const isTouched = ({ kind, values, options, problem }: AdminField): boolean =>
  problem !== undefined ||
  (kind === 'choice' ? (values[0] ?? options[0]?.value) !== options[0]?.value : values.length > 0);
