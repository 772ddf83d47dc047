import { errors } from 'oidc-provider';
import type { Client, KoaContextWithOIDC } from 'oidc-provider';
import { PLAYGROUND_SCOPE } from '#shared/config/playground.ts';
import {
  PLAYGROUND_CLIENT,
  type PlaygroundFlow,
  playgroundResource,
} from '#shared/config/playground-client.ts';
import type { AuthzServer } from '../../base/server.ts';

/** The parameters by which the client says who it is (RFC 7523 section 2.2). */
const CLIENT = ['client_id', 'client_assertion_type', 'client_assertion'];

interface Asking {
  /** The exchange whose space is the resource. */
  readonly flow: PlaygroundFlow;
  readonly parameters: ReadonlySet<string>;
}

/** The engine's routes at which this client may ask a person. At each the engine has checked its key. */
const ASKING: Readonly<Record<string, Asking>> = {
  pushed_authorization_request: {
    flow: 'authorization-code',
    parameters: new Set([
      ...CLIENT,
      'response_type',
      'redirect_uri',
      'scope',
      'resource',
      'state',
      'code_challenge',
      'code_challenge_method',
    ]),
  },
  device_authorization: {
    flow: 'device-code',
    parameters: new Set([...CLIENT, 'scope', 'resource']),
  },
};

/**
 * Refuses all requests of the playground's client to a person but those that the playground sends: for one scope, at one
 * resource, with no word about the person or the sign-in. The engine shows no page for it (`ownSignIn`).
 */
export function checkOwnRequest(
  { config }: Pick<AuthzServer, 'config'>,
  { oidc }: KoaContextWithOIDC,
  { clientId }: Client,
): void {
  if (clientId !== PLAYGROUND_CLIENT) return;
  const asking = ASKING[oidc.route];
  if (asking === undefined) throw new errors.InvalidRequest(PUSHED);
  const others = Object.keys(oidc.body ?? {}).filter((name) => !asking.parameters.has(name));
  if (others.length > 0) throw new errors.InvalidRequest('this client has other parameters');
  const { scope, resource } = oidc.params ?? {};
  if (scope !== PLAYGROUND_SCOPE) {
    throw new errors.InvalidScope(`this client may ask for: ${PLAYGROUND_SCOPE}`, String(scope));
  }
  if (resource !== playgroundResource(config, asking.flow)) {
    const refusal = new errors.InvalidTarget();
    refusal.error_description = 'this client asks for one resource here, that of the exchange';
    throw refusal;
  }
}

/** RFC 9126 section 6, as with `require_pushed_authorization_requests`. */
export const PUSHED = 'this client pushes its authorization requests (RFC 9126): request_uri';
