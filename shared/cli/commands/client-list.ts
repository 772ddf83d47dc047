import { listClients } from '#shared/operations/clients/client-list.ts';
import type { ShownClient } from '#shared/operations/clients/client-shown.ts';
import { shortNames } from '#shared/operations/clients/grant-types.ts';
import { table } from '../lines/table.ts';
import { listCommandOf } from '../stores/of-operation.ts';

export const clientList = listCommandOf(listClients, {
  details: ['client show CLIENT prints its redirect URIs, its origins and everything else.'],
  nothing: () => 'There is no client yet.',
  lines: (items: readonly ShownClient[], widths) => table(HEADINGS, items.map(row), widths),
});

const HEADINGS = ['id', 'name', 'authentication', 'grants', 'scope', ''];

const row = (client: ShownClient) => [
  client.client_id,
  client.client_name,
  client.gnap ? 'GNAP' : ofOAuth(client),
  shortNames(client.grant_types),
  client.scope,
  [
    ...(client.first_party ? ['(first party)'] : []),
    ...(client.demo ? ['(demo: refused in production)'] : []),
  ].join(' '),
];

const ofOAuth = ({ token_endpoint_auth_method: method }: ShownClient) =>
  method === 'none' ? 'public' : method;
