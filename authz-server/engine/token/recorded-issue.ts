import type { KoaContextWithOIDC } from 'oidc-provider';
import type { AuthzServer } from '../../base/server.ts';

/**
 * Records a token that is issued in the name of a person, before the answer and before anything is used up. If the audit
 * log cannot be written, no token leaves (`audit.required`).
 */
export function recordedIssue({ recorder }: Pick<AuthzServer, 'recorder'>) {
  return async ({ oidc, ip: from }: KoaContextWithOIDC): Promise<void> => {
    const { route, grant, client, params } = oidc;
    if (route !== 'token' || grant?.accountId === undefined || client === undefined) return;
    const { clientId } = client;
    const type = String(params?.['grant_type']);
    const issued = {
      kind: 'token.issued',
      client: clientId,
      person: grant.accountId,
      type,
    } as const;
    await recorder.by({ who: { client: clientId }, how: 'token endpoint', from }).record(issued);
  };
}
