import { errors, Provider } from 'oidc-provider';
import type { TokenEndpointGrantContext } from 'oidc-provider';

/**
 * The engine, for which a code that is bound by PKCE needs no `redirect_uri` at the token endpoint
 * (draft-ietf-oauth-v2-1 section 10.2). For any other it is required (RFC 6749 section 4.1.3). What is sent
 * has to be that of the authorization request.
 */
export class Engine extends Provider {
  override registerGrantType<Params extends object>(
    name: string,
    handler: Handler<Params>,
    ...rest: [params?: ReadonlySet<string>, duplicates?: ReadonlySet<string>]
  ): void {
    const isCode = name === 'authorization_code';
    super.registerGrantType(name, isCode ? withRedirectUri(handler) : handler, ...rest);
  }
}

type Handler<Params extends object> = (
  ctx: TokenEndpointGrantContext<Params>,
) => void | Promise<void>;

function withRedirectUri<Params extends object>(redeem: Handler<Params>): Handler<Params> {
  return async (ctx) => {
    const { client, provider } = ctx.oidc;
    const params: Record<string, unknown> = ctx.oidc.params;
    if (params['redirect_uri'] === undefined) {
      const code = await provider.AuthorizationCode.find(String(params['code']));
      if (code !== undefined && code.clientId === client.clientId) {
        if (code.codeChallenge === undefined) {
          throw new errors.InvalidRequest(
            'redirect_uri is required: the code is not bound by PKCE',
          );
        }
        params['redirect_uri'] = code.redirectUri;
      }
    }
    await redeem(ctx);
  };
}
