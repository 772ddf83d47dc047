import { expect } from '@jest/globals';
import { exportJWK } from 'jose';
import type { FapiSite } from './fapi-site.ts';
import { type Changes, newKey, refusal, type Signed, thumbprint } from './fapi-client.ts';

const NAME = 'fapi2-security-profile-final';
const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Replaces the header of a JWT; the signature stays. */
function withHeader(jwt: string, change: (header: Record<string, unknown>) => object): string {
  const [header = '', payload, signature] = jwt.split('.');
  const was = JSON.parse(Buffer.from(header, 'base64url').toString()) as Record<string, unknown>;
  return `${encoded(change(was))}.${payload}.${signature}`;
}

/** The modules about DPoP (RFC 9449). */
export function dpopSteps(site: () => FapiSite) {
  /** Signs in with proofs that have these claims, at PAR, at the token endpoint and at the API. */
  async function withProofs(claims: () => Record<string, unknown>) {
    const { first } = site();
    const request = first.request();
    const code = await first.code(request, {
      dpop: await first.proof('/request', { claims: claims() }),
    });
    const dpop = await first.proof('/token', { claims: claims() });
    const { status, body } = await first.redeem(code, request, { dpop });
    expect(status).toBe(200);
    expect(await first.read(String(body['access_token']), { claims: claims() })).toBe(200);
  }

  /** Redeems the code of a request, which is bound as `changes` or `bind` say, with a proof of this key. */
  async function redeemBound(
    key: 'usual' | 'other',
    changes: Changes,
    { bind }: { readonly bind: boolean },
  ) {
    const { first } = site();
    const request = first.request(changes);
    const more = bind ? { dpop: await first.proof('/request') } : {};
    const code = await first.code(request, more);
    const other = key === 'other' ? { key: await newKey() } : {};
    return first.redeem(code, request, { dpop: await first.proof('/token', other) });
  }

  const jkt = async () => ({ dpop_jkt: await thumbprint(site().first.bound) });

  return {
    async [`${NAME}-check-dpop-proof-nbf-exp` as const]() {
      const { first } = site();
      await withProofs(() => ({ nbf: first.now(), exp: first.now() + 60 }));
    },

    async [`${NAME}-ensure-dpopproof-with-iat-10seconds-before-succeeds` as const]() {
      await withProofs(() => ({ iat: site().first.now() - 10 }));
    },

    async [`${NAME}-ensure-dpopproof-with-iat-10seconds-after-succeeds` as const]() {
      await withProofs(() => ({ iat: site().first.now() + 10 }));
    },

    async [`${NAME}-ensure-mismatched-dpop-jkt-fails` as const]() {
      const { first } = site();
      const request = first.request({ dpop_jkt: await thumbprint(await newKey()) });
      const answer = await first.push(request, { dpop: await first.proof('/request') });
      expect(refusal(answer)).toEqual([400, 'invalid_request']);
    },

    async [`${NAME}-ensure-token-endpoint-fails-with-mismatched-dpop-proof-jkt` as const]() {
      expect(refusal(await redeemBound('other', {}, { bind: true }))).toEqual([
        400,
        'invalid_grant',
      ]);
    },

    async [`${NAME}-ensure-token-endpoint-fails-with-mismatched-dpop-jkt` as const]() {
      expect(refusal(await redeemBound('other', await jkt(), { bind: false }))).toEqual([
        400,
        'invalid_grant',
      ]);
    },

    async [`${NAME}-ensure-dpopproof-at-par-endpoint-binding-success` as const]() {
      expect((await redeemBound('usual', {}, { bind: true })).status).toBe(200);
    },

    async [`${NAME}-ensure-dpop-auth-code-binding-success` as const]() {
      expect((await redeemBound('usual', await jkt(), { bind: true })).status).toBe(200);
    },

    async [`${NAME}-dpop-negative-tests` as const]() {
      const { first, pair } = site();
      const { access_token: token } = await first.signIn();
      const proof = (changes: Signed = {}) => first.proofToRead(token, changes);
      const read = (dpop: string, scheme = 'DPoP') =>
        first.read(token, {}, { DPoP: dpop, Authorization: `${scheme} ${token}` });
      const without = (member: string) => proof({ claims: { [member]: undefined } });
      const { bound } = first;
      const [, payload] = (await proof()).split('.');
      const unsigned = encoded({ typ: 'dpop+jwt', alg: 'none', jwk: bound.jwk });
      const url = new URL(pair.documents);
      const hour = 3600;

      const refused: Readonly<Record<string, string>> = {
        'two proofs': `${await proof()}, ${await proof()}`,
        'no JWT': (await proof()).replaceAll('.', ''),
        'no typ': await proof({ header: { typ: undefined } }),
        'no alg': withHeader(await proof(), (header) => ({ ...header, alg: undefined })),
        'no jwk': await proof({ header: { jwk: undefined } }),
        'no jti': await without('jti'),
        'no htm': await without('htm'),
        'no htu': await without('htu'),
        'no iat': await without('iat'),
        'no ath': await without('ath'),
        'another typ': await proof({ header: { typ: 'jwt' } }),
        'alg none': `${unsigned}.${payload}.`,
        'an invalid signature': `${(await proof()).slice(0, -20)}${'A'.repeat(20)}`,
        'a private key': await proof({ header: { jwk: await exportJWK(bound.privateKey) } }),
        'another method': await proof({ claims: { htm: 'PUT' } }),
        'another address': await proof({ claims: { htu: 'https://other.example/documents/' } }),
        'an hour ahead': await proof({ claims: { iat: first.now() + hour } }),
        'an hour old': await proof({ claims: { iat: first.now() - hour } }),
        'another token': await proof({ claims: { ath: 'A'.repeat(43) } }),
        'another key': await proof({ key: await newKey() }),
      };
      for (const [name, dpop] of Object.entries(refused)) {
        expect([name, [400, 401].includes(await read(dpop))]).toEqual([name, true]);
      }
      const bearer = await fetch(pair.documents, { headers: { Authorization: `Bearer ${token}` } });
      expect(bearer.status).toBe(401);

      const accepted: Readonly<Record<string, string>> = {
        'a query and a fragment': await proof({ claims: { htu: `${pair.documents}?a=b#c` } }),
        'unknown members': await proof({ claims: { other: 'x' }, header: { other: 'x' } }),
        'capitals in the host': await proof({
          claims: { htu: `HTTP://${url.host.toUpperCase()}${url.pathname}` },
        }),
      };
      for (const [name, dpop] of Object.entries(accepted)) {
        expect([name, await read(dpop)]).toEqual([name, 200]);
      }
      expect(await read(await proof(), 'DPOP')).toBe(200);
      const again = await proof();
      expect([await read(again), await read(again)]).toEqual([200, 401]);
    },
  };
}
