import { columns } from '#shared/base/printable.ts';
import { listConsents, type Scopes } from '#shared/people/access/consents.ts';
import { listAccess } from '#shared/people/access/grants.ts';
import { listSignIns } from '#shared/people/access/sign-ins.ts';
import { personNamed } from '#shared/people/people.ts';
import type { Command } from '../arguments/command.ts';
import { lastUse, minute } from '../lines/last-use.ts';
import { withPeople } from '../stores/with-people.ts';

export const userAccess: Command = {
  name: 'user access',
  summary: 'list the sign-ins, grants and consents of a person with their ids (for user end)',
  operands: ['NAME'],
  run: ({ operands: [asked = ''] }, shell) =>
    withPeople(shell, async (store) => {
      const { id, name } = await personNamed(store.stores.people, asked);
      const [signIns, grants, consents] = await Promise.all([
        listSignIns(store, id),
        listAccess(store, id),
        listConsents(store, id),
      ]);
      const clients = await store.stores.clients.list();
      const names = new Map(clients.map((client) => [client.client_id, client.client_name]));
      const json = {
        id,
        name,
        sign_ins: signIns.map(({ uid, since, address, agent }) => ({
          id: uid,
          since,
          address,
          agent,
        })),
        grants: grants.map((grant) => ({
          id: grant.grantId,
          client_id: grant.clientId,
          scopes: grant.scopes,
          since: grant.since,
          last_issue: grant.lastIssue,
          sign_in: grant.signIn,
          device: grant.device,
          browser: grant.browser,
        })),
        consents: consents.map(({ clientId, redirectHost, since, allowed, refused }) => ({
          client_id: clientId,
          redirect_host: redirectHost,
          since,
          allowed,
          refused,
        })),
      };
      const called = (clientId: string) => names.get(clientId) ?? '(removed)';
      const lines = [
        columns(
          signIns.map(({ uid, since, address = '', agent = '' }) => [
            'sign-in',
            uid,
            minute(since),
            address,
            agent,
          ]),
        ),
        columns(
          grants.map(({ grantId, clientId, since, lastIssue, device, browser, scopes }) => [
            'grant',
            grantId,
            clientId,
            called(clientId),
            minute(since),
            lastUse(lastIssue),
            device ? 'device' : 'browser',
            words(scopes),
            (device ?? browser)?.address ?? '',
            (device ?? browser)?.agent ?? '',
          ]),
        ),
        columns(
          consents.map(({ clientId, redirectHost, since, allowed }) => [
            'consent',
            clientId,
            called(clientId),
            redirectHost,
            minute(since),
            words(allowed),
          ]),
        ),
      ].flat();
      return {
        json,
        lines: lines.length > 0 ? lines : [`Nothing is open in the name of ${name}.`],
      };
    }),
};

/** Each scope once, whatever its resource. */
const words = (scopes: Scopes) => [...new Set(Object.values(scopes).flat())].join(' ');
