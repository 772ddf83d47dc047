import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { shortNames } from '../clients/client-grants.ts';
import { shownClient } from '../clients/client-lines.ts';
import type { Command } from '../arguments/command.ts';
import { table } from '../lines/table.ts';
import { withStores } from '../stores/with-stores.ts';

export const clientList: Command = {
  name: 'client list',
  store: 'opens',
  summary: 'list the registered clients',
  run: (_, shell) =>
    withStores(shell, async ({ clients }) => {
      const list = await clients.list();
      return {
        json: list.map(shownClient),
        get lines() {
          return list.length === 0 ? ['There is no client yet.'] : table(HEADINGS, list.map(row));
        },
      };
    }),
};

const HEADINGS = [
  'id',
  'name',
  'authentication',
  'grants',
  'scope',
  'redirect URIs',
  'origins',
  '',
  '',
];

const row = (client: ClientRecord) => [
  client.client_id,
  client.client_name,
  client.gnap ? 'GNAP' : ofOAuth(client),
  shortNames(client.grant_types),
  client.scope,
  (client.redirect_uris ?? []).join(' '),
  (client.origins ?? []).join(' '),
  client.first_party ? '(first party)' : '',
  client.demo ? '(demo: refused in production)' : '',
];

const ofOAuth = ({ token_endpoint_auth_method: method }: ClientRecord) =>
  method === 'none' ? 'public' : method;
