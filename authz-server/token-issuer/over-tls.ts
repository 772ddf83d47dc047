import { ownsTokenOrigin } from '#shared/config/production.ts';
import { trustedProxies } from '#shared/http/forwarded.ts';
import { notFound, send } from '#shared/server/answer.ts';
import { frontDoor } from '#shared/server/front-door.ts';
import type { AnyRequest, AnyResponse } from '#shared/server/message.ts';
import { overTls } from '#shared/server/over-tls.ts';
import type { Beside, Parts } from '#shared/server/process.ts';
import { logged } from '#shared/server/request-log.ts';
import type { TokenIssuer } from './token-issuer.ts';

/** The listener of a token issuer that has an origin of its own; nothing else is there. */
export function tokenIssuerOverTls(parts: Parts, issuer: TokenIssuer): readonly Beside[] {
  const { config, log, ready } = parts;
  const { privateTokens } = config;
  if (privateTokens === undefined || !ownsTokenOrigin(config)) return [];
  const door = frontDoor<AnyRequest, AnyResponse>(
    async (request, response, target) => {
      const answer = issuer.answer(request, target);
      if (answer === undefined) throw notFound();
      send(request, response, await answer);
    },
    { ready, log },
  );
  const handler = logged(door, { ...parts, trusted: trustedProxies(config.trustedProxies) });
  return [overTls({ ...parts, name: 'authzTls', files: privateTokens, handler })];
}
