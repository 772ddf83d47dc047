import { ORIGIN } from '#shared/auth/scheme.ts';
import { ownsTokenOrigin } from '#shared/config/production.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { frontDoor, openTarget } from '#shared/server/front-door/front-door.ts';
import { strictTransport } from '#shared/server/front-door/security-fields.ts';
import type { AnyHandler, AnyRequest, AnyResponse } from '#shared/server/message/message.ts';
import { misdirection } from '#shared/server/front-door/misdirected.ts';
import { overTls } from '#shared/server/over-tls.ts';
import type { Beside, Parts } from '#shared/server/process.ts';
import { logged } from '#shared/server/message/request-log.ts';
import { createServe } from '#shared/server/endpoints/serve.ts';
import { HANDLED } from '../base/endpoints.ts';
import type { TokenIssuer } from './token-issuer.ts';

/** Returns the listener of a token issuer that has an origin of its own. */
export function tokenIssuerOverTls(parts: Parts, issuer: TokenIssuer): readonly Beside[] {
  const { config } = parts;
  const { privateTokens } = config;
  if (privateTokens === undefined || !ownsTokenOrigin(config)) return [];
  const handler = tokenIssuerHandler(parts, issuer);
  return [overTls({ ...parts, name: 'authzTls', files: privateTokens, handler })];
}

/** Returns the handler of that origin, which serves only the token issuer. */
export function tokenIssuerHandler(
  parts: Pick<Parts, 'config' | 'clock' | 'random' | 'log' | 'ready'>,
  issuer: TokenIssuer,
): AnyHandler {
  const { config, log, ready } = parts;
  const { issuer: origin = config.issuer, url } = config.privateTokens ?? {};
  const trusted = trustedProxies(config.trustedProxies);
  const refuseMisdirected = misdirection([origin, url], trusted);
  const strict = strictTransport(origin, trusted);
  const serve = createServe<AnyRequest, AnyResponse>({
    handled: HANDLED,
    recipient: { at: ORIGIN, proxies: trusted, local: false },
    ready,
  });
  const door = frontDoor<AnyRequest, AnyResponse>(
    ({ request, response, target }) =>
      serve(request, response, target, issuer.endpoints.get(target.path)),
    {
      open: openTarget,
      refuseMisdirected,
      fields: ({ request }) => strict(request),
      log,
    },
  );
  return logged(door, { ...parts, trusted });
}
