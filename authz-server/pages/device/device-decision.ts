import type Provider from 'oidc-provider';
import type { SignIn } from '#shared/people/access/sign-ins.ts';
import { isFor } from '#shared/stores/oauth/use-rules.ts';
import type { Person } from '#shared/people/directory.ts';
import type { ClientRecord } from '#shared/stores/oauth/clients.ts';
import { discardGrant } from '#shared/people/access/grants.ts';
import { isEnough } from '../../base/acr-values.ts';
import { decideDeviceCode } from '../../base/device-code.ts';
import type { DeviceCode } from '../../base/device-code.ts';
import { createGiveGrant } from '../../consent/give-grant.ts';
import type { PagesServer } from '../../base/server.ts';
import { expired } from '../frame/page-error.ts';
import type { Visitor } from '../sign-in/session.ts';
import type { AskedItem } from '../frame/view.ts';

/**
 * The decisions about a device code. Both resolve to false if another request has decided meanwhile, or the code has
 * expired.
 */
export interface DeviceDecisions {
  /** Gives the device a grant of its own, so that a person can end the access of one device only. */
  approve(visitor: Visitor, code: DeviceCode, allowed: readonly AskedItem[]): Promise<boolean>;
  /**
   * Denies the request. The error tells the device whether the person may not use it, or whether their sign-in was too
   * weak (`acr_values`, RFC 9470 section 5).
   */
  deny(visitor: Visitor, code: DeviceCode, client: ClientRecord): Promise<boolean>;
}

/**
 * If several requests decide about one code, exactly one decision takes effect. After a failure the code can still be
 * decided.
 */
export function createDeviceDecisions(server: PagesServer, provider: Provider): DeviceDecisions {
  const giveGrant = createGiveGrant(server, provider);

  return {
    async approve({ person, signIn }, code, allowed) {
      const { clientId, deviceInfo: { ip, ua } = {} } = code;
      const device = { ...(ip !== undefined && { address: ip }), ...(ua && { agent: ua }) };
      const grantId = await giveGrant({ clientId, signIn, allowed, device, asked: true });
      if (grantId === undefined) throw expired();
      const won = await decideDeviceCode(server, code, {
        accountId: person.id,
        grantId,
        scope: [...new Set(allowed.map(({ scope }) => scope))].join(' '),
        ...resourceOf(code),
        ...signIn.assurance,
        authTime: Math.floor(signIn.since / 1000),
        sessionUid: signIn.uid,
      });
      if (!won) await discardGrant(server, grantId);
      return won;
    },

    deny: ({ person, signIn }, code, client) =>
      decideDeviceCode(server, code, {
        accountId: person.id,
        ...denialOf(person, signIn, code, client),
      }),
  };
}

const DENIED = { error: 'access_denied', errorDescription: 'the person denied it' } as const;
const UNMET = {
  error: 'unmet_authentication_requirements',
  errorDescription: 'the person did not sign in by one of the acr_values',
} as const;

const NOT_FOR = {
  error: 'access_denied',
  errorDescription: 'the person may not use this client',
} as const;

function denialOf(person: Person, signIn: SignIn, code: DeviceCode, client: ClientRecord) {
  if (!isFor(client, person)) return NOT_FOR;
  return hasEnough(signIn, code, client) ? DENIED : UNMET;
}

/** Whether the person's sign-in is as strong as the device asks for, and the operator's rule for it. */
export const hasEnough = (
  { assurance }: SignIn,
  { params }: DeviceCode,
  { minimum_acr }: ClientRecord,
): boolean => isEnough(assurance.acr, params['acr_values'], minimum_acr);

/** The resources that were asked for (RFC 8707), as the engine keeps them: none, one, or a list. */
function resourceOf({ params }: DeviceCode): { resource?: string | readonly string[] } {
  const asked = [params['resource']].flat().filter((one) => typeof one === 'string' && one !== '');
  const [first, ...others] = asked as string[];
  if (first === undefined) return {};
  return { resource: others.length === 0 ? first : [first, ...others] };
}
