import { createPublicKey } from 'node:crypto';
import { errors as joseErrors, jwtVerify } from 'jose';
import { errors } from 'oidc-provider';
import type { Provider } from 'oidc-provider';
import type { Context } from 'koa';
import { hasPlayground, PLAYGROUND_SCOPE } from '#shared/config/playground.ts';
import {
  PLAYGROUND_CLIENT,
  PLAYGROUND_DECISION,
  PLAYGROUND_PERSON,
  playgroundResource,
  playgroundSigningKey,
} from '#shared/config/playground-client.ts';
import { HttpError } from '#shared/http/answer.ts';
import { wholeContent } from '#shared/server/content/content.ts';
import { decideDeviceCode, findDeviceCode } from '../../base/device-code.ts';
import type { AuthzServer } from '../../base/server.ts';
import { spendOfClient } from '../../base/spend.ts';
import { normaliseUserCode } from '../../base/user-code.ts';
import { giveOwnGrant } from './own-grant.ts';

type Next = () => Promise<unknown>;
type DecidingServer = Pick<AuthzServer, 'config' | 'master' | 'stores' | 'clock'>;

/** Bytes. */
const LONGEST = 4096;
/** Seconds: the longest life of an assertion, and how long it is remembered. */
const LIFE = 120;
const REMEMBERED = 600;

/**
 * POST /playground/device: decides about a device code of the playground's client, in the place of a person who types the
 * user code on another device (RFC 8628 section 3.3). An assertion of the client's key for this address alone stands for
 * the sign-in. Codes of other clients are unknown here, and those of this client are unknown on the page for people.
 */
export function ownDecision(server: DecidingServer, provider: Provider) {
  const { config, master, stores, clock } = server;
  const isOn = hasPlayground(config);
  const key = createPublicKey(playgroundSigningKey(master));
  const audience = config.issuer + PLAYGROUND_DECISION;

  /** Throws `invalid_client` unless the client has signed it for this address, and shows it for the first time. */
  async function checkAssertion(assertion: string): Promise<void> {
    const expected = {
      algorithms: ['Ed25519'],
      typ: 'client-authentication+jwt',
      issuer: PLAYGROUND_CLIENT,
      subject: PLAYGROUND_CLIENT,
      audience,
      requiredClaims: ['jti', 'exp'],
      maxTokenAge: LIFE,
      clockTolerance: config.tokens.skew,
      currentDate: new Date(clock.now()),
    };
    const { payload } = await jwtVerify(assertion, key, expected).catch((error: unknown) => {
      if (error instanceof joseErrors.JOSEError) throw refused(error.message);
      throw error;
    });
    const { aud, jti } = payload;
    // For this address alone (draft-ietf-oauth-rfc7523bis section 4), and known by a text.
    if (aud !== audience) throw refused('aud is a list');
    if (typeof jti !== 'string' || jti === '') throw refused('jti is no text');
    await spendOfClient(server, PLAYGROUND_CLIENT);
    const isFirst = await stores.replay.unique('playground', jti, REMEMBERED);
    if (!isFirst) throw refused('it was used before');
  }

  /** Throws `invalid_grant` unless an undecided code of this client has the user code. */
  async function decide(userCode: string, isAllowed: boolean): Promise<void> {
    const code = await findDeviceCode(server, normaliseUserCode(userCode) ?? '');
    if (code?.clientId !== PLAYGROUND_CLIENT || code.accountId !== undefined) throw unknown();
    const resource = playgroundResource(config, 'device-code');
    const grantId = isAllowed ? await giveOwnGrant(provider, resource) : undefined;
    const accountId = PLAYGROUND_PERSON;
    const decision =
      grantId === undefined
        ? ({ accountId, error: 'access_denied', errorDescription: 'the person denied it' } as const)
        : { accountId, grantId, scope: PLAYGROUND_SCOPE, resource };
    if (!(await decideDeviceCode(server, code, decision))) throw unknown();
  }

  return async (ctx: Context, next: Next): Promise<void> => {
    if (!isOn || ctx.path !== PLAYGROUND_DECISION || ctx.method !== 'POST') {
      await next();
      return;
    }
    if (!ctx.is(FORM)) throw new errors.InvalidRequest(`the content is no form: ${FORM}`);
    const content = await wholeContent(ctx.req, LONGEST, tooLong);
    const form = new URLSearchParams(content.toString());
    if (form.size > PARAMETERS.filter((name) => form.has(name)).length) {
      throw new errors.InvalidRequest(`the form has ${PARAMETERS.join(', ')}, each once`);
    }
    await checkAssertion(form.get('client_assertion') ?? '');
    const decision = form.get('decision') ?? '';
    if (decision !== 'allow' && decision !== 'deny') {
      throw new errors.InvalidRequest('decision is allow or deny');
    }
    await decide(form.get('user_code') ?? '', decision === 'allow');
    ctx.status = 204;
    ctx.set('Cache-Control', 'no-store');
  };
}

const FORM = 'application/x-www-form-urlencoded';
/** RFC 6749 section 3.2: none comes twice. */
const PARAMETERS = ['client_assertion_type', 'client_assertion', 'user_code', 'decision'];

const tooLong = () => new HttpError(413, `The form has at most ${LONGEST} bytes.`);

const refused = (why: string) => new errors.InvalidClientAuth(`client assertion: ${why}`);
const unknown = () => new errors.InvalidGrant('no code of the playground waits for a decision');
