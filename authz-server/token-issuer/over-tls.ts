import { ownsTokenOrigin } from '#shared/config/production.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { aboutServer } from '#shared/server/about-server.ts';
import { notFound, notImplemented } from '#shared/http/answer.ts';
import { send } from '#shared/server/answer.ts';
import { frontDoor } from '#shared/server/front-door.ts';
import { strictTransport } from '#shared/server/guard.ts';
import type { AnyHandler, AnyRequest, AnyResponse } from '#shared/server/message.ts';
import { misdirection } from '#shared/server/misdirected.ts';
import { overTls } from '#shared/server/over-tls.ts';
import type { Beside, Parts } from '#shared/server/process.ts';
import { logged } from '#shared/server/request-log.ts';
import { HANDLED, type TokenIssuer } from './token-issuer.ts';

/** The listener of a token issuer that has an origin of its own. */
export function tokenIssuerOverTls(parts: Parts, issuer: TokenIssuer): readonly Beside[] {
  const { config } = parts;
  const { privateTokens } = config;
  if (privateTokens === undefined || !ownsTokenOrigin(config)) return [];
  const handler = tokenIssuerHandler(parts, issuer);
  return [overTls({ ...parts, name: 'authzTls', files: privateTokens, handler })];
}

/** What is at that origin: the token issuer, and nothing else. */
export function tokenIssuerHandler(
  parts: Pick<Parts, 'config' | 'clock' | 'random' | 'log' | 'ready'>,
  issuer: TokenIssuer,
): AnyHandler {
  const { config, log, ready } = parts;
  const { issuer: origin = config.issuer, url } = config.privateTokens ?? {};
  const trusted = trustedProxies(config.trustedProxies);
  const refuseMisdirected = misdirection([origin, url], trusted);
  const door = frontDoor<AnyRequest, AnyResponse>(
    async (request, response, target) => {
      const { method = '' } = request;
      if (target.form === 'asterisk') return send(request, response, aboutServer(method, HANDLED));
      const answer = issuer.answer(request, target);
      if (answer === undefined) throw HANDLED.has(method) ? notFound() : notImplemented(method);
      send(request, response, await answer);
    },
    {
      ready,
      refuseMisdirected,
      fields: (request) => strictTransport(origin, request, trusted),
      log,
    },
  );
  return logged(door, { ...parts, trusted });
}
