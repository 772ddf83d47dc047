import { expect, test } from '@jest/globals';
import { within } from '#shared/refusals/refusal.ts';
import { refuse } from '#shared/refusals/tokens.ts';
import {
  issuerAndVerifier,
  memoryReplay,
  prover,
  requestOf,
  SPACE,
} from '../judge/auth.fixture.ts';
import { judge } from '../judge/judge.ts';
import { oauthSchemes } from './oauth-schemes.ts';
import { ORIGIN, type ProtectionSpace } from '../scheme.ts';

const OTHER = { ...SPACE, realm: 'other' };

/** Creates two servers of one operator, and a client with a bound token. */
function setup() {
  const { clock, now, tokens, token } = issuerAndVerifier();
  const shared = { tokens, clock, proofs: memoryReplay(clock) };
  const master = Buffer.alloc(32, 7);
  const client = prover(now);
  const bound = token({ cnf: { jkt: client.jkt } });
  const send = (space: ProtectionSpace, nonce?: string) =>
    judge(
      space,
      requestOf([
        ['Authorization', `DPoP ${bound}`],
        ['DPoP', client.proof(bound, nonce === undefined ? {} : { nonce })],
      ]),
    );
  return {
    spaceOf: (site: typeof SPACE, { nonce = true, secret = master } = {}): ProtectionSpace => {
      const { bearer, dpop } = oauthSchemes({ ...shared, master: secret });
      return { ...site, at: ORIGIN, schemes: [bearer(site), dpop({ ...site, nonce })] };
    },
    send,
    /** Returns the nonce that the space issues. */
    async nonceOf(space: ProtectionSpace): Promise<string> {
      const outcome = await send(space);
      return outcome.kind === 'answer' ? String(outcome.fields['DPoP-Nonce']) : '';
    },
  };
}

test('RFC 9449 section 9: a nonce of one server serves at another with the same master secret', async () => {
  const { spaceOf, send, nonceOf } = setup();
  const nonce = await nonceOf(spaceOf(SPACE));
  expect(await send(spaceOf(SPACE), nonce)).toMatchObject({ kind: 'pass', scheme: 'DPoP' });
});

test('a nonce is refused at a server with another secret, and in another realm', async () => {
  const { spaceOf, send, nonceOf } = setup();
  const nonce = await nonceOf(spaceOf(SPACE));
  const stranger = spaceOf(SPACE, { secret: Buffer.alloc(32, 8) });
  for (const space of [stranger, spaceOf(OTHER)]) {
    expect(await send(space, nonce)).toMatchObject({
      status: 401,
      ...within('DPoP proof', refuse('proof-nonce-foreign')),
    });
  }
});

test('a space that requires no nonce issues none', async () => {
  const { spaceOf, send } = setup();
  expect(await send(spaceOf(SPACE, { nonce: false }))).toMatchObject({ kind: 'pass', fields: {} });
});
