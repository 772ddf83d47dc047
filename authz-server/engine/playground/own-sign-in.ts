import { decodeJwt } from 'jose';
import { errors } from 'oidc-provider';
import type { Provider } from 'oidc-provider';
import type { Context } from 'koa';
import { hasPlayground, PLAYGROUND_SCOPE } from '#shared/config/playground.ts';
import {
  PLAYGROUND_CLIENT,
  PLAYGROUND_PERSON,
  playgroundRedirectUri,
  playgroundResource,
} from '#shared/config/playground-client.ts';
import type { AuthzServer } from '../../base/server.ts';
import { NAVIGATED_FIELDS } from '../../pages/engine-pages.ts';
import { answerWith } from '../../pages/frame/respond.ts';
import { giveOwnGrant } from './own-grant.ts';
import { PUSHED } from './own-request.ts';

type Next = () => Promise<unknown>;

/** RFC 9126 section 2.2. */
const URN = 'urn:ietf:params:oauth:request_uri:';

const PARAMETERS: ReadonlySet<string> = new Set(['client_id', 'request_uri']);

/** The members of a pushed request that differ from one to the next; the others are known (`checkOwnRequest`). */
interface Pushed {
  /** The client that pushed it. */
  readonly iss: string;
  readonly state?: string;
  readonly code_challenge: string;
  readonly code_challenge_method: string;
}

/**
 * GET /auth of the playground's client: answers a pushed request with a code, in the place of a person who signs in and
 * allows it. Nobody else's request comes here, and none of this client's goes on to the engine, which has pages. Cookies
 * are neither read nor set: whoever opens the address is signed in as nobody, and gets a code only for the redirect URI
 * of the playground, bound to a verifier and a key that only it has.
 */
export function ownSignIn({ config }: Pick<AuthzServer, 'config'>, provider: Provider) {
  const isOn = hasPlayground(config);
  const redirectUri = playgroundRedirectUri(config);
  const resource = playgroundResource(config, 'authorization-code');

  /** Uses a pushed request up; of any number at once one succeeds. Throws `invalid_request_uri`. */
  async function take(uri: string): Promise<Pushed> {
    const id = uri.startsWith(URN) ? uri.slice(URN.length) : '';
    const found = await provider.PushedAuthorizationRequest.find(id);
    const pushed = found && decodeJwt<Pushed>(found.request);
    if (found === undefined || found.consumed || pushed?.iss !== PLAYGROUND_CLIENT) {
      throw new errors.InvalidRequestUri('request_uri is invalid, expired, or was already used');
    }
    await found.consume();
    return pushed;
  }

  async function codeFor(pushed: Pushed): Promise<string> {
    const client = await provider.Client.find(PLAYGROUND_CLIENT);
    if (client === undefined) throw new errors.InvalidClient('client is invalid');
    const code = new provider.AuthorizationCode({
      client,
      accountId: PLAYGROUND_PERSON,
      grantId: await giveOwnGrant(provider, resource),
      gty: 'authorization_code',
      scope: PLAYGROUND_SCOPE,
      resource,
      redirectUri,
      codeChallenge: pushed.code_challenge,
      codeChallengeMethod: pushed.code_challenge_method,
    });
    return code.save();
  }

  return async (ctx: Context, next: Next): Promise<void> => {
    const isAsked = isOn && ctx.path === '/auth' && ctx.method === 'GET';
    if (!isAsked || ctx.query['client_id'] !== PLAYGROUND_CLIENT) {
      await next();
      return;
    }
    const { request_uri: uri } = ctx.query;
    ctx.set(NAVIGATED_FIELDS);
    const isPlain = Object.keys(ctx.query).some((name) => !PARAMETERS.has(name));
    if (isPlain || typeof uri !== 'string') throw new errors.InvalidRequest(PUSHED);
    const pushed = await take(uri);
    const answer = new URL(redirectUri);
    answer.searchParams.set('code', await codeFor(pushed));
    if (pushed.state !== undefined) answer.searchParams.set('state', pushed.state);
    answer.searchParams.set('iss', config.issuer);
    answerWith(ctx, { status: 303, fields: { Location: answer.href } });
  };
}
