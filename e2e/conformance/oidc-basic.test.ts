/**
 * Performs the modules of the plans Basic, Form Post and Config of OpenID Connect against a started pair.
 * @needs countersign
 * @slow
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NOT_OFFERED } from './not-offered.ts';
import { OIDC_BASIC, OIDC_FORM_POST } from './oidc-basic.ts';
import { OIDC_CONFIG } from './oidc-config.ts';
import { basicSteps } from './oidc/basic-steps.ts';
import { configSteps } from './oidc/config-steps.ts';
import { type Mode, type Play, redeemOnce, type Redeemed } from './oidc/play.ts';
import { type OidcSite, startOidcSite } from './oidc/oidc-site.ts';
import { SuiteClient } from './oidc/suite-client.ts';
import { perform } from './perform.ts';

let site: OidcSite;
const early = new Map<Mode, Redeemed>();

const play = (mode: Mode) => (): Play => ({
  site,
  client: new SuiteClient(site.pair, site.first, mode),
  mode,
});

beforeAll(async () => {
  site = await startOidcSite();
  for (const mode of ['query', 'form_post'] as const) {
    early.set(mode, await redeemOnce(play(mode)()));
  }
});
afterAll(async () => site?.[Symbol.asyncDispose]());

const stepsOf = (mode: Mode) =>
  basicSteps(play(mode), () => {
    const redeemed = early.get(mode);
    if (redeemed === undefined) throw new Error('no code was redeemed');
    return redeemed;
  });

perform(OIDC_BASIC, stepsOf('query'));
perform(OIDC_FORM_POST, stepsOf('form_post'));
perform(
  OIDC_CONFIG,
  configSteps(() => site),
);

describe('plans that the server does not offer', () => {
  test('the metadata have no member for them', async () => {
    const { issuer } = site.pair;
    const metadata = await (await fetch(`${issuer}/.well-known/openid-configuration`)).json();
    const members = NOT_OFFERED.map(({ lacks }) => lacks).filter((name) => /^\w+$/.test(name));
    expect(members).toHaveLength(3);
    for (const member of members) expect(metadata).not.toHaveProperty(member);
    const registration = await fetch(`${issuer}/reg`, { method: 'POST', body: '{}' });
    expect(registration.status).toBe(404);
  });

  test.each(['token', 'id_token', 'id_token token', 'code id_token', 'code token', 'none'])(
    'response_type=%s is unsupported_response_type',
    async (response_type) => {
      const { client } = play('query')();
      const request = client.request({ response_type });
      const { page } = await site.visitor().arrive(site.pair.issuer, request);
      const answer = client.received(page) ?? fragmentOf(page.headers.get('location'));
      expect(answer.get('error')).toBe('unsupported_response_type');
      for (const token of ['code', 'access_token', 'id_token']) {
        expect(answer.has(token)).toBe(false);
      }
    },
  );
});

/** Returns the parameters in the fragment of a redirect. */
const fragmentOf = (location: string | null) =>
  new URLSearchParams(new URL(location ?? 'about:blank').hash.slice(1));
