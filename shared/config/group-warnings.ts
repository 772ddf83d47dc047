import type { People } from '#shared/stores/people/people.ts';
import { groupsOf } from '#shared/people/named-by-client.ts';
import type { ClientRecord, Clients } from '#shared/stores/oauth/clients.ts';
import type { Config } from './schema.ts';
import { warn, type Warning } from './warning-texts.ts';

/**
 * Returns the settings, and the rules of clients, that name empty groups. It reads people until each group has at least
 * one member.
 */
export async function groupWarnings(
  config: Pick<Config, 'people' | 'spaces'>,
  {
    people,
    clients,
  }: { readonly people: Pick<People, 'list'>; readonly clients: Pick<Clients, 'list'> },
): Promise<readonly Warning[]> {
  const named = [...namedGroups(config), ...(await clients.list()).flatMap(namedByClient)];
  const empty = new Set(named.map(({ group }) => group));
  if (empty.size === 0) return [];
  for await (const slice of people.list()) {
    for (const { profile } of slice) for (const group of profile?.groups ?? []) empty.delete(group);
    if (empty.size === 0) break;
  }
  return named
    .filter(({ group }) => empty.has(group))
    .map(({ path, group }) =>
      Object.assign({ path }, warn('empty-group', { group: JSON.stringify(group) })),
    );
}

/** Returns every group that a setting names, and the path of that setting. */
function namedGroups({ people: { secondFactor }, spaces }: Pick<Config, 'people' | 'spaces'>) {
  const required = typeof secondFactor === 'string' ? [] : secondFactor.required;
  return [
    ...required.map((group, index) => ({ path: `people.secondFactor.required.${index}`, group })),
    ...spaces.flatMap(({ allow }, space) =>
      (allow?.groups ?? []).map((group, index) => ({
        path: `spaces.${space}.allow.groups.${index}`,
        group,
      })),
    ),
  ];
}

const namedByClient = (client: ClientRecord) =>
  groupsOf(client).map(({ option, group }) => ({
    path: `client ${client.client_id} ${option}`,
    group,
  }));
