import * as z from 'zod';
import { fieldName } from '#shared/base/members.ts';

/** The facts about an authenticated client that an application can be told. */
const TOLD = ['subject', 'name', 'email', 'groups', 'client', 'scope', 'scheme'] as const;

export type Told = (typeof TOLD)[number];

/** The names of the header fields to write, with the fact that each has as its value. */
export type ToldFields = Readonly<Record<string, Told>>;

/** Facts that only the directory of people has, in every scheme. */
const OF_DIRECTORY: ReadonlySet<Told> = new Set(['name', 'email', 'groups']);

export const asksDirectory = (fields: ToldFields): boolean =>
  Object.values(fields).some((told) => OF_DIRECTORY.has(told));

/** Sets of header fields that well-known proxies write, and that applications therefore read. */
const PRESETS = {
  'remote-user': { 'Remote-User': 'name', 'Remote-Email': 'email', 'Remote-Groups': 'groups' },
  'oauth2-proxy': {
    'X-Forwarded-User': 'subject',
    'X-Forwarded-Preferred-Username': 'name',
    'X-Forwarded-Email': 'email',
    'X-Forwarded-Groups': 'groups',
  },
  grafana: { 'X-WEBAUTH-USER': 'name', 'X-WEBAUTH-EMAIL': 'email', 'X-WEBAUTH-GROUPS': 'groups' },
} as const satisfies Readonly<Record<string, ToldFields>>;

const presets = z.enum(Object.keys(PRESETS) as [keyof typeof PRESETS, ...(keyof typeof PRESETS)[]]);

/** The member `identity` of a space. */
export const identitySchema = z.strictObject({
  fields: z
    .union([presets, z.record(fieldName, z.enum(TOLD))])
    .transform((fields): ToldFields => (typeof fields === 'string' ? PRESETS[fields] : fields))
    .describe(
      'Request fields that tell the application who the caller is: a preset (`remote-user`, `oauth2-proxy`, `grafana`), or the content of each field by name. Clients cannot send these fields.',
    ),
});
