import type { KoaContextWithOIDC } from 'oidc-provider';
import type { By } from '#shared/audit/entry.ts';
import { noteIssue } from '#shared/people/access/grants.ts';
import type { AuthzServer } from '../../base/server.ts';

/** Returns the actor of a record: a client at the token endpoint. */
export const actor = (client: string, from: string | undefined): By => ({
  who: { client },
  how: 'token endpoint',
  from,
});

type Recording = Pick<AuthzServer, 'recorder' | 'stores' | 'clock' | 'config' | 'longestLife'>;

/**
 * Records the issue of a token, before the answer and before a code or token is used up. Tokens of a client in its own
 * name are usually only counted. If the audit log cannot be written, no token is issued (`audit.required`). The
 * person's list of grants gets the time of the token, too.
 */
export function recordedIssue(server: Recording) {
  const { recorder } = server;
  return async ({ oidc, ip: from }: KoaContextWithOIDC): Promise<void> => {
    const { route, grant, client, params } = oidc;
    if (route !== 'token' || client === undefined) return;
    const { clientId } = client;
    const type = String(params?.['grant_type']);
    const by = actor(clientId, from);
    const person = grant?.accountId;
    if (person === undefined) return recorder.ownToken(clientId, type, by);
    await Promise.all([
      recorder.by(by).record({ kind: 'token.issued', client: clientId, person, type }),
      noteIssue(server, grant?.jti ?? '', server.config.people.grant),
    ]);
  };
}
